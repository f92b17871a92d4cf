// Package scriptedmodel is a stand-in for an OpenAI-compatible chat server: it
// answers from scripts instead of a model. Tests, demos and examples use it.
//
// It keeps no conversation. The script is chosen by what the user messages of a
// request say, the turn by the number of assistant messages in it. So one server
// serves all steps of a plan at once, a retry repeats a turn, and a run that goes on
// after an interruption goes on in its script. Only faults that pass by
// ([Turn.Times]) are counted.
package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// Script is what the model says in one conversation.
type Script struct {
	// Name is for error messages and records.
	Name string `json:"name"`
	// Match is a text that the user messages must contain; "" matches always. The
	// first script that matches is taken.
	Match string `json:"match"`
	// When is a further condition; nil is none.
	When func(*Request) bool `json:"-"`
	// Turns are the replies, one for each request of the conversation.
	Turns []Turn `json:"turns"`
	// Loop repeats the last turn for ever. Without it a conversation that goes on
	// past the last turn is answered with an error.
	Loop bool `json:"loop,omitempty"`
}

// Turn is one reply. Text and arguments may hold templates, see [Call].
type Turn struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"` // in the field reasoning_content
	Refusal  string `json:"refusal,omitempty"`
	Calls    []Call `json:"calls,omitempty"`
	// Finish is the finish reason; "" means tool_calls or stop, as fits.
	Finish string `json:"finish,omitempty"`
	// Usage is what the turn is said to cost; nil means 10 tokens in and 5 out.
	Usage   *Usage `json:"usage,omitempty"`
	NoUsage bool   `json:"no_usage,omitempty"`

	// Expect is a regular expression that the tool results since the last reply must
	// match; else the request is answered with an error that shows both.
	Expect string `json:"expect,omitempty"`

	// Status, Headers and Body are a whole HTTP answer in place of a reply. A Body
	// that is not JSON is sent as HTML.
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`

	// Chunks are the data of the stream, word for word, in place of what the other
	// fields would give: for dialects that no field describes.
	Chunks []string `json:"chunks,omitempty"`
	NoDone bool     `json:"no_done,omitempty"` // leave out the closing [DONE]

	// CutAfter drops the connection after so many chunks.
	CutAfter *int `json:"cut_after,omitempty"`
	// Times bounds how often the fault (Status, Headers, Body, CutAfter) happens to
	// one conversation; then the rest of the turn is served. 0 is always.
	Times int `json:"times,omitempty"`

	DelayMS      int `json:"delay_ms,omitempty"`       // before the answer
	ChunkDelayMS int `json:"chunk_delay_ms,omitempty"` // between chunks
	HoldMS       int `json:"hold_ms,omitempty"`        // before the end of the stream

	// Make computes the turn from the request; the other fields are not used.
	Make func(*Request) Turn `json:"-"`
}

// Call is a tool call.
//
// Args is any value that makes a JSON object. Strings in it, and the text of a turn,
// may be templates of package text/template with two functions: {{result 0}} is the
// last tool result of the conversation, {{result 1}} the one before; {{match "re"}}
// is what the first group of a regular expression, or all of it, finds in the newest
// tool result that matches.
type Call struct {
	ID   string `json:"id,omitempty"` // "" makes one
	Name string `json:"name"`
	Args any    `json:"args,omitempty"`
	// Raw is sent as the arguments as it is, valid JSON or not.
	Raw string `json:"raw,omitempty"`
}

// Usage counts tokens.
type Usage struct {
	In  int `json:"in"`
	Out int `json:"out"`
}

// Load reads scripts in their JSON form, a list. Unknown fields, scripts without
// turns and broken expressions are errors.
func Load(r io.Reader) ([]Script, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read scripts: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var scripts []Script
	if err := d.Decode(&scripts); err != nil {
		return nil, fmt.Errorf("read scripts: %w", err)
	}
	for i, s := range scripts {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("read scripts: script %d (%s): %w", i+1, s.Name, err)
		}
	}
	return scripts, nil
}

func (s Script) check() error {
	if len(s.Turns) == 0 {
		return errors.New("it has no turns")
	}
	for i, t := range s.Turns {
		if _, err := regexp.Compile(t.Expect); err != nil {
			return fmt.Errorf("turn %d: expect: %w", i+1, err)
		}
		for _, c := range t.Calls {
			if c.Name == "" {
				return fmt.Errorf("turn %d: a call has no name", i+1)
			}
		}
	}
	return nil
}
