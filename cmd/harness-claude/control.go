package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/clearbox-go/clearbox/plugin"
)

// Names that this side gives to what it sends.
const (
	initializeID = "initialize"
	guardID      = "guard"
)

// control answers what the program asks beside the conversation.
func (a *attempt) control(kind string, l *controlLine) {
	switch {
	case kind == "control_cancel_request":
		if cancel := a.questions[l.ID]; cancel != nil {
			cancel()
		}
	case kind == "control_response":
		a.greeted(l)
	case l.Request.Subtype == "hook_callback":
		a.judge(l)
	case l.Request.Subtype == "can_use_tool":
		a.question(l)
	default:
		a.respond(map[string]any{"subtype": "error", "request_id": l.ID, "error": l.Request.Subtype + " is not known here"})
	}
}

func (a *attempt) respond(response map[string]any) {
	if err := a.input.Send(map[string]any{"type": "control_response", "response": response}); err != nil {
		a.note("%v", err)
	}
}

func (a *attempt) answer(id string, response any) {
	a.respond(map[string]any{"subtype": "success", "request_id": id, "response": response})
}

// greeted reads the answer to initialize. A program that does not take the hook would
// run without its guard.
func (a *attempt) greeted(l *controlLine) {
	if l.Response.ID != initializeID || l.Response.Subtype != "error" {
		return
	}
	a.said = "the program does not take what keeps this run within its capability: " + l.Response.Error
	a.giveUp(errEnough)
}

// judge answers the hook that comes before a call.
func (a *attempt) judge(l *controlLine) {
	var c call
	v := verdict{"deny", "the call was not understood"}
	if json.Unmarshal(l.Request.Input, &c) == nil {
		v = a.guard.decide(c)
	}
	if v.decision == "" {
		a.answer(l.ID, map[string]any{})
		return
	}
	a.answer(l.ID, map[string]any{"hookSpecificOutput": map[string]string{
		"hookEventName": "PreToolUse", "permissionDecision": v.decision, "permissionDecisionReason": v.why,
	}})
}

// question puts a call before a person, beside everything else that goes on.
func (a *attempt) question(l *controlLine) {
	r := l.Request
	ctx, cancel := context.WithCancel(a.ctx)
	a.questions[l.ID] = cancel
	q := plugin.Question{Tool: r.Tool, Text: wording(r.Tool, r.Input, r.Description, r.Reason), Input: r.Input, Timeout: a.askTimeout}
	a.asks.Go(func() {
		defer cancel()
		said, err := a.host.Ask(ctx, q)
		switch {
		case errors.Is(err, context.Canceled):
			return // the program withdrew it, or is leaving
		case err != nil:
			said = plugin.Answer{Message: "The question could not be put before anyone."}
		}
		a.reply(l.ID, r.Tool, r.Input, said)
	})
}

// reply hands a person's answer to the program.
func (a *attempt) reply(id, tool string, input json.RawMessage, said plugin.Answer) {
	if said.Allow {
		a.note("answered: %s was allowed", tool) // before the program can go on
		a.answer(id, map[string]any{"behavior": "allow", "updatedInput": input})
		return
	}
	why := said.Message
	if why == "" {
		why = "A person refused this. Find another way, or say in your last message what it would have been for."
	}
	a.note("answered: %s was refused", tool)
	a.answer(id, map[string]any{"behavior": "deny", "message": why})
}

// wording is a question in one line.
func wording(tool string, input json.RawMessage, description, reason string) string {
	what := field(input, "command", "file_path", "notebook_path", "path", "url", "query")
	if what == "" {
		what = description
	}
	text := tool
	if what != "" {
		text = fmt.Sprintf("%s: %s", tool, what)
	}
	if reason != "" {
		text += " (" + reason + ")"
	}
	return oneLine(text)
}
