package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// How a run can end beside success and plain errors.
const (
	subtypeMaxTurns = "error_max_turns"
	subtypeRefused  = "error_refused"
	subtypeLogin    = "error_not_logged_in"
	subtypeBeyond   = "error_capability"
	subtypeBudget   = "error_budget"
)

// verdict makes the run's result. It is called when the agent is gone.
func (s *session) verdict(a answered, err error, code int) plugin.Result {
	r := plugin.Result{SessionID: s.id, CostUSD: s.cost, NumTurns: s.turns}
	if u := a.Usage; u != nil {
		in := u.In + u.Read + u.Written
		r.TokensIn, r.TokensOut = &in, &u.Out
		s.emit(plugin.Usage(in, u.Out))
	}
	var refusal *rpcError
	switch {
	case s.breach != "":
		return failed(r, subtypeBeyond, s.breach)
	case s.spent != "" && err != nil:
		return failed(r, subtypeBudget, s.spent)
	case errors.Is(err, errGone):
		return s.lost(r, code)
	case errors.As(err, &refusal):
		return s.refused(r, refusal)
	case err != nil:
		return failed(r, "", err.Error())
	}
	switch a.StopReason {
	case "max_tokens":
		return failed(r, "", "the answer was cut at the model's limit of tokens: make the step smaller")
	case "max_turn_requests":
		return failed(r, subtypeMaxTurns, "the agent reached its own limit of turns: raise it in the agent's settings, or make the step smaller")
	case "refusal":
		return failed(r, subtypeRefused, "the model refused")
	case "cancelled":
		return failed(r, plugin.SubtypeStopped, "the agent cancelled its work")
	}
	r.Subtype, r.Text = plugin.SubtypeSuccess, strings.TrimSpace(s.words)
	switch {
	case r.Text != "":
	case len(s.calls) > 0:
		r.Text = "(the agent worked and ended without a word)"
	default:
		return failed(r, "", "the agent gave an empty answer: see whether it is logged in and its model fits the task")
	}
	return r
}

func failed(r plugin.Result, subtype, text string) plugin.Result {
	r.IsError, r.Subtype, r.Text, r.Errors = true, subtype, text, []string{text}
	return r
}

// lost is an agent that ended in the middle.
func (s *session) lost(r plugin.Result, code int) plugin.Result {
	name := s.command[0]
	if code > 128 && code < 128+65 {
		r.Transient = true // something ended it, such as a lack of memory; that may pass
		return failed(r, "", fmt.Sprintf("%s was ended by signal %d%s", name, code-128, s.lastWords()))
	}
	return failed(r, "", fmt.Sprintf("%s ended with exit code %d in the middle of the session%s", name, code, s.lastWords()))
}

// lastWords are those on stderr, for the end of a sentence.
func (s *session) lastWords() string {
	lines := strings.Split(s.stderr.String(), "\n")
	words := strings.Join(strings.Fields(strings.Join(lines[max(0, len(lines)-5):], " ")), " ")
	if words == "" {
		return ""
	}
	return "; it said: " + words[max(0, len(words)-1000):]
}

// refused is an error that the agent answered with.
func (s *session) refused(r plugin.Result, e *rpcError) plugin.Result {
	text := strings.ToLower(e.Error())
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case e.Code == codeAuth, has("authentication required", "not logged in"):
		return failed(r, subtypeLogin, s.logIn(e))
	case e.Code == 429, has("rate limit", "429", "quota exceeded", "usage limit"):
		r.RateLimited = true
		s.emit(plugin.RateLimited("the agent's limit is reached: "+e.Error(), r.Until))
		return failed(r, "", "the agent's limit is reached: "+e.Error())
	case e.Code == 503, e.Code == 529, has("overloaded", "529", "503", "connection reset"):
		r.Transient = true
		return failed(r, "", "the agent's model is not to be had at the moment: "+e.Error())
	}
	return failed(r, "", "the agent failed: "+e.Error())
}

// logIn says what to do about an agent that is not logged in.
func (s *session) logIn(e *rpcError) string {
	return fmt.Sprintf("the agent is not logged in (%s): start it once by hand as the user of Clearbox and log in there%s", e.Error(), s.agent.ways())
}

// ways lists how an agent lets itself be logged in to.
func (i initialized) ways() string {
	if len(i.Methods) == 0 {
		return ", or give it a key by params.key_var"
	}
	var out []string
	for _, m := range i.Methods {
		out = append(out, fmt.Sprintf("%s (%s)", m.ID, m.Name))
	}
	return ", give it a key by params.key_var, or set params.auth_method to one of its ways: " + strings.Join(out, ", ")
}
