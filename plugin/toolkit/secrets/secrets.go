// Package secrets takes the secrets of a run out of everything that leaves its
// harness: endpoints echo keys in their errors, and agents print what they find.
package secrets

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
	// Mark stands where a secret was.
	Mark = "[secret]"

	minLength = 4 // shorter ones are in every text
)

// Scrubber replaces secrets by [Mark]. It may be used by several goroutines.
type Scrubber struct {
	forms    []string // as they may be spelt
	replacer *strings.Replacer
}

// New returns a scrubber. Secrets of less than four characters are passed over.
func New(all ...string) Scrubber {
	var s Scrubber
	for _, secret := range all {
		secret = strings.TrimSpace(secret)
		if len(secret) < minLength {
			continue
		}
		for _, form := range []string{secret, inJSON(secret), url.QueryEscape(secret), url.PathEscape(secret)} {
			if !slices.Contains(s.forms, form) {
				s.forms = append(s.forms, form)
			}
		}
	}
	var pairs []string
	for _, form := range s.forms {
		pairs = append(pairs, form, Mark)
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// OfURL returns what follows the last slash of a URL's path: in the address of the
// Clearbox tools ([plugin.Task.MCPURL]) that is the token of the run.
func OfURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Path[strings.LastIndexByte(u.Path, '/')+1:]
}

// inJSON is how a text stands in JSON.
func inJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil || len(quoted) < 2 {
		return text
	}
	return string(quoted[1 : len(quoted)-1])
}

// Text scrubs a text.
func (s Scrubber) Text(t string) string {
	if s.replacer == nil {
		return t
	}
	return s.replacer.Replace(t)
}

// JSON scrubs the texts in JSON, and leaves its keys alone.
func (s Scrubber) JSON(raw json.RawMessage) json.RawMessage {
	if !s.within(raw) {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return json.RawMessage(s.Text(string(raw)))
	}
	out, err := json.Marshal(s.value(v))
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

// within looks for a secret as it would stand in JSON.
func (s Scrubber) within(raw []byte) bool {
	return slices.ContainsFunc(s.forms, func(form string) bool {
		return bytes.Contains(raw, []byte(form)) || bytes.Contains(raw, []byte(inJSON(form)))
	})
}

func (s Scrubber) value(v any) any {
	switch v := v.(type) {
	case string:
		return s.Text(v)
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

// Result scrubs the words of a result.
func (s Scrubber) Result(r plugin.Result) plugin.Result {
	r.Text = s.Text(r.Text)
	for i := range r.Errors {
		r.Errors[i] = s.Text(r.Errors[i])
	}
	return r
}

// Host is a host that no secret gets through to.
type Host struct {
	plugin.Host
	Scrub Scrubber
}

// Emit implements [plugin.Host].
func (h Host) Emit(e plugin.Event) {
	e.Data = h.Scrub.JSON(e.Data)
	h.Host.Emit(e)
}

// Ask implements [plugin.Host].
func (h Host) Ask(ctx context.Context, q plugin.Question) (plugin.Answer, error) {
	q.Text, q.Input = h.Scrub.Text(q.Text), h.Scrub.JSON(q.Input)
	return h.Host.Ask(ctx, q)
}
