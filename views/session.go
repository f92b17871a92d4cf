package views

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// SessionPage is how many entries of a transcript are shown at first, and how
// many more each time the reader scrolls up.
const SessionPage = 200

// maxShown is how much of one text of a transcript is shown, in bytes.
const maxShown = 60_000

// Session is the transcript of a step.
type Session struct {
	Node    plan.Ref
	Entries []Entry
	Older   int64 // entries before this event are to be had; 0: none
	Live    bool  // more is to come
	Waits   Line  // what the step waits for, while there is nothing
}

// Entry is one entry of a transcript.
type Entry struct {
	ID     int64
	Node   plan.Ref
	Kind   string
	At     plan.Stamp
	Nested bool   // of a sub-agent
	Text   string // of most kinds
	More   int    // bytes of Text that are left out
	Stream string // of a log line
	Until  plan.Stamp
	Call   Call   // of a tool use
	Slot   string // of a tool use and of its result: the element that holds the result
	Error  bool   // of a tool result
	Result *Entry // of a tool use, where it is known
	End    *RunEnd
	Run    *RunMark // the run that begins with this entry
}

// RunMark separates the runs of a step.
type RunMark struct {
	Number int
	Kind   plan.RunKind
	Agent  string
	Model  string
	At     plan.Stamp
}

// RunEnd is how a run ended.
type RunEnd struct {
	OK       bool
	Word     string
	Text     string
	Errors   []string
	Turns    int
	Took     string
	Tokens   string
	TokWords string
	Cost     string
}

// Scribe turns events into entries. It knows the runs of the step, and which of
// them have begun in what was shown.
type Scribe struct {
	node plan.Ref
	runs map[plan.RunID]*plan.Run
	seen map[plan.RunID]bool
}

// NewScribe returns a scribe for a step. Runs that begin before the first event
// it is given are marked there.
func NewScribe(node plan.Ref, runs []plan.Run) *Scribe {
	s := &Scribe{node: node, runs: map[plan.RunID]*plan.Run{}, seen: map[plan.RunID]bool{}}
	s.Learn(runs)
	return s
}

// Learn takes in the runs of the step as they are now.
func (s *Scribe) Learn(runs []plan.Run) {
	for i := range runs {
		s.runs[runs[i].ID] = &runs[i]
	}
}

// Knows reports whether an event's run is known.
func (s *Scribe) Knows(e *plan.Event) bool { return e.RunID == "" || s.runs[e.RunID] != nil }

// Entries turns events into entries, results put with the calls that they answer.
func (s *Scribe) Entries(events []plan.Event) []Entry {
	list := make([]Entry, 0, len(events))
	calls := map[string]int{}
	for i := range events {
		e := s.Entry(&events[i])
		switch {
		case e.Kind == kindToolUse:
			calls[e.Slot] = len(list)
		case e.Kind == kindToolResult && e.Slot != "":
			if at, ok := calls[e.Slot]; ok {
				list[at].Result = &e
				continue
			}
		}
		list = append(list, e)
	}
	return list
}

// The kinds of events that a transcript shows.
const (
	kindSystem      = "system"
	kindText        = "text"
	kindThinking    = "thinking"
	kindToolUse     = "tool_use"
	kindToolResult  = "tool_result"
	kindError       = "error"
	kindLog         = "log"
	kindRateLimited = "rate_limited"
	kindResult      = "result"
	kindStatus      = "status"
)

// eventData are the fields of all kinds; each uses its own.
type eventData struct {
	Text      string          `json:"text"`
	Parent    *string         `json:"parent_tool_use_id"`
	Model     *string         `json:"model"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   string          `json:"content"`
	IsError   bool            `json:"is_error"`
	Stream    *string         `json:"stream"`
	Until     *float64        `json:"until"`
	From      plan.State      `json:"from"`
	To        plan.State      `json:"to"`
	Errors    []string        `json:"errors"`
	Subtype   *string         `json:"subtype"`
	NumTurns  int             `json:"num_turns"`
	Duration  int64           `json:"duration_ms"`
	CostUSD   *float64        `json:"cost_usd"`
	TokensIn  *int64          `json:"tokens_in"`
	TokensOut *int64          `json:"tokens_out"`
}

// Entry turns one event into an entry. What cannot be read is shown as it is.
func (s *Scribe) Entry(ev *plan.Event) Entry {
	e := Entry{ID: ev.ID, Node: s.node, Kind: ev.Kind, At: ev.At, Run: s.mark(ev)}
	var d eventData
	if err := json.Unmarshal(ev.Data, &d); err != nil {
		e.Kind = kindLog
		e.Text, e.More = cut(ev.Kind+" "+string(ev.Data), maxShown)
		return e
	}
	e.Nested = d.Parent != nil && *d.Parent != ""
	e.Text, e.More = cut(d.Text, maxShown)
	switch ev.Kind {
	case kindSystem:
		if d.Model != nil && *d.Model != "" {
			e.Text += " · " + *d.Model
		}
	case kindToolUse:
		e.Call, e.Slot = readCall(d.Name, d.Input), slotID(ev.RunID, d.ID)
	case kindToolResult:
		e.Text, e.More = cut(d.Content, maxShown)
		e.Error = d.IsError
		e.Slot = slotID(ev.RunID, d.ToolUseID)
	case kindLog:
		if d.Stream != nil {
			e.Stream = *d.Stream
		}
	case kindRateLimited:
		if d.Until != nil {
			e.Until = plan.Stamp(*d.Until)
		}
	case kindStatus:
		e.Text = stateWord(d.From) + " → " + stateWord(d.To)
	case kindResult:
		e.End = runEnd(&d)
	}
	return e
}

// mark returns the mark of a run whose first event this is.
func (s *Scribe) mark(ev *plan.Event) *RunMark {
	run := s.runs[ev.RunID]
	if run == nil || s.seen[ev.RunID] {
		return nil
	}
	s.seen[ev.RunID] = true
	return &RunMark{Number: run.Number, Kind: run.Kind, Agent: run.AgentName, Model: run.Model, At: run.StartedAt}
}

// slotID names the element that holds the result of a call.
func slotID(run plan.RunID, call string) string {
	if call == "" {
		return ""
	}
	return "slot-" + token(string(run)+"\x00"+call)
}

func stateWord(s plan.State) string { return lookOf(&plan.Node{State: s}, false).Word }

func runEnd(d *eventData) *RunEnd {
	end := &RunEnd{OK: !d.IsError, Word: "Finished", Errors: d.Errors, Turns: d.NumTurns, Cost: cost(d.CostUSD),
		Tokens: tokens(d.TokensIn, d.TokensOut), TokWords: tokenWords(d.TokensIn, d.TokensOut)}
	end.Text, _ = cut(d.Text, maxShown)
	if d.Duration > 0 {
		end.Took = span(time.Duration(d.Duration) * time.Millisecond)
	}
	if d.IsError {
		end.Word = "Ended with an error"
		if d.Subtype != nil && *d.Subtype == "error_interrupted" {
			end.Word = "Interrupted"
		} else if d.Subtype != nil && *d.Subtype == "error_stopped" {
			end.Word = "Stopped"
		}
	}
	return end
}

// DOM is the id of the entry's element.
func (e *Entry) DOM() string {
	if e.Kind == kindToolResult && e.Slot != "" {
		return e.Slot
	}
	return "ev-" + strconv.FormatInt(e.ID, 10)
}

// DOM is the id of the mark's element.
func (m *RunMark) DOM() string { return "run-" + strconv.Itoa(m.Number) }

// Words name the run.
func (m *RunMark) Words() string {
	text := "Run " + strconv.Itoa(m.Number)
	switch m.Kind {
	case plan.RunReview, plan.RunPlanReview:
		text += " · review"
	case plan.RunJudge:
		text += " · judge"
	case plan.RunPlanner:
		text += " · planner"
	case plan.RunExternal:
		text += " · outside agent"
	}
	if m.Agent != "" {
		text += " · " + m.Agent
	}
	return text
}

// RawURL is where the whole text of an entry is.
func (e *Entry) RawURL() string {
	return NodeURL(e.Node) + "/events/" + strconv.FormatInt(e.ID, 10)
}

// OlderURL is where the entries before the first are.
func (s *Session) OlderURL() string {
	return NodeURL(s.Node) + "/events?before=" + strconv.FormatInt(s.Older, 10)
}

// Pieces are what an entry adds to a transcript that is on a page already.
func (e *Entry) Pieces() []Piece {
	var list []Piece
	if e.Run != nil {
		list = append(list, Piece{ID: e.Run.DOM(), In: "log", Once: true, Body: runMark(e.Run)})
	}
	// A result goes where its call keeps a place for it; else it stands alone.
	once := e.Kind != kindToolResult
	return append(list, Piece{ID: e.DOM(), In: "log", Once: once, Body: entry(e)})
}

// RawText is the whole text of an event, for a page of its own.
func RawText(ev *plan.Event) string {
	var d eventData
	if json.Unmarshal(ev.Data, &d) == nil {
		switch {
		case ev.Kind == kindToolResult:
			return d.Content
		case ev.Kind == kindToolUse:
			return d.Name + "\n" + string(d.Input)
		case d.Text != "":
			return d.Text
		}
	}
	return string(ev.Data)
}
