package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

func proxied(t *testing.T, a access, target string) *proxy {
	t.Helper()
	var err error
	a.base, err = url.Parse(target)
	must(t, err)
	p, err := startProxy(a, secrets.New(a.key), func() time.Time { return noon })
	must(t, err)
	t.Cleanup(p.close)
	return p
}

func call2(t *testing.T, p *proxy, path, token string) (int, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+path, strings.NewReader("body"))
	must(t, err)
	q.Header.Set("X-Api-Key", token)
	q.Header.Set("Cookie", "a=b")
	resp, err := http.DefaultClient.Do(q)
	must(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, "broken: " + err.Error()
	}
	return resp.StatusCode, string(raw)
}

func TestTheProxyPutsTheKeyIn(t *testing.T) {
	var got http.Header
	var path string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		got, path = q.Header, q.URL.String()
		body, _ := io.ReadAll(q.Body)
		fmt.Fprintf(w, "got %s", body)
	}))
	defer upstream.Close()
	p := proxied(t, access{key: "sk-real"}, upstream.URL+"/gateway")
	if status, body := call2(t, p, "/v1/messages?beta=true", p.token); status != 200 || body != "got body" {
		t.Errorf("%d %s", status, body)
	}
	if path != "/gateway/v1/messages?beta=true" || got.Get("X-Api-Key") != "sk-real" || got.Get("Authorization") != "Bearer sk-real" || got.Get("Cookie") != "" {
		t.Errorf("upstream got %s %v", path, got)
	}
	got = nil
	for _, token := range []string{"", "wrong", p.token + "x", "sk-real"} {
		if status, _ := call2(t, p, "/v1/messages", token); status != 401 || got != nil {
			t.Errorf("token %q: %d", token, status)
		}
	}
}

func TestWhereTheKeyGoes(t *testing.T) {
	for _, tt := range []struct {
		key, base, apiKey, bearer string
		token                     bool
	}{
		{"k", officialURL, "k", "", false},
		{"k", "https://gw.example.com", "k", "Bearer k", false},
		{"sk-ant-oat01-x", officialURL, "", "Bearer sk-ant-oat01-x", true},
		{"", "http://localhost", "", "", false},
	} {
		base, err := url.Parse(tt.base)
		must(t, err)
		h := http.Header{}
		access{key: tt.key, base: base, token: tt.token}.authorize(h)
		if h.Get("X-Api-Key") != tt.apiKey || h.Get("Authorization") != tt.bearer {
			t.Errorf("%s at %s: %v", tt.key, tt.base, h)
		}
	}
}

func TestTheProxyTakesTheKeyOutOfErrors(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "who is "+q.Header.Get("X-Api-Key")+"?", http.StatusTooManyRequests)
	}))
	defer upstream.Close()
	p := proxied(t, access{key: "sk-real-one"}, upstream.URL)
	if status, body := call2(t, p, "/", p.token); status != 429 || strings.TrimSpace(body) != "who is [secret]?" {
		t.Errorf("%d %q", status, body)
	}
	if _, resets := p.seen(); !resets.Equal(noon.Add(time.Minute)) {
		t.Errorf("resets %v", resets)
	}
}

func TestTheProxyPassesAStreamOnAsItComes(t *testing.T) {
	next := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			fmt.Fprint(w, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
			<-next
		}
		panic(http.ErrAbortHandler) // it breaks off
	}))
	defer upstream.Close()
	p := proxied(t, access{key: "k"}, upstream.URL)
	q, err := http.NewRequest(http.MethodPost, p.url, nil)
	must(t, err)
	q.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(q)
	must(t, err)
	defer resp.Body.Close()
	buf := make([]byte, 9)
	for range 3 {
		if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != "data: x\n\n" {
			t.Fatalf("%q, %v", buf, err)
		}
		next <- struct{}{}
	}
	if rest, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("the cut did not come through: %q", rest)
	}
}

func TestAnEndpointThatIsNotThere(t *testing.T) {
	p := proxied(t, access{key: "k"}, "http://127.0.0.1:9")
	status, body := call2(t, p, "/v1/messages", p.token)
	fault, _ := p.seen()
	if status != 502 {
		t.Errorf("status %d", status)
	}
	wantIn(t, body, "could not connect to http://127.0.0.1:9: connection refused")
	wantIn(t, fault, "see whether the endpoint runs")
}
