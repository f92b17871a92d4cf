package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

const (
	scrubbed  = "[secret]"
	minSecret = 4 // shorter ones are in every text
)

// scrubber takes secrets out of everything that comes back: endpoints echo keys in
// their errors, and an agent prints what it finds.
type scrubber struct {
	forms    []string // as they may be spelt
	replacer *strings.Replacer
}

func newScrubber(secrets ...string) scrubber {
	var s scrubber
	var pairs []string
	for _, secret := range secrets {
		secret = strings.TrimSpace(secret)
		if len(secret) < minSecret {
			continue
		}
		for _, form := range []string{secret, inJSON(secret), url.QueryEscape(secret), url.PathEscape(secret)} {
			if !slices.Contains(s.forms, form) {
				s.forms = append(s.forms, form)
				pairs = append(pairs, form, scrubbed)
			}
		}
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// inJSON is how a text stands in JSON.
func inJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil || len(quoted) < 2 {
		return text
	}
	return string(quoted[1 : len(quoted)-1])
}

func (s scrubber) text(t string) string { return s.replacer.Replace(t) }

// data scrubs the texts in JSON, and leaves its keys alone.
func (s scrubber) data(raw json.RawMessage) json.RawMessage {
	if !s.within(raw) {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return json.RawMessage(s.text(string(raw)))
	}
	out, err := json.Marshal(s.value(v))
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

// within looks for a secret as it would stand in JSON.
func (s scrubber) within(raw []byte) bool {
	return slices.ContainsFunc(s.forms, func(form string) bool {
		return bytes.Contains(raw, []byte(form)) || bytes.Contains(raw, []byte(inJSON(form)))
	})
}

func (s scrubber) value(v any) any {
	switch v := v.(type) {
	case string:
		return s.text(v)
	case []any:
		for i := range v {
			v[i] = s.value(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = s.value(v[k])
		}
	}
	return v
}

func (s scrubber) result(r plugin.Result) plugin.Result {
	r.Text = s.text(r.Text)
	for i := range r.Errors {
		r.Errors[i] = s.text(r.Errors[i])
	}
	return r
}

// scrubbing is a host that no secret gets through to.
type scrubbing struct {
	plugin.Host
	scrub scrubber
}

func (h scrubbing) Emit(e plugin.Event) {
	e.Data = h.scrub.data(e.Data)
	h.Host.Emit(e)
}

func (h scrubbing) Ask(ctx context.Context, q plugin.Question) (plugin.Answer, error) {
	q.Text, q.Input = h.scrub.text(q.Text), h.scrub.data(q.Input)
	return h.Host.Ask(ctx, q)
}
