package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func do(t *testing.T, h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

func TestNotesAreKept(t *testing.T) {
	h := newServer()
	if w := do(t, h, "POST", "/notes", "milk"); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := do(t, h, "GET", "/notes", ""); !strings.Contains(w.Body.String(), `"text":"milk"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestEmptyNotesAreRefused(t *testing.T) {
	if w := do(t, newServer(), "POST", "/notes", " "); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
