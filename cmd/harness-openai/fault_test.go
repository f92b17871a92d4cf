package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
)

func once(status int, body string) scene {
	return scene{turns: []turn{{Status: status, Body: body}}, loop: true, params: m{"max_retries": 0}}
}

func TestFaultsSayWhatToDo(t *testing.T) {
	cut := 3
	tests := []struct {
		name string
		scene
		want     []string
		transien bool
	}{
		{"401 with a key", scene{turns: []turn{say("never")}, server: func(s *scriptedmodel.Server) { s.Key = "right" }, task: func(t *plugin.Task) { t.Profile.Secret = "sk-wrong" }},
			[]string{"401", "api key", "api_key_env"}, false},
		{"401 without a key", once(401, `{"error":{"message":"who are you"}}`), []string{"401", "api key", "the profile has none", "who are you"}, false},
		{"402", once(402, `{"error":{"message":"Insufficient credits","code":402}}`), []string{"402", "add credit", "Insufficient credits"}, false},
		{"403", once(403, `{"error":{"message":"Country not supported"}}`), []string{"403", "api key", "Country not supported"}, false},
		{"unknown model by code", once(404, `{"error":{"message":"nope","code":"model_not_found"}}`), []string{"model 'scripted-model' was not found", "nope"}, false},
		{"unknown model by words", once(404, `{"object":"error","message":"The model x does not exist.","code":404}`), []string{"model 'scripted-model' was not found"}, false},
		{"unknown path", scene{turns: []turn{say("never")}, task: func(t *plugin.Task) { t.Profile.BaseURL = strings.TrimSuffix(t.Profile.BaseURL, "/v1") }},
			[]string{"does not exist (404)", "/v1", "/chat/completions"}, false},
		{"tools are not supported", once(400, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice"}}`), []string{"does not support tool calls", `"preset": "none"`, "--enable-auto-tool-choice"}, false},
		{"no provider with tools", once(404, `{"error":{"message":"No endpoints found that support tool use","code":404}}`), []string{"(404)", "does not support tool calls"}, false},
		{"context by code", once(400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`), []string{"longer than the context", "8192"}, false},
		{"context by kind", once(400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`), []string{"longer than the context"}, false},
		{"other 400", once(400, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`), []string{"refused the request (400)", "field required"}, false},
		{"413 without JSON", once(413, "Payload   too\nlarge"), []string{"(413): Payload too large"}, false},
		{"500", once(500, `{"error":"it broke"}`), []string{"the endpoint failed (500): it broke"}, true},
		{"502 as a page", once(502, "<html><head><style>x{}</style></head><h1>502 Bad Gateway</h1></html>"), []string{"the endpoint failed (502): 502 Bad Gateway"}, true},
		{"a redirect", scene{turns: []turn{{Status: 302, Headers: map[string]string{"Location": "https://elsewhere.example/v1"}}}}, []string{"redirect (302) to https://elsewhere.example/v1", "base_url"}, false},
		{"a web page with 200", once(200, "<html>hello</html>"), []string{"web page", "base_url"}, false},
		{"no JSON with 200", once(200, "oops"), []string{"is not JSON"}, false},
		{"broken JSON with 200", once(200, `{"choices": [`), []string{"is not JSON"}, false},
		{"no choices", once(200, `{"choices": []}`), []string{"no choices"}, false},
		{"quota", once(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`), []string{"quota is used up (429)"}, false},
		{"error inside 200", once(200, `{"error":{"message":"upstream said no","type":"server_error"}}`), []string{"an error in its answer: upstream said no"}, true},
		{"error inside 200 with a code", once(200, `{"error":{"code":401,"message":"bad key"}}`), []string{"401", "api key"}, false},
		{"error inside a stream", scene{params: m{"max_retries": 0}, turns: []turn{{Chunks: []string{`{"choices":[{"delta":{"content":"a"}}]}`, `{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"delta":{},"finish_reason":"error"}]}`}}}},
			[]string{"the endpoint failed (502): Provider disconnected"}, true},
		{"rubbish inside a stream", scene{turns: []turn{{Chunks: []string{"Internal Server Error"}}}}, []string{"not JSON: Internal Server Error"}, false},
		{"a cut stream", scene{params: m{"max_retries": 0}, turns: []turn{{Text: strings.Repeat("word ", 50), CutAfter: &cut}}},
			[]string{"closed the connection in the middle", "params.stream"}, true},
		{"a cut answer", scene{params: m{"max_retries": 0, "stream": false}, turns: []turn{{Text: "x", CutAfter: &cut}}}, []string{"closed the connection in the middle"}, true},
		{"a stream that just ends", scene{params: m{"max_retries": 0}, turns: []turn{{Chunks: []string{`{"choices":[{"delta":{"content":"half an ans"}}]}`}, NoDone: true}}},
			[]string{"closed the connection in the middle"}, true},
		{"an empty stream", scene{params: m{"max_retries": 0}, turns: []turn{{Chunks: []string{}, NoDone: true}}}, []string{"closed the connection in the middle"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := play(t, tt.scene)
			if !p.result.IsError || p.result.RateLimited || p.result.Transient != tt.transien || len(p.result.Errors) != 1 {
				t.Errorf("result %+v", p.result)
			}
			wantIn(t, p.result.Text, tt.want...)
			if strings.Contains(p.result.Text, "goroutine") || strings.Contains(p.result.Text, "\n") {
				t.Errorf("more than a sentence: %q", p.result.Text)
			}
		})
	}
}

func TestAFaultThatPassesIsTriedAgain(t *testing.T) {
	cut, start := 4, 0
	for name, tt := range map[string]turn{
		"500":           {Status: 500, Body: `{"error":{"message":"x"}}`},
		"408":           {Status: 408},
		"429":           {Status: 429},
		"503":           {Status: 503, Body: "Loading model"},
		"cut stream":    {CutAfter: &cut},
		"cut at once":   {CutAfter: &start},
		"error in 200 ": {Status: 200, Body: `{"error":{"message":"upstream"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			tt.Text, tt.Times = "It works now, after all this.", 2
			p := play(t, scene{turns: []turn{tt}})
			if p.result.IsError || p.result.Text != tt.Text || len(p.requests) != 3 || p.result.NumTurns != 1 {
				t.Errorf("%d requests, result %+v", len(p.requests), p.result)
			}
			if len(p.waits) != 2 || p.waits[0] > firstWait || p.waits[1] <= p.waits[0] {
				t.Errorf("waited %v", p.waits)
			}
			if strings.Count(p.kinds(), "text") != 1 {
				t.Errorf("a cut reply is in the transcript: %s", p.kinds())
			}
		})
	}
}

func TestTheEndpointSaysWhenToComeBack(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		header map[string]string
		want   time.Duration
		ok     bool
	}{
		"seconds":             {map[string]string{"Retry-After": "7"}, 7 * time.Second, true},
		"parts of seconds":    {map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond, true},
		"a date":              {map[string]string{"Retry-After": "Wed, 02 Jan 2030 03:04:15 GMT"}, 10 * time.Second, true},
		"a date gone by":      {map[string]string{"Retry-After": "Wed, 02 Jan 2030 03:00:00 GMT"}, 0, true},
		"milliseconds":        {map[string]string{"Retry-After-Ms": "250", "Retry-After": "9"}, 250 * time.Millisecond, true},
		"the requests' reset": {map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "1m30s"}, 90 * time.Second, true},
		"the tokens' reset":   {map[string]string{"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6ms"}, 6 * time.Millisecond, true},
		"a reset not needed":  {map[string]string{"X-Ratelimit-Remaining-Tokens": "10", "X-Ratelimit-Reset-Tokens": "6s"}, 0, false},
		"reset in ms of 1970": {map[string]string{"X-Ratelimit-Reset": "1893553450000"}, 5 * time.Second, true},
		"reset in s of 1970":  {map[string]string{"X-Ratelimit-Reset": "1893553455"}, 10 * time.Second, true},
		"nonsense":            {map[string]string{"Retry-After": "soon", "X-Ratelimit-Reset": "12"}, 0, false},
		"negative":            {map[string]string{"Retry-After": "-5"}, 0, false},
		"nothing":             {nil, 0, false},
	} {
		h := http.Header{}
		for k, v := range tt.header {
			h.Set(k, v)
		}
		if got, ok := retryAfter(h, now); got != tt.want || ok != tt.ok {
			t.Errorf("%s: got %v %v, want %v %v", name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestALongLimitIsLeftToThePlan(t *testing.T) {
	p := play(t, scene{turns: []turn{{Status: 429, Headers: map[string]string{"Retry-After": "3600"}}}})
	if !p.result.RateLimited || !p.result.IsError || len(p.requests) != 1 || len(p.waits) != 0 {
		t.Errorf("%d requests, result %+v", len(p.requests), p.result)
	}
	if left := time.Until(p.result.Until); left < 58*time.Minute || left > time.Hour {
		t.Errorf("until %v", p.result.Until)
	}
	if !strings.HasSuffix(p.kinds(), "rate_limited") {
		t.Errorf("events %s", p.kinds())
	}
	far := play(t, scene{turns: []turn{{Status: 429, Headers: map[string]string{"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}}}})
	if left := time.Until(far.result.Until); left > longestLimit {
		t.Errorf("until %v", far.result.Until)
	}
}

func TestConnectionFaults(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	nobody := closed.Addr().String()
	must(t, closed.Close())
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that fails
	secure.TLS = &tls.Config{}
	secure.StartTLS()
	defer secure.Close()
	for name, tt := range map[string]struct {
		base string
		want []string
	}{
		"refused":         {"http://" + nobody + "/v1", []string{"could not connect", nobody, "running", "base_url"}},
		"no TLS there":    {strings.Replace(plain.URL, "http:", "https:", 1), []string{"could not connect", "http://"}},
		"unknown signer":  {secure.URL, []string{"could not connect", "certificate is not trusted"}},
		"no such name":    {"http://no-such-host.invalid/v1", []string{"could not connect", "no-such-host.invalid"}},
		"nothing to dial": {"http://127.0.0.1:1/v1", []string{"could not connect"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, scene{turns: []turn{say("never")}, params: m{"max_retries": 0}, task: func(task *plugin.Task) {
				task.Profile.BaseURL, task.Profile.Secret = tt.base, "sk-something"
			}})
			if !p.result.IsError || p.result.Transient {
				t.Errorf("result %+v", p.result)
			}
			wantIn(t, p.result.Text, tt.want...)
		})
	}
}

func TestASilentEndpointIsGivenUp(t *testing.T) {
	for name, tt := range map[string]turn{
		"before the answer": {Text: "late", DelayMS: 60_000},
		"in the middle":     {Text: strings.Repeat("word ", 50), ChunkDelayMS: 60_000},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, scene{turns: []turn{tt}, params: m{"timeout": 1, "max_retries": 0}})
			if !p.result.IsError || !p.result.Transient {
				t.Errorf("result %+v", p.result)
			}
			wantIn(t, p.result.Text, "no answer from", "1s", "params.timeout")
		})
	}
}

func TestAStreamLeftOpenAfterItsEndIsComplete(t *testing.T) {
	// The last chunk has a finish reason; then the server says no more.
	p := play(t, scene{turns: []turn{{Chunks: []string{`{"choices":[{"delta":{"content":"All of it."},"finish_reason":"stop"}]}`}, NoDone: true, HoldMS: 3_600_000}}})
	if p.result.IsError || p.result.Text != "All of it." {
		t.Errorf("result %+v", p.result)
	}
}

func TestErrorBodiesOfAllShapes(t *testing.T) {
	for body, want := range map[string]apiError{
		`{"error":{"message":"a","type":"b","param":"c","code":"d"}}`: {message: "a", kind: "b", param: "c", code: "d"},
		`{"error":{"message":"a","code":502}}`:                        {message: "a", code: "502"},
		`{"error":"a"}`:                                               {message: "a"},
		`{"object":"error","message":"a","code":40401}`:               {message: "a", code: "40401"},
		`{"detail":"a"}`:                                              {message: "a"},
		`{"error":null,"message":"a"}`:                                {message: "a"},
		`{"error":{}}`:                                                {message: `{"error":{}}`},
		`plain`:                                                       {message: "plain"},
		``:                                                            {},
		`<p>page</p>`:                                                 {message: "page"},
	} {
		if got := readAPIError([]byte(body)); got != want {
			t.Errorf("%s: got %+v, want %+v", body, got, want)
		}
	}
	if long := readAPIError([]byte(strings.Repeat("ä", 9999))).message; len([]rune(long)) != 501 {
		t.Errorf("a long message has %d characters", len([]rune(long)))
	}
}

func FuzzReadAPIError(f *testing.F) {
	f.Add([]byte(`{"error":{"message":[1],"code":{}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := readAPIError(body)
		if strings.Contains(e.message, "\n") || !json.Valid(encoded(t, e.message)) {
			t.Errorf("message %q", e.message)
		}
	})
}

func TestRootCauseIsTheInnermostError(t *testing.T) {
	inner := errors.New("inner")
	if got := rootCause(&net.OpError{Op: "dial", Err: inner}); got != inner {
		t.Errorf("got %v", got)
	}
}
