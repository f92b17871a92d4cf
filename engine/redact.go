package engine

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// removed stands where a secret was.
const removed = "[removed]"

// minSecret is how long a word must be to be taken for a secret: shorter ones would
// be found everywhere.
const minSecret = 8

// redactor takes secrets out of texts.
type redactor struct {
	words  []string        // the longest first
	tokens map[string]bool // hashes of the tokens of runs that are open
}

// Hide tells the engine of further words that are never to be in what leaves the
// server for other people to read: exports and reports.
func (e *Engine) Hide(words ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hidden = append(e.hidden, words...)
}

// redactorFor gathers the keys of all agents, the secrets of webhooks, the values of
// variables whose names sound secret, and what tells the tokens of a tree's runs. The
// tokens of the proxies that harnesses put before a key are theirs alone: they take
// them out of all they say, and a token is worth nothing when its run has ended.
func (e *Engine) redactorFor(tx *store.Tx, s *plan.Snapshot) (*redactor, error) {
	r := &redactor{tokens: map[string]bool{}}
	e.mu.Lock()
	r.add(e.hidden...)
	e.mu.Unlock()
	if err := r.addWebhooks(tx); err != nil {
		return nil, err
	}
	for _, p := range s.Profiles {
		key, err := tx.Key(p.ID)
		if err != nil {
			return nil, err
		}
		r.add(key)
		if p.KeyEnv != "" {
			r.add(e.env(p.KeyEnv))
		}
	}
	r.add(e.env("OPENAI_API_KEY"), e.env("ANTHROPIC_API_KEY"))
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); soundsSecret(name) {
			r.add(value)
		}
	}
	slices.SortFunc(r.words, func(a, b string) int { return len(b) - len(a) })
	return r, nil
}

// addWebhooks adds the secrets of webhooks, and those addresses that may be secrets
// themselves: chat programs take from everyone who knows one.
func (r *redactor) addWebhooks(tx *store.Tx) error {
	var list webhookList
	if err := readSetting(tx, store.WebhooksSetting, &list); err != nil {
		return err
	}
	for _, h := range list.Hooks {
		r.add(h.Secret)
		if u, err := url.Parse(h.URL); err == nil && (len(u.Path) > 1 || u.RawQuery != "" || u.User != nil) {
			r.add(h.URL)
		}
	}
	return nil
}

func soundsSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "password"}, func(word string) bool { return strings.Contains(name, word) })
}

func (r *redactor) add(words ...string) {
	for _, w := range words {
		if w = strings.TrimSpace(w); len(w) >= minSecret && !slices.Contains(r.words, w) {
			r.words = append(r.words, w)
		}
	}
}

// report takes secrets out of everything that a report says.
func (r *redactor) report(rep *plan.Report) {
	for _, s := range rep.Steps {
		for i := range s.Runs {
			if hash := s.Runs[i].TokenHash; len(hash) > 0 {
				r.tokens[string(hash)] = true
			}
		}
	}
	for _, s := range rep.Steps {
		r.value(reflect.ValueOf(s))
	}
	snap := rep.Snapshot
	for _, id := range snap.PlanIDs() {
		r.value(reflect.ValueOf(snap.Plan(id)))
		for _, n := range snap.NodesOf(id) {
			r.value(reflect.ValueOf(n))
		}
	}
	for _, list := range []map[plan.Ref]*plan.Review{snap.Reviews, snap.Reviewing, snap.Judged, snap.Judging} {
		for _, review := range list {
			r.value(reflect.ValueOf(review))
		}
	}
	r.value(reflect.ValueOf(snap.Questions))
}

// value goes through all texts of a value.
func (r *redactor) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.value(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if v.CanSet() && v.Len() > 0 {
				v.SetBytes(r.json(v.Bytes()))
			}
			return
		}
		for i := range v.Len() {
			r.value(v.Index(i))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(r.text(v.String()))
		}
	}
}

// aToken is what the tokens of runs look like, perhaps with a word joined to it.
var aToken = regexp.MustCompile(`[A-Za-z0-9_-]{43,}`)

// maxTokenWord is how long a word is looked through: longer ones are data.
const maxTokenWord = 160

// anAddress is where the agent of a run reaches its tools. The token in it is dead
// when the run has ended, and then nothing else tells that it was one.
var anAddress = regexp.MustCompile(`(mcp-agent/)[A-Za-z0-9_-]{43}`)

func (r *redactor) text(s string) string {
	if strings.Contains(s, "mcp-agent/") {
		s = anAddress.ReplaceAllString(s, "${1}"+removed)
	}
	for _, w := range r.words {
		s = strings.ReplaceAll(s, w, removed)
	}
	if len(s) < 43 || len(r.tokens) == 0 {
		return s
	}
	return aToken.ReplaceAllStringFunc(s, func(word string) string {
		for i := 0; len(word) <= maxTokenWord && i+43 <= len(word); i++ {
			if r.tokens[string(hashToken(word[i:i+43]))] {
				return word[:i] + removed + word[i+43:]
			}
		}
		return word
	})
}

// json takes secrets out of encoded JSON, in which they may be written with escapes.
func (r *redactor) json(b []byte) []byte {
	for _, w := range r.words {
		for _, form := range encodedForms(w) {
			b = bytes.ReplaceAll(b, form, []byte(removed))
		}
	}
	return []byte(r.text(string(b)))
}

// encodedForms are the ways in which JSON is written by most programs.
func encodedForms(word string) [][]byte {
	escaped, err := json.Marshal(word)
	if err != nil {
		return nil
	}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(word) != nil {
		return nil
	}
	other := bytes.TrimSpace(plain.Bytes())
	return [][]byte{escaped[1 : len(escaped)-1], other[1 : len(other)-1]} // without the quotes
}
