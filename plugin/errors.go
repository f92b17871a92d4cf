package plugin

import "errors"

var (
	// ErrLost means that the harness is gone: its process ended, its connection
	// broke, or it hangs. What it had not handed over is lost.
	ErrLost = errors.New("the harness is gone")

	// ErrTimeout is what [Proc.Wait] returns for a program that was ended by its
	// time limit.
	ErrTimeout = errors.New("time limit reached")
)

// Kinds of [Error].
const (
	KindInvalid  = "invalid"   // the request breaks a rule that the text names
	KindNotFound = "not_found" // the process knows no such run
	KindGone     = "gone"      // the events asked for were acknowledged before, or never existed
	KindPanic    = "panic"     // the harness's code panicked
	KindInternal = "internal"  // the harness's own method returned an error
)

// Error is a refusal by a harness. It crosses the wire as a value, because
// net/rpc would flatten it to a string.
type Error struct {
	Kind string // one of KindInvalid …
	Text string
}

func (e *Error) Error() string { return e.Text }
