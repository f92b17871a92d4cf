package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// Bounds of a result, so that its transcript form stays within MaxEventSize.
const (
	maxResultText  = MaxEventSize * 3 / 4 // bytes as JSON
	maxResultErrs  = 20
	maxResultError = 4 << 10
)

// Subtypes that this package gives when the harness gave none.
const (
	SubtypeSuccess = "success"
	SubtypeError   = "error"
	SubtypePanic   = "error_panic"
	SubtypeStopped = "error_stopped"
	SubtypeWall    = "error_time_limit"
)

type resultData struct {
	Text       string   `json:"text"`
	IsError    bool     `json:"is_error"`
	Errors     []string `json:"errors"`
	Subtype    *string  `json:"subtype"`
	NumTurns   int      `json:"num_turns"`
	DurationMS int64    `json:"duration_ms"`
	CostUSD    *float64 `json:"cost_usd"`
	TokensIn   *int64   `json:"tokens_in"`
	TokensOut  *int64   `json:"tokens_out"`
	SessionID  *string  `json:"session_id"`
	Model      *string  `json:"model"`
}

// ResultEvent gives the transcript form of a result. Every key is present;
// errors is a list, empty when there are none. It has no Seq: the host stores it
// after the last event of the run.
func ResultEvent(r Result) Event {
	r = checkedResult(r)
	e := event(KindResult, resultData{
		Text: r.Text, IsError: r.IsError, Errors: r.Errors, Subtype: known(r.Subtype),
		NumTurns: r.NumTurns, DurationMS: r.DurationMS, CostUSD: r.CostUSD,
		TokensIn: r.TokensIn, TokensOut: r.TokensOut, SessionID: known(r.SessionID), Model: known(r.Model),
	})
	e.At = time.Now().Round(0)
	return e
}

// checkedResult makes r clean, bounded and encodable.
func checkedResult(r Result) Result {
	r.Text = cutJSON(clean(r.Text), maxResultText)
	errs := make([]string, 0, min(len(r.Errors), maxResultErrs))
	for _, s := range r.Errors[:min(len(r.Errors), maxResultErrs)] {
		errs = append(errs, cutJSON(clean(s), maxResultError))
	}
	if left := len(r.Errors) - len(errs); left > 0 {
		errs[len(errs)-1] = fmt.Sprintf("… (%d errors left out)", left+1)
	}
	r.Errors = errs
	r.Subtype = cutJSON(clean(r.Subtype), 256)
	r.SessionID = cutJSON(clean(r.SessionID), 1024)
	r.Model = cutJSON(clean(r.Model), 1024)
	r.NumTurns = max(r.NumTurns, 0)
	r.DurationMS = max(r.DurationMS, 0)
	if c := r.CostUSD; c != nil && (math.IsNaN(*c) || math.IsInf(*c, 0) || *c < 0) {
		r.CostUSD = nil
	}
	r.TokensIn, r.TokensOut = count(r.TokensIn), count(r.TokensOut)
	r.Until = r.Until.Round(0)
	return r
}

// cutJSON cuts s until it takes at most n bytes as JSON: an escape takes up to
// six times the room of what it stands for.
func cutJSON(s string, n int) string {
	if len(s) <= n/6 || len(encode(s)) <= n {
		return s
	}
	for most := min(len(s), n); most > 64; most /= 2 {
		if c := cutBytes(s, most); len(encode(c)) <= n {
			return c
		}
	}
	return cutBytes(s, n/6)
}

// count drops a negative number of tokens, which can only be a fault.
func count(n *int64) *int64 {
	if n != nil && *n < 0 {
		return nil
	}
	return n
}

// tally is what a run's events say that its result may leave out.
type tally struct {
	turns   int
	in, out int64
	said    Event // the agent's last words
	session SessionInfo
}

func (t *tally) add(e Event) {
	switch e.Kind {
	case KindUsage:
		in, out, _ := DecodeUsage(e)
		t.turns++
		t.in, t.out = t.in+in, t.out+out
	case KindText:
		if bytes.Contains(e.Data, []byte(`"parent_tool_use_id":null`)) {
			t.said = e
		}
	case KindSystem:
		s, _ := DecodeSystem(e)
		t.session.SessionID = either(s.SessionID, t.session.SessionID)
		t.session.Model = either(s.Model, t.session.Model)
	}
}

// complete makes of what Run returned the one result that ends the run.
func (t *tally) complete(r Result, err error, took time.Duration) Result {
	if err != nil {
		r.IsError = true
		r.Errors = append(r.Errors, err.Error())
		r.Subtype = either(r.Subtype, subtypeOf(err))
	}
	r.IsError = r.IsError || r.RateLimited || r.Transient
	if r.IsError {
		r.Subtype = either(r.Subtype, SubtypeError)
	}
	r.Subtype = either(r.Subtype, SubtypeSuccess)
	if r.Text == "" {
		r.Text = t.lastWords(r)
	}
	if r.NumTurns == 0 {
		r.NumTurns = t.turns
	}
	if r.DurationMS == 0 {
		r.DurationMS = took.Milliseconds()
	}
	if r.TokensIn == nil && r.TokensOut == nil && t.turns > 0 {
		r.TokensIn, r.TokensOut = &t.in, &t.out
	}
	r.SessionID = either(r.SessionID, t.session.SessionID)
	r.Model = either(r.Model, t.session.Model)
	return checkedResult(r)
}

func (t *tally) lastWords(r Result) string {
	switch {
	case !r.IsError:
		text, _ := DecodeText(t.said)
		return text
	case len(r.Errors) > 0:
		return r.Errors[0]
	}
	return "the run ended with an error that has no text"
}

// errPanic marks a panic in Run.
var errPanic = errors.New("the harness panicked")

func subtypeOf(err error) string {
	switch {
	case errors.Is(err, errPanic):
		return SubtypePanic
	case errors.Is(err, errWall):
		return SubtypeWall
	case errors.Is(err, context.Canceled), errors.Is(err, errStopped):
		return SubtypeStopped
	}
	return SubtypeError
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// encodeResult and decodeResult carry a result over gob, which would make nil of
// a pointer to zero.
func encodeResult(r Result) []byte { return encode(r) }

func decodeResult(b []byte) (Result, error) {
	var r Result
	if err := json.Unmarshal(b, &r); err != nil {
		return Result{}, fmt.Errorf("decode the result: %w", err)
	}
	return r, nil
}
