// Package plugin is the contract between Clearbox and an agent runtime (a
// harness): the only package that the author of a harness imports.
//
// A harness is an executable named harness-<slug>. It implements [Harness] and
// calls [Serve]; numbering of events, buffering, acknowledgement, re-attachment
// after a restart of Clearbox and shutdown are this package's business. One
// process serves one run, so a crash, a leak or a hang costs one step.
package plugin

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// ProtocolVersion is the version of the contract. A host lists a harness that
// was built for another version as refused and never runs it.
const ProtocolVersion = 1

// Harness runs agent sessions.
type Harness interface {
	// Info says what this harness is and can do. It must not depend on the
	// network or on settings and should return at once.
	Info(ctx context.Context) (Info, error)

	// Check says whether a profile would work on this machine. It spends no
	// tokens. Only with connect may it open network connections. A profile that
	// would not work is a Report with OK false; an error means that the check
	// itself could not be made.
	Check(ctx context.Context, p Profile, connect bool) (Report, error)

	// Run runs one agent session to its end. Everything that happens goes to
	// h.Emit. ctx ends when the run is stopped. A returned error becomes a failed
	// Result with the error's text.
	Run(ctx context.Context, t Task, h Host) (Result, error)
}

// Host is what a running session may ask of Clearbox.
type Host interface {
	// Emit adds one event to the transcript. It is safe for concurrent use. It
	// blocks while the buffer of unacknowledged events is full, and drops the
	// event once the run has been stopped for good. A blank text is dropped, what
	// is too long is cut, and an event that breaks the contract is replaced by a
	// log event that says how.
	Emit(e Event)

	// Ask puts a question before a person and waits for the answer, at most as
	// long as the question allows; then the answer is a refusal with a reason. An
	// error means that ctx or the run has ended.
	Ask(ctx context.Context, q Question) (Answer, error)

	// Command starts a program where this run may start one: the working
	// directory, a worktree or a sandbox; the harness does not know which. The
	// program is ended, with everything it started, when ctx or the run ends:
	// asked by SIGTERM, killed 2 seconds later. What it leaves in the background
	// lives until the run ends.
	Command(ctx context.Context, argv []string, x Exec) (Proc, error)
}

// Info describes a harness.
type Info struct {
	Slug         string // the name in harness-<slug>, e.g. "openai"
	Name         string // for people, e.g. "OpenAI-compatible"
	Version      string
	Capabilities []Capability // those it can enforce; empty means none can be enforced
	Features     Features

	// Settings is a JSON Schema (an object schema) of Profile.Params. The form on
	// the agents page is built from it and profiles are checked against it. As
	// bytes, since gob cannot tell null, 0 and false apart.
	Settings json.RawMessage
}

// Features says which optional powers a harness has.
type Features struct {
	MCP    bool // offers the tools of Task.MCPURL to its agent
	Resume bool // can continue Task.ResumeSession
	Ask    bool // asks permission questions through Host.Ask
	Usage  bool // reports tokens
	Cost   bool // reports money
	Model  bool // needs Profile.Model
}

// Capability is what a session may do, the same on every harness.
type Capability string

// The capabilities, each including what the rows before it may read.
const (
	Read Capability = "read" // read and search
	Run  Capability = "run"  // read, search, run commands
	Edit Capability = "edit" // read, search, edit files
	Full Capability = "full" // everything
)

// Profile is the public part of an agent profile, and the one secret that its
// harness needs. A harness must never put Secret into the arguments or the
// environment of anything that its agent can see.
type Profile struct {
	Name           string
	Model          string
	BaseURL        string
	KeyEnv         string // name of the environment variable that Secret came from, "" when none
	Secret         string // the API key itself; "" when there is none
	Credential     string // where Secret came from, for reports: "env:NAME", "literal" or "none"
	Params         json.RawMessage
	Tools          json.RawMessage
	PermissionMode string
	SystemAppend   string
}

// Report is the outcome of a check, in words for a person. Its JSON names are
// those of POST /api/agents/{id}/test.
type Report struct {
	OK           bool     `json:"ok"`
	Detail       string   `json:"detail"`
	Credential   string   `json:"credential,omitempty"`
	BaseURL      string   `json:"base_url,omitempty"`
	Field        string   `json:"field,omitempty"` // the profile field or variable that is at fault
	Reachable    *bool    `json:"reachable"`       // nil: not tried
	ModelListed  *bool    `json:"model_listed"`    // nil: not known
	ModelsSample []string `json:"models_sample"`
}

// Task is one run: what to do, where, with what.
type Task struct {
	RunID    string // opaque; unique over all time
	PlanID   int64
	NodeID   int64 // 0 for runs about a whole plan
	Attempt  int   // number of this run within its node: 1, 2, 3 …
	Kind     string
	Title    string
	Prompt   string // arrives whole, whatever its size or first character
	System   string // role and limits, appended to the agent's own system text
	WorkDir  string // absolute
	RunDir   string // private folder (0700) of this run, for temporary files
	Profile  Profile
	Allowed  Capability
	TaskType string // "" or one of the task types; narrows Allowed

	// Writable lists the only paths, relative to WorkDir, that may be written.
	// Nil: no limit beyond Allowed. Empty but not nil: none.
	Writable      []string
	LimitWrites   bool // Writable counts (gob cannot tell nil from empty)
	MCPURL        string
	ResumeSession string // session to continue, "" for a new one
	Limits        Limits
	Speed         float64 // harness-mock: factor of the played delays; 0 means 1
}

// Limits bound one run. Zero means no limit. Wall is kept by this package: the
// run's context ends. The others are the harness's to keep where it can.
type Limits struct {
	MaxTokens  int64
	MaxCostUSD float64
	Wall       time.Duration
}

// Kind of an [Event].
const (
	KindSystem      = "system"
	KindText        = "text"
	KindThinking    = "thinking"
	KindToolUse     = "tool_use"
	KindToolResult  = "tool_result"
	KindError       = "error" // not fatal
	KindUsage       = "usage" // summed on the node, not in the transcript
	KindLog         = "log"
	KindRateLimited = "rate_limited"
	KindResult      = "result" // made by this package from the Result; last, exactly one
)

// MaxEventSize is the largest size of an event's data in bytes. Longer texts
// are cut by [Serve], with a mark that says how much is missing.
const MaxEventSize = 1 << 20

// Event is one transcript entry of a run. Make one with the constructors
// ([System], [Text], [ToolUse] …), which give the keys of the contract.
type Event struct {
	Seq  int64 // run_seq: 1, 2, 3 … within the run; set by Serve
	At   time.Time
	Kind string
	Data json.RawMessage // an object; valid UTF-8 without NUL
}

// Result is how a run ended. What a harness leaves empty is filled in where the
// events tell: text (the agent's last words, or the error), turns and tokens (from
// usage), session and model (from system events), duration and subtype. A run
// that is limited or hit by a transient fault is an error, too.
type Result struct {
	Text       string
	IsError    bool
	Errors     []string
	Subtype    string // e.g. "success", "error_max_turns"
	NumTurns   int
	DurationMS int64
	CostUSD    *float64 // nil: not known
	TokensIn   *int64
	TokensOut  *int64
	SessionID  string
	Model      string

	// RateLimited: the provider's limit was reached; the step waits and is run
	// again instead of failing. Until is when, zero when not known.
	RateLimited bool
	Until       time.Time

	// Transient: a fault that may go away by itself (overload, cut connection);
	// it is retried by the plan's policy and is not counted as an attempt.
	Transient bool
}

// Question is put before a person.
type Question struct {
	ID      string // set by Serve when empty
	Tool    string // what the agent wants to use, e.g. "Bash"
	Text    string // one line for a person
	Input   json.RawMessage
	Timeout time.Duration // 0: the host's default
}

// Answer to a [Question].
type Answer struct {
	Allow   bool
	Message string // said to the agent, e.g. why not
}

// Exec says how to start a program.
type Exec struct {
	Dir   string   // relative to the working directory; "" is the working directory
	Env   []string // added to the environment of the run, KEY=VALUE
	Stdin io.Reader
	// Stdout and Stderr are given whole, in order; nil discards. The same writer
	// for both merges them.
	Stdout, Stderr io.Writer
	Timeout        time.Duration // 0: none
}

// Proc is a started program.
type Proc interface {
	// Wait returns the exit code when the program and all its output have ended,
	// or 2 seconds after its end when something else still holds the output. A
	// program that a signal ended has 128 and the signal's number, as in a shell.
	// One that was ended by its time limit gives [ErrTimeout], by the end of its
	// context or of the run that context's error. It may be called repeatedly.
	Wait() (code int, err error)
	Pid() int
	Kill()
}

// Session is the host's end of one run, in another process or in this one.
type Session interface {
	// Follow gives s every event after a run_seq, in order, until the run ends,
	// and returns its result. [ErrLost] means that the harness is gone.
	Follow(ctx context.Context, after int64, s Sink) (Result, error)
	// Stop asks the run to end. It does not wait.
	Stop(ctx context.Context) error
	// Close lets go of the run: the host will not come back to it.
	Close() error
}

// Sink receives what a session tells. One that is also an [AnswerReporter] hears
// whether the harness took an answer.
type Sink interface {
	// Push stores a batch. Returning nil acknowledges it: the harness will not
	// send it again, and until then it sends nothing more.
	Push(ctx context.Context, batch []Event) error
	// Answer waits for a person's answer to a question. It runs beside Push, once
	// for each open question. ctx ends when the question is withdrawn or Follow
	// returns; an error then leaves the question open, any other refuses it.
	Answer(ctx context.Context, q Question) (Answer, error)
}
