package plan

import (
	"errors"
	"fmt"
)

// ErrorKind classifies an error for programs; its text is for people.
type ErrorKind string

// The kinds of errors. Each door maps them once: REST to a status, MCP to a
// tool error.
const (
	Malformed   ErrorKind = "malformed"   // the request cannot be read: wrong type, unknown field
	Invalid     ErrorKind = "invalid"     // a rule is broken
	NotFound    ErrorKind = "not_found"   // no such plan, node, profile …
	Conflict    ErrorKind = "conflict"    // a stale revision, or a lost race
	Denied      ErrorKind = "denied"      // this actor may not
	Unavailable ErrorKind = "unavailable" // the host cannot do it now
	Internal    ErrorKind = "internal"    // our fault; the text stays in the log
)

// Error is an error with a kind. Msg is a full sentence for the caller that
// names the field and the rule; Err is the cause, for the log.
type Error struct {
	Kind ErrorKind
	Msg  string
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error of the kind with a formatted message.
func Errorf(kind ErrorKind, format string, args ...any) error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of an error, looking through wrapping. An error that
// has none is Internal, no error has the empty kind.
func KindOf(err error) ErrorKind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// MessageOf returns the sentence for the caller. For internal errors that is a
// general one: their text may hold what is none of the caller's business.
func MessageOf(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Kind != Internal {
		return e.Msg
	}
	return "internal error; the server's log has the details"
}

// Problems collects everything that is wrong with one request, so that the
// caller hears it all at once.
type Problems struct{ list []string }

// Addf adds one problem.
func (p *Problems) Addf(format string, args ...any) {
	p.list = append(p.list, fmt.Sprintf(format, args...))
}

// Add adds the message of err, if there is one.
func (p *Problems) Add(err error) {
	if err != nil {
		p.list = append(p.list, MessageOf(err))
	}
}

// List returns what is wrong, one by one.
func (p *Problems) List() []string { return p.list }

// Len returns the number of problems.
func (p *Problems) Len() int { return len(p.list) }

// Err returns nil when there are no problems, else one Invalid error: the
// headline, then a bullet for each problem.
func (p *Problems) Err(headline string) error {
	if len(p.list) == 0 {
		return nil
	}
	msg := headline
	for _, s := range p.list {
		msg += "\n- " + s
	}
	return &Error{Kind: Invalid, Msg: msg}
}
