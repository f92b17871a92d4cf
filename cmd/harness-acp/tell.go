package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// longSaid is how much of one message is told at once.
const longSaid = 64 << 10

// call is what is known of one tool call.
type call struct {
	toolCall
	told    bool // as tool_use
	over    bool
	granted bool // the agent asked, and may
}

// told takes what the agent tells.
func (s *session) told(method string, params json.RawMessage) {
	var u updated
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if method != "session/update" {
		return // of a later version, or of this agent alone
	}
	if json.Unmarshal(params, &u) != nil || json.Unmarshal(u.Update, &kind) != nil {
		s.odd(string(params[:min(len(params), 2000)]))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.muted || s.id != "" && u.SessionID != s.id {
		return
	}
	s.update(kind.Kind, u.Update)
}

// update tells one piece of news. The caller holds mu, as for what it calls.
func (s *session) update(kind string, raw json.RawMessage) {
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk":
		var chunk struct{ Content content }
		if json.Unmarshal(raw, &chunk) == nil {
			s.chunk(chunk.Content.flat(), kind == "agent_thought_chunk")
		}
	case "tool_call", "tool_call_update":
		var c toolCall
		if err := json.Unmarshal(raw, &c); err != nil || c.ID == "" {
			s.odd(fmt.Sprintf("a tool call was not understood: %.500s", raw))
			return
		}
		s.flush()
		s.budget()
		s.progress(s.merge(c))
	case "plan":
		var plan struct {
			Entries []struct{ Content, Status string }
		}
		if json.Unmarshal(raw, &plan) == nil && len(plan.Entries) > 0 {
			s.flush()
			lines := []string{"plan of the agent:"}
			for _, e := range plan.Entries {
				lines = append(lines, fmt.Sprintf("- %s (%s)", e.Content, strings.ReplaceAll(e.Status, "_", " ")))
			}
			s.emit(plugin.System(strings.Join(lines, "\n"), plugin.SessionInfo{}))
		}
	case "usage_update":
		s.spending(raw)
	}
}

// spending takes what the agent tells of money and of the tokens in its context.
func (s *session) spending(raw json.RawMessage) {
	var u struct {
		Used int64
		Cost *struct {
			Amount   float64
			Currency string
		}
	}
	if json.Unmarshal(raw, &u) != nil {
		return
	}
	s.context = max(s.context, u.Used)
	if u.Cost != nil && strings.EqualFold(u.Cost.Currency, "USD") {
		s.cost = &u.Cost.Amount
	}
}

// turn counts the model's turns: the protocol does not tell them, but the first news
// after the start, and after all calls were answered, is one.
func (s *session) turn() {
	for _, k := range s.calls {
		if k.told && !k.over {
			return
		}
	}
	if s.turns == 0 || s.answered {
		s.turns++
		s.answered = false
	}
}

// chunk adds to the message, or begins another one.
func (s *session) chunk(text string, thought bool) {
	s.turn()
	if thought != s.thinking || s.said.Len()+len(text) > longSaid {
		s.flush()
	}
	s.thinking = thought
	s.said.WriteString(text)
}

// flush tells the message that was being written.
func (s *session) flush() {
	text := s.said.String()
	s.said.Reset()
	switch {
	case strings.TrimSpace(text) == "":
	case s.thinking:
		s.emit(plugin.Thinking(text, ""))
	default:
		s.words = text
		s.emit(plugin.Text(text, ""))
	}
}

// merge adds news of a call to what is known of it. Empty means unchanged.
func (s *session) merge(c toolCall) *call {
	k := s.calls[c.ID]
	if k == nil || k.over { // an id that is used again is another call
		s.turn()
		k = &call{toolCall: toolCall{ID: c.ID}}
		s.calls[c.ID] = k
	}
	for to, from := range map[*string]string{&k.Title: c.Title, &k.Name: c.Name, &k.Kind: c.Kind, &k.Status: c.Status} {
		if from != "" {
			*to = from
		}
	}
	if given(c.Input) {
		k.Input = c.Input
	}
	if given(c.Output) {
		k.Output = c.Output
	}
	if c.Content != nil {
		k.Content = c.Content
	}
	if c.Locations != nil {
		k.Locations = c.Locations
	}
	return k
}

func given(raw json.RawMessage) bool {
	return len(raw) > 0 && !slices.Contains([]string{"null", "{}"}, string(raw))
}

// progress tells a call when it is known what it is, and its result.
func (s *session) progress(k *call) {
	over := k.Status == "completed" || k.Status == "failed"
	if !k.told && (over || given(k.Input) || k.Status == "in_progress") {
		s.use(k)
	}
	if !over || k.over {
		return
	}
	k.over, s.answered = true, true
	s.emit(plugin.ToolResult(k.ID, s.host.Scrub.Text(s.outcome(k)), k.Status == "failed", ""))
	s.watch(k)
}

func (s *session) use(k *call) {
	k.told = true
	input := k.Input
	if !given(input) {
		input, _ = json.Marshal(map[string]any{"title": k.Title, "paths": append([]string{}, k.paths()...)}) // it is JSON
	}
	s.emit(plugin.ToolUse(k.ID, k.label(), input, ""))
}

// budget ends a run that has spent its limit and goes on to work: an agent that only
// has its answer left may give it. What the context holds was sent at least once: it is
// the least number of tokens that the run can have used, and all that is told before its end.
func (s *session) budget() {
	limits := s.task.Limits
	switch {
	case s.spent != "":
		return
	case limits.MaxCostUSD > 0 && s.cost != nil && *s.cost >= limits.MaxCostUSD:
		s.spent = fmt.Sprintf("the run's limit of $%.2f is reached ($%.2f spent)", limits.MaxCostUSD, *s.cost)
	case limits.MaxTokens > 0 && s.context >= limits.MaxTokens:
		s.spent = fmt.Sprintf("the run's limit of %d tokens is reached (the agent's context alone holds %d)", limits.MaxTokens, s.context)
	default:
		return
	}
	s.giveUp(errEnough)
}

// watch ends a run whose agent did, without asking, what it may not.
func (s *session) watch(k *call) {
	if k.granted || k.Status != "completed" || s.breach != "" || slices.ContainsFunc(k.Content, func(c shown) bool { return c.Type == "terminal" }) {
		return
	}
	switch k.Kind {
	case "edit", "delete", "move", "execute":
		if v := s.judge(k.toolCall); !v.allow {
			s.breach = fmt.Sprintf("the agent went beyond its capability without asking: %s (%s). What it did stays done: choose a mode of the agent in which it asks, or give it the capability", k.wording(v.why), k.Kind)
			s.giveUp(errEnough)
		}
	}
}

// label is the name of a call: short, and the same for calls of the same kind.
func (c toolCall) label() string {
	return either(c.Name, either(map[string]string{"read": "Read", "edit": "Edit", "delete": "Delete", "move": "Move", "search": "Search",
		"execute": "Execute", "think": "Think", "fetch": "Fetch", "switch_mode": "Switch mode"}[c.Kind], either(c.Title, "Tool")))
}

// outcome is what a call showed, as text.
func (s *session) outcome(k *call) string {
	var parts []string
	for _, c := range k.Content {
		switch c.Type {
		case "content":
			parts = append(parts, c.Content.flat())
		case "diff":
			parts = append(parts, diff(c))
		case "terminal":
			if t := s.terminals[c.TerminalID]; t != nil {
				text, _ := t.text()
				parts = append(parts, text)
			}
		}
	}
	if text := strings.TrimSpace(strings.Join(parts, "\n")); text != "" {
		return text
	}
	var text string
	if json.Unmarshal(k.Output, &text) == nil {
		return text
	}
	if given(k.Output) {
		return string(k.Output)
	}
	return ""
}

// diff shows a change: what is the same at both ends of the file is left out.
func diff(c shown) string {
	old, now := strings.SplitAfter(c.OldText, "\n"), strings.SplitAfter(c.NewText, "\n")
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "changed %s\n", c.Path)
	for sign, lines := range [][]string{old, now} {
		for _, line := range lines {
			if line != "" {
				fmt.Fprintf(&b, "%c%s\n", "-+"[sign], strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return b.String()
}

// learn adds what a question says of a call, tells the call, and returns all that is
// known of it.
func (s *session) learn(c toolCall) toolCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	k := s.merge(c)
	if !k.told {
		s.use(k)
	}
	return k.toolCall
}

func (s *session) granted(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.calls[id]; k != nil {
		k.granted = true
	}
}

// close tells what is left when nothing more comes: the last message, and a result of
// each call that has none.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	for _, k := range s.calls {
		if k.told && !k.over {
			k.over = true
			s.emit(plugin.ToolResult(k.ID, "(the session ended before this call did)", true, ""))
		}
	}
	if text := s.stderr.String(); text != "" && s.begun {
		s.emit(plugin.Log(text, "stderr"))
	}
}
