// Package scriptedmessages is a stand-in for the Anthropic Messages API: it answers
// from scripts instead of a model. Tests use it with the real Claude Code program.
//
// It keeps no conversation. The script is chosen by the newest user text that one
// matches, the turn by the number of replies since. So one server serves many
// sessions and their sub-agents at once, a retry repeats a turn, and a session that
// is resumed with a new prompt begins the script of that prompt. Only faults that
// pass by ([Turn.Times]) are counted.
package scriptedmessages

// Script is what the model says after one prompt.
type Script struct {
	// Match is a text that a user message must contain. The first script that matches
	// is taken, and one with "" when no other does.
	Match string
	// Turns are the replies, one for each request.
	Turns []Turn
	// Loop repeats the last turn for ever. Without it a conversation that goes on past
	// the last turn is answered with an error.
	Loop bool
}

// Turn is one reply: its blocks in the order of the fields.
type Turn struct {
	Thinking string
	Text     string
	Calls    []Call
	// Stop is the stop reason; "" means tool_use or end_turn, as fits.
	Stop string
	// Usage is what the turn is said to cost; nil means 10 tokens in and 5 out.
	Usage *Usage

	// Status, Headers, Kind and Message are an HTTP error in place of a reply, in the
	// API's form; Body is sent as it is instead.
	Status  int
	Headers map[string]string
	Kind    string // such as overloaded_error
	Message string
	Body    string

	// CutAfter drops the connection after so many events of the stream; a reply
	// without a stream is dropped whole.
	CutAfter *int
	// Times bounds how often a fault (Status, CutAfter) happens in one session; then
	// the rest of the turn is served. 0 is always.
	Times int

	DelayMS int // before the answer
	HoldMS  int // before the end of the stream

	// Make computes the turn from the request; the other fields are not used.
	Make func(*Request) Turn
}

// Call is a tool call.
type Call struct {
	ID    string // "" makes one
	Name  string
	Input any // makes a JSON object
}

// Usage counts tokens as the API does.
type Usage struct {
	In         int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Out        int `json:"output_tokens"`
}

// Say is a turn with a text.
func Say(text string) Turn { return Turn{Text: text} }

// Use is a turn with one tool call.
func Use(name string, input any) Turn { return Turn{Calls: []Call{{Name: name, Input: input}}} }
