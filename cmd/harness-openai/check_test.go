package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/google/go-cmp/cmp"
)

func check(t *testing.T, p plugin.Profile, connect bool) plugin.Report {
	t.Helper()
	r, err := newHarness().Check(t.Context(), p, connect)
	must(t, err)
	return r
}

func TestCheckOfALiveEndpoint(t *testing.T) {
	srv := scriptedmodel.New()
	srv.Models, srv.Key = []string{"one", "two:latest", "models/three"}, "sk-right"
	url := serve(t, srv)
	yes, no := true, false
	tests := []struct {
		name, model, key string
		want             plugin.Report
		detail           string
	}{
		{"listed", "one", "sk-right", plugin.Report{OK: true, Reachable: &yes, ModelListed: &yes, ModelsSample: srv.Models}, "has the model 'one'"},
		{"listed with a tag", "two", "sk-right", plugin.Report{OK: true, Reachable: &yes, ModelListed: &yes, ModelsSample: srv.Models}, "has the model"},
		{"listed with a folder", "three", "sk-right", plugin.Report{OK: true, Reachable: &yes, ModelListed: &yes, ModelsSample: srv.Models}, "has the model"},
		{"not listed", "four", "sk-right", plugin.Report{Reachable: &yes, ModelListed: &no, ModelsSample: srv.Models, Field: "model"}, "the model 'four' is not among the 3"},
		{"wrong key", "one", "sk-wrong", plugin.Report{Reachable: &yes, ModelsSample: []string{}, Field: "api_key_env"}, "refused the api key (401)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := check(t, plugin.Profile{Model: tt.model, BaseURL: url, Secret: tt.key, Credential: "literal"}, true)
			wantIn(t, got.Detail, tt.detail)
			if strings.Contains(got.Detail, tt.key) {
				t.Errorf("the key is in %q", got.Detail)
			}
			tt.want.Detail, tt.want.Credential, tt.want.BaseURL = got.Detail, "literal", url
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if n := len(srv.Requests()); n > 0 {
		t.Errorf("%d chat requests were made", n)
	}
}

func TestCheckOfADeadEndpoint(t *testing.T) {
	got := check(t, plugin.Profile{Model: "m", BaseURL: "http://127.0.0.1:9/v1"}, true)
	no := false
	want := plugin.Report{Detail: got.Detail, Credential: "none", BaseURL: "http://127.0.0.1:9/v1", Field: "base_url", Reachable: &no, ModelsSample: []string{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantIn(t, got.Detail, "could not connect")
	raw := string(encoded(t, got))
	wantIn(t, raw, `"model_listed":null`, `"models_sample":[]`)
}

func TestCheckWithoutConnectingTouchesNoNetwork(t *testing.T) {
	got := check(t, plugin.Profile{Model: "m", BaseURL: "http://127.0.0.1:9/v1", Credential: "env:X"}, false)
	if !got.OK || got.Reachable != nil || got.ModelListed != nil || got.Credential != "env:X" {
		t.Errorf("report %+v", got)
	}
}

func TestCheckNamesTheFieldAtFault(t *testing.T) {
	ok := plugin.Profile{Model: "m", BaseURL: "http://127.0.0.1:9/v1"}
	for field, change := range map[string]func(*plugin.Profile){
		"model":              func(p *plugin.Profile) { p.Model = "" },
		"base_url":           func(p *plugin.Profile) { p.BaseURL = "x" },
		"api_key_env":        func(p *plugin.Profile) { p.BaseURL = "" },
		"params.temperature": func(p *plugin.Profile) { p.Params = json.RawMessage(`{"temperature":9}`) },
		"tools":              func(p *plugin.Profile) { p.Tools = json.RawMessage(`{"preset":"x"}`) },
	} {
		p := ok
		change(&p)
		for _, connect := range []bool{false, true} {
			if got := check(t, p, connect); got.OK || got.Field != field || got.Detail == "" || got.Reachable != nil {
				t.Errorf("%s: report %+v", field, got)
			}
		}
	}
}

func TestCheckOfAServerWithoutAListOfModels(t *testing.T) {
	asked := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked += q.Method + " " + q.URL.Path + "\n"
		if q.URL.Path == "/v1/chat/completions" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer srv.Close()
	if got := check(t, plugin.Profile{Model: "m", BaseURL: srv.URL + "/v1"}, true); !got.OK || got.ModelListed != nil {
		t.Errorf("report %+v", got)
	}
	got := check(t, plugin.Profile{Model: "m", BaseURL: srv.URL}, true)
	if got.OK || got.Field != "base_url" || !*got.Reachable {
		t.Errorf("report %+v", got)
	}
	wantIn(t, got.Detail, "does not exist (404)", "/v1")
	wantIn(t, asked, "GET /v1/models\nPOST /v1/chat/completions\nGET /models\nPOST /chat/completions\n")
}

func TestCheckOfThingsThatAreNoModelServer(t *testing.T) {
	for body, want := range map[string]string{
		`<html></html>`: "not JSON", `{"data":[]}`: "lists no models", `[{"id":"m"}]`: "has the model", `{"data":"x"}`: "not JSON",
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }))
		wantIn(t, check(t, plugin.Profile{Model: "m", BaseURL: srv.URL}, true).Detail, want)
		srv.Close()
	}
}
