package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/stdio"
)

// synthetic is the model of messages that the program wrote itself.
const synthetic = "<synthetic>"

// line takes one line of the program.
func (a *attempt) line(raw []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	var h head
	if json.Unmarshal(raw, &h) != nil {
		_, _ = a.stderr.Write(append(raw[:min(len(raw), stdio.KeepTail)], '\n')) // no message of its protocol
		return
	}
	switch h.Type {
	case "system":
		a.system(h.Subtype, raw)
	case "assistant":
		take(a, raw, a.assistant)
	case "user":
		take(a, raw, a.user)
	case "stream_event":
		take(a, raw, a.stream)
	case "rate_limit_event":
		take(a, raw, a.limit)
	case "result":
		take(a, raw, a.end)
	case "control_request", "control_cancel_request", "control_response":
		take(a, raw, func(l *controlLine) { a.control(h.Type, l) })
	}
}

// take reads a line of a known type.
func take[T any](a *attempt, raw []byte, f func(*T)) {
	var l T
	if err := json.Unmarshal(raw, &l); err != nil {
		a.note("a message of the program was not understood (%v): %s", err, oneLine(string(raw[:min(len(raw), 2000)])))
		return
	}
	f(&l)
}

func (a *attempt) tooLong(size int64) {
	a.note("a line of %d bytes was left out: more than %d are not read at once", size, stdio.MaxLine)
}

func (a *attempt) system(subtype string, raw []byte) {
	switch subtype {
	case "init":
		take(a, raw, a.init)
	case "api_retry":
		take(a, raw, a.retry)
	case "compact_boundary":
		a.emit(plugin.System("conversation compacted", plugin.SessionInfo{}))
	case "model_fallback", "informational":
		take(a, raw, func(l *noticeLine) {
			if l.Content == "" {
				l.Content = string(raw[:min(len(raw), 2000)])
			}
			a.note("claude: %s", oneLine(l.Content))
		})
	}
}

func (a *attempt) init(l *initLine) {
	a.session.mu.Lock()
	again := a.begun
	a.session.mu.Unlock()
	if again {
		return
	}
	a.begin(*l)
	if a.mcpURL() == "" {
		return
	}
	status := "the program did not take them"
	for _, s := range l.Servers {
		if s.Name == ownServer {
			status = s.Status
		}
	}
	if status != "connected" && status != "pending" {
		a.emit(plugin.Err("the tools of Clearbox are not there in this run: " + status))
	}
}

// retry tells of a failed request. A key that was refused will be refused again; a
// login may be renewed meanwhile.
func (a *attempt) retry(l *retryLine) {
	what := l.Error
	if l.Status != 0 {
		what = fmt.Sprintf("%d, %s", l.Status, l.Error)
	}
	a.note("a request to the model failed (%s); again in %v (%d of %d)", what, time.Duration(l.DelayMS*float64(time.Millisecond)).Round(100*time.Millisecond), l.Attempt, l.Max)
	if (l.Status == http.StatusUnauthorized || l.Status == http.StatusForbidden) && (a.proxy != nil || l.Attempt > 2) {
		a.fault, a.status = "authentication_failed", l.Status
		a.giveUp(errEnough)
	}
}

func (a *attempt) assistant(l *messageLine) {
	if l.Error != "" || l.Message.Model == synthetic {
		a.trouble(l)
		return
	}
	if l.Parent == "" {
		a.fault, a.said = "", "" // it went on
	}
	for _, b := range blocks(l.Message.Content) {
		switch b.Type {
		case "text":
			if l.Parent == "" && strings.TrimSpace(b.Text) != "" {
				a.text = b.Text
			}
			a.emit(plugin.Text(b.Text, l.Parent))
		case "thinking":
			a.emit(plugin.Thinking(b.Thinking, l.Parent))
		case "tool_use", "server_tool_use", "mcp_tool_use":
			a.worked = true
			a.emit(plugin.ToolUse(a.ids.call(b.ID), b.Name, b.Input, l.Parent))
		default:
			if b.ToolUseID != "" { // the result of a tool on the model's side
				a.answered(b, l.Parent)
			}
		}
	}
}

// trouble is what the program says in the model's place. A sub-agent's ends only that.
func (a *attempt) trouble(l *messageLine) {
	said := flat(l.Message.Content)
	if l.Parent != "" {
		a.note("a sub-agent failed: %s", oneLine(said))
		return
	}
	a.fault, a.said = l.Error, said
}

func (a *attempt) user(l *messageLine) {
	for _, b := range blocks(l.Message.Content) {
		switch {
		case b.Type == "tool_result":
			a.answered(b, l.Parent)
		case l.Synthetic && b.Type == "text":
			a.note("the program told the model: %s", oneLine(b.Text))
		}
	}
}

// answered tells the result of a call. Secrets go before the text is cut: half of one
// would not be known any more.
func (a *attempt) answered(b block, parent string) {
	id, ok := a.ids.answer(b.ToolUseID)
	if !ok {
		a.note("a result came for the call %s, which nobody made", b.ToolUseID)
		return
	}
	a.emit(plugin.ToolResult(id, a.secrets.Text(flat(b.Content)), b.IsError, parent))
}

func (a *attempt) stream(l *streamLine) {
	switch l.Event.Type {
	case "message_start":
		a.count.start(l.Parent, l.Event.Message.Usage)
	case "message_delta":
		a.count.update(l.Parent, l.Event.Usage)
	case "message_stop":
		if in, out, ok := a.count.stop(l.Parent); ok {
			a.used(in, out)
		}
	}
}

// used tells tokens and keeps the run's limit of them.
func (a *attempt) used(in, out int64) {
	a.emit(plugin.Usage(in, out))
	most, sum := a.task.Limits.MaxTokens, a.count.in+a.count.out
	if most > 0 && sum >= most && a.result == nil {
		a.budget = fmt.Sprintf("the run's limit of %d tokens is reached (%d used)", most, sum)
		a.giveUp(errEnough)
	}
}

func (a *attempt) limit(l *limitLine) {
	resets := time.Time{}
	if l.Info.ResetsAt > 0 {
		resets = sane(time.Unix(int64(l.Info.ResetsAt), 0), a.h.pace.now())
	}
	switch l.Info.Status {
	case "rejected":
		a.rejected, a.resets = true, resets
	case "allowed_warning":
		a.note("the limit of the account is near: %.0f %% of %s used%s", 100*l.Info.Utilization, limitName(l.Info.Kind), untilText(resets))
	}
}

func limitName(kind string) string {
	switch kind {
	case "five_hour":
		return "the 5-hour limit"
	case "seven_day":
		return "the weekly limit"
	case "":
		return "it"
	}
	return strings.ReplaceAll(kind, "_", " ")
}

// untilText says when a limit ends, for the end of a sentence.
func untilText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ", until " + at.Format("Mon 2 Jan 15:04 MST")
}

// end takes a result. A later one of the same process replaces it: work of a
// sub-agent in the background wakes the model once more.
func (a *attempt) end(l *resultLine) {
	l.merge(a.result)
	first := a.result == nil
	a.result = l
	if in, out, ok := a.count.rest(l); ok {
		a.emit(plugin.Usage(in, out))
	}
	if first {
		close(a.resulted)
	}
}
