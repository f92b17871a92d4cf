package secrets_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

func TestSecretsInEveryForm(t *testing.T) {
	s := secrets.New(`sk-"very/secret+key`, "abc", "")
	for _, text := range []string{`sk-"very/secret+key`, `sk-\"very/secret+key`, "sk-%22very%2Fsecret%2Bkey"} {
		if got := s.Text("a " + text + " abc"); got != "a [secret] abc" {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := string(s.JSON([]byte(`{"k":["sk-\"very/secret+key",12345678901234567890]}`))); got != `{"k":["[secret]",12345678901234567890]}` {
		t.Errorf("got %s", got)
	}
	if got := (secrets.Scrubber{}).Text("nothing to hide"); got != "nothing to hide" {
		t.Errorf("got %q", got)
	}
}

func TestKeysOfObjectsStay(t *testing.T) {
	s := secrets.New("abc", "", "content")
	if got := s.Text("abc content"); got != "abc "+secrets.Mark {
		t.Errorf("got %q", got)
	}
	if got := string(s.JSON(json.RawMessage(`{"content":"the content","n":12345678901234567890}`))); got != `{"content":"the [secret]","n":12345678901234567890}` {
		t.Errorf("got %s", got)
	}
}

func TestTheTokenOfTheTools(t *testing.T) {
	for url, want := range map[string]string{"http://127.0.0.1:1/mcp/run/tok": "tok", "": "", "http://h": "", "::bad": "::bad"} {
		if got := secrets.OfURL(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

// ear hears what gets through.
type ear struct {
	plugin.Host
	heard []string
}

func (e *ear) Emit(ev plugin.Event) { e.heard = append(e.heard, string(ev.Data)) }

func (e *ear) Ask(_ context.Context, q plugin.Question) (plugin.Answer, error) {
	e.heard = append(e.heard, q.Text, string(q.Input))
	return plugin.Answer{}, nil
}

func TestNothingGetsThrough(t *testing.T) {
	e := &ear{}
	h := secrets.Host{Host: e, Scrub: secrets.New("hunter22")}
	h.Emit(plugin.Text("it is hunter22", ""))
	if _, err := h.Ask(t.Context(), plugin.Question{Text: "print hunter22?", Input: json.RawMessage(`{"command":"echo hunter22"}`)}); err != nil {
		t.Fatal(err)
	}
	r := h.Scrub.Result(plugin.Result{Text: "hunter22", Errors: []string{"no hunter22"}})
	told := strings.Join(append(append(e.heard, r.Text), r.Errors...), "\n")
	if strings.Contains(told, "hunter22") || strings.Count(told, secrets.Mark) != 5 {
		t.Errorf("told:\n%s", told)
	}
}
