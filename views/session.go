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
	Node     plan.Ref
	Runs     []RunHead // all of the step
	Segments []Segment
	Older    int64 // entries before this event are to be had; 0: none
	Live     bool  // more is to come
	Waits    Line  // what the step waits for, while there is nothing
}

// Segment is what one run told, as far as it is shown.
type Segment struct {
	Run     *RunHead // nil: what was told before the first run
	Entries []Entry
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
	Run    *RunHead // of the run that it belongs to; nil: of none
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

// Scribe turns events into entries. It knows the runs of the step.
type Scribe struct {
	node  plan.Ref
	heads []RunHead
	runs  map[plan.RunID]int // index in heads
}

// NewScribe returns a scribe for a step.
func NewScribe(node plan.Ref, runs []plan.Run) *Scribe {
	s := &Scribe{node: node}
	s.Learn(runs)
	return s
}

// Learn takes in the runs of the step as they are now, all of them.
func (s *Scribe) Learn(runs []plan.Run) {
	s.heads, s.runs = runHeads(runs), make(map[plan.RunID]int, len(runs))
	for i := range runs {
		s.runs[runs[i].ID] = i
	}
}

// Knows reports whether an event's run is known.
func (s *Scribe) Knows(e *plan.Event) bool {
	_, known := s.runs[e.RunID]
	return known || e.RunID == ""
}

// runOf returns the run that an event belongs to. What is told between runs goes
// with the one before.
func (s *Scribe) runOf(ev *plan.Event) *RunHead {
	if i, known := s.runs[ev.RunID]; known {
		return &s.heads[i]
	}
	for i := len(s.heads) - 1; i >= 0 && ev.RunID == ""; i-- {
		if s.heads[i].At <= ev.At {
			return &s.heads[i]
		}
	}
	return nil
}

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
	e := Entry{ID: ev.ID, Node: s.node, Kind: ev.Kind, At: ev.At, Run: s.runOf(ev)}
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

// RawURL is where the whole text of an entry is.
func (e *Entry) RawURL() string {
	return NodeURL(e.Node) + "/events/" + strconv.FormatInt(e.ID, 10)
}

// OlderURL is where the entries before the first are.
func (s *Session) OlderURL() string {
	return NodeURL(s.Node) + "/events?before=" + strconv.FormatInt(s.Older, 10)
}

// Pieces are what an entry adds to a transcript that is on a page already: its
// run's segment where the page has none yet, and itself in there.
func (e *Entry) Pieces() []Piece {
	in := "log"
	var list []Piece
	if e.Run != nil {
		in = e.Run.segment()
		list = append(list, Piece{ID: e.Run.DOM(), In: "log", Once: true, Body: runSection(Segment{Run: e.Run})})
	}
	// A result goes where its call keeps a place for it; else it stands alone.
	once := e.Kind != kindToolResult
	return append(list, Piece{ID: e.DOM(), In: in, Once: once, Body: entry(e)})
}

// segments sorts entries by run, in the order in which the runs come.
func segments(list []Entry) []Segment {
	var out []Segment
	at := map[int]int{} // run number → index
	for _, e := range list {
		number := 0
		if e.Run != nil {
			number = e.Run.Number
		}
		i, known := at[number]
		if !known {
			i, at[number] = len(out), len(out)
			out = append(out, Segment{Run: e.Run})
		}
		out[i].Entries = append(out[i].Entries, e)
	}
	return out
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
