package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// How a run can end beside success and plain errors.
const (
	subtypeMaxTurns   = "error_max_turns"
	subtypeFiltered   = "error_content_filter"
	subtypeRefused    = "error_refused"
	subtypeBudget     = "error_budget"
	subtypeIncomplete = "incomplete"
)

// longestLimit bounds how long an endpoint can make a plan wait.
const longestLimit = 24 * time.Hour

// run asks the model and runs its tools until it answers without calling one.
func (s *session) run(ctx context.Context) (plugin.Result, error) {
	shell := s.kit.Has("bash")
	s.history = []message{
		{Role: "system", Content: systemText(s.task, len(s.client.defs) > 0, shell)},
		{Role: "user", Content: s.task.Prompt},
	}
	for {
		r, err := s.client.ask(ctx, s.history)
		if err != nil {
			return s.unanswered(err)
		}
		s.turns++
		s.count(r.usage)
		s.tell(r)
		if len(r.calls) > 0 {
			if err := s.runCalls(ctx, r); err != nil {
				return plugin.Result{}, err
			}
		} else if res, over := s.answered(r); over {
			return res, nil
		}
		if text := s.overLimit(); text != "" {
			return s.failed(subtypeBudget, text), nil
		}
		if s.turns >= s.params.maxTurns {
			return s.failed(subtypeMaxTurns, fmt.Sprintf("the model was not done after max_turns=%d turns: raise params.max_turns, or make the step smaller", s.params.maxTurns)), nil
		}
	}
}

// tell shows what the model thought and said.
func (s *session) tell(r *reply) {
	s.host.Emit(plugin.Thinking(r.thinking, "")) // a blank one is dropped
	if strings.TrimSpace(r.text) != "" {
		s.said = r.text
		s.host.Emit(plugin.Text(r.text, ""))
	}
}

// runCalls runs the tools of a reply in order and adds the results to the history.
func (s *session) runCalls(ctx context.Context, r *reply) error {
	said := message{Role: "assistant", Content: r.text}
	var results []message
	for n, c := range r.calls {
		id := s.newID(c.id, n)
		input, fault := c.input()
		sent := string(input)
		if fault != nil {
			sent = "{}" // some servers choke on their own bad arguments
		}
		said.ToolCalls = append(said.ToolCalls, historyCall{ID: id, Type: "function", Function: historyFunc{Name: c.name, Arguments: sent}})
		text := s.runCall(ctx, id, c, outcome{input, fault, r.finish == "length"})
		if err := ctx.Err(); err != nil {
			return err
		}
		results = append(results, message{Role: "tool", Content: text, ToolCallID: id})
	}
	s.history = append(append(s.history, said), results...)
	return nil
}

// outcome is what became of the arguments of a call.
type outcome struct {
	input json.RawMessage
	fault error // they are no object
	cut   bool  // the reply ended at its limit
}

// runCall runs one call, shows it in the transcript and returns what the model is told.
func (s *session) runCall(ctx context.Context, id string, c call, o outcome) string {
	if o.fault != nil {
		o.input = rawArguments(c.args)
	}
	s.host.Emit(plugin.ToolUse(id, c.name, o.input, ""))
	var text string
	isErr := true
	switch {
	case o.fault != nil && o.cut:
		text = o.fault.Error() + ". They were cut off at the limit of your reply: write less at once"
	case o.fault != nil:
		text = o.fault.Error()
	default:
		text, isErr = s.runTool(ctx, c.name, o.input)
	}
	text = s.scrub.Text(text)
	s.host.Emit(plugin.ToolResult(id, text, isErr, ""))
	return text
}

// rawArguments keeps arguments that are no object where people can see them.
func rawArguments(raw string) json.RawMessage {
	out, err := json.Marshal(map[string]string{"_raw_arguments": raw})
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

// answered takes a reply without tool calls. over is false when the model is asked
// once more.
func (s *session) answered(r *reply) (res plugin.Result, over bool) {
	switch blank := strings.TrimSpace(r.text) == ""; {
	case r.finish == "content_filter":
		return s.failed(subtypeFiltered, "the endpoint's content filter stopped the answer: word the step differently, or use another model"), true
	case r.refusal != "":
		return s.failed(subtypeRefused, "the model refused: "+r.refusal), true
	case r.finish == "length" && blank:
		return s.failed(subtypeIncomplete, "the model used up its whole reply before it said anything, which thinking can do: raise params.max_tokens or params.max_completion_tokens"), true
	case r.finish == "length":
		return s.incomplete(r.text), true
	case !blank:
		return s.done(r.text), true
	case !s.nudged:
		s.nudged = true
		s.history = append(s.history, message{Role: "assistant", Content: "(empty)"}, message{Role: "user", Content: emptyReply})
		return plugin.Result{}, false
	case s.said != "":
		return s.done(s.said), true
	case len(s.ids) > 0:
		return s.done("(the model worked and ended without a word)"), true
	}
	return s.failed("", "the model gave an empty answer, and again when it was asked once more: see whether it fits the task and the endpoint's settings"), true
}

// result has what every result has.
func (s *session) result() plugin.Result {
	r := plugin.Result{NumTurns: s.turns, SessionID: s.id, Model: s.model}
	if s.counted {
		r.TokensIn, r.TokensOut = &s.in, &s.out
		r.CostUSD = s.params.price(s.in, s.out)
	}
	return r
}

func (s *session) done(text string) plugin.Result {
	r := s.result()
	r.Text, r.Subtype = text, plugin.SubtypeSuccess
	return r
}

// incomplete is an answer that was cut: kept, and marked so that nobody takes it for
// whole.
func (s *session) incomplete(text string) plugin.Result {
	s.host.Emit(plugin.Err("the answer was cut at the limit of a reply (finish reason length): raise params.max_tokens or params.max_completion_tokens"))
	r := s.done(text + "\n\n[incomplete: the answer was cut at the limit of a reply]")
	r.Subtype = subtypeIncomplete
	return r
}

func (s *session) failed(subtype, text string) plugin.Result {
	r := s.result()
	r.IsError, r.Subtype, r.Text, r.Errors = true, subtype, text, []string{text}
	return r
}

// unanswered makes a result of a request that failed for good.
func (s *session) unanswered(err error) (plugin.Result, error) {
	var f *fault
	if !errors.As(err, &f) {
		return plugin.Result{}, err
	}
	r := s.failed("", f.text)
	r.Transient = f.passing
	if f.limited {
		r.RateLimited = true
		if f.waits {
			r.Until = time.Now().Add(min(f.wait, longestLimit))
		}
		s.host.Emit(plugin.RateLimited(s.scrub.Text(f.text), r.Until))
	}
	return r, nil
}

// overLimit says which limit of the run has been reached.
func (s *session) overLimit() string {
	l := s.task.Limits
	if used := s.in + s.out; l.MaxTokens > 0 && used >= l.MaxTokens {
		return fmt.Sprintf("the run's limit of %d tokens is reached (%d used)", l.MaxTokens, used)
	}
	if cost := s.params.price(s.in, s.out); l.MaxCostUSD > 0 && cost != nil && *cost >= l.MaxCostUSD {
		return fmt.Sprintf("the run's limit of $%.2f is reached ($%.2f spent)", l.MaxCostUSD, *cost)
	}
	return ""
}
