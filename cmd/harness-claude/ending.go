package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// How a run can end beside success and plain errors.
const (
	subtypeMaxTurns = "error_max_turns"
	subtypeRefused  = "error_refused"
	subtypeBudget   = "error_budget"
	subtypeLogin    = "error_not_logged_in"
)

// noSuchSession says that the session to be resumed is not there. Nothing was spent.
func (a *attempt) noSuchSession() bool {
	return a.result != nil && a.result.IsError && slices.ContainsFunc(a.result.Errors, func(s string) bool {
		return strings.Contains(s, "No conversation found") || strings.Contains(s, "--resume requires a valid session")
	})
}

// verdict makes the run's result of how the program ended. It is called when the
// program is gone.
func (a *attempt) verdict() plugin.Result {
	r := plugin.Result{SessionID: a.sessionID()}
	if l := a.result; l != nil {
		r.NumTurns, r.DurationMS, r.CostUSD = l.NumTurns, l.DurationMS, l.cost()
		if in, out := l.tokens(); in+out > 0 {
			r.TokensIn, r.TokensOut = &in, &out
		}
	}
	switch {
	case a.budget != "":
		return failed(r, subtypeBudget, a.budget)
	case a.result != nil && a.result.IsError, a.result == nil && a.fault != "":
		return a.faulty(r)
	case a.result == nil && a.said != "":
		return failed(r, "", a.said)
	case a.result == nil:
		return a.lost(r)
	}
	return a.done(r)
}

func failed(r plugin.Result, subtype, text string) plugin.Result {
	r.IsError, r.Subtype, r.Text, r.Errors = true, subtype, text, []string{text}
	return r
}

// done is a run that ended well. What the model last said stands in for an empty end.
func (a *attempt) done(r plugin.Result) plugin.Result {
	r.Subtype, r.Text = plugin.SubtypeSuccess, a.result.Result
	switch {
	case strings.TrimSpace(r.Text) != "":
	case a.text != "":
		r.Text = a.text
	case a.worked:
		r.Text = "(the model worked and ended without a word)"
	default:
		return failed(r, "", "the model gave an empty answer: see whether it fits the task, and the endpoint's settings")
	}
	return r
}

// lost is a program that ended without a result.
func (a *attempt) lost(r plugin.Result) plugin.Result {
	if a.code > 128 && a.code < 128+65 {
		r.Transient = true // something ended it, such as a lack of memory; that may pass
		return failed(r, "", fmt.Sprintf("the claude program was ended by signal %d%s", a.code-128, a.words()))
	}
	return failed(r, "", fmt.Sprintf("the claude program ended with exit code %d and no result%s", a.code, a.words()))
}

// words are the program's last ones on stderr, for the end of a sentence.
func (a *attempt) words() string {
	lines := strings.Split(a.stderr.String(), "\n")
	last := strings.Join(lines[max(0, len(lines)-5):], " ")
	if strings.TrimSpace(last) == "" {
		return ""
	}
	return "; it said: " + oneLine(last)
}

// faulty finds out what went wrong between the program and the model.
func (a *attempt) faulty(r plugin.Result) plugin.Result {
	l := a.result
	if l == nil {
		l = &resultLine{Status: a.status}
	}
	f := failure{kind: a.fault, status: l.Status, said: a.said, rejected: a.rejected}
	if f.said == "" {
		f.said = l.Result
	}
	if f.said == "" && len(l.Errors) > 0 {
		f.said = l.Errors[0]
	}
	switch {
	case l.Subtype == "error_max_turns":
		return failed(r, subtypeMaxTurns, fmt.Sprintf("the agent was not done after max_turns=%d turns: raise params.max_turns, or make the step smaller", a.maxTurns))
	case l.Subtype == "error_max_budget_usd":
		return failed(r, subtypeBudget, fmt.Sprintf("the run's limit of $%.2f is reached%s", a.session.budget(), spentText(r.CostUSD)))
	case f.notLoggedIn():
		return failed(r, subtypeLogin, a.logIn())
	case f.limited():
		return a.limited(r, f)
	case f.status == http.StatusUnauthorized || f.status == http.StatusForbidden || f.kind == "authentication_failed":
		return failed(r, "", a.access.refused(f))
	case f.kind == "billing_error":
		return failed(r, "", "the account has no credit left: add some, or use another key or login"+f.quote())
	case f.passing():
		return a.passing(r, f)
	case f.kind == "model_not_found" || f.status == http.StatusNotFound:
		return failed(r, "", fmt.Sprintf("the model %s was not found: check the model's name in the agent's profile, and that the account may use it%s", a.modelName(), f.quote()))
	case l.Terminal == "prompt_too_long" || strings.Contains(strings.ToLower(f.said), "prompt is too long"):
		return failed(r, "", "the conversation is longer than the model's context: make the step smaller"+f.quote())
	case l.StopReason == "refusal":
		return failed(r, subtypeRefused, "the model refused"+f.quote())
	}
	return failed(r, "", "the run failed"+f.quote())
}

func spentText(cost *float64) string {
	if cost == nil {
		return ""
	}
	return fmt.Sprintf(" ($%.2f spent)", *cost)
}

func (a *attempt) modelName() string {
	if a.model == "" {
		return "that is the program's default"
	}
	return "'" + a.model + "'"
}

// limited is a run that waits for a limit to end, as far as is known until when.
func (a *attempt) limited(r plugin.Result, f failure) plugin.Result {
	now := a.h.pace.now()
	_, fromProxy := a.proxy.seen()
	for _, at := range []time.Time{a.resets, fromProxy, resetIn(f.said, now)} {
		if r.Until.IsZero() {
			r.Until = sane(at, now)
		}
	}
	text := "the limit of the account is reached"
	if a.proxy != nil && !f.rejected {
		text = "the endpoint's rate limit is reached"
	}
	text += untilText(r.Until) + f.quote()
	r.RateLimited = true
	a.emit(plugin.RateLimited(text, r.Until))
	return failed(r, "", text)
}

// passing is a fault that may be gone the next time.
func (a *attempt) passing(r plugin.Result, f failure) plugin.Result {
	r.Transient = true
	fault, _ := a.proxy.seen()
	switch {
	case f.overloaded():
		return failed(r, "", "the model's endpoint is overloaded (529)"+f.quote())
	case fault != "":
		return failed(r, "", fault)
	case f.status != 0:
		return failed(r, "", fmt.Sprintf("the model's endpoint failed (%d)%s", f.status, f.quote()))
	}
	return failed(r, "", "the connection to the model broke off"+f.quote())
}
