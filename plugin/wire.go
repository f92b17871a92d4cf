package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/rpc"
	"os"
	"runtime/debug"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
)

// Name is the name under which a harness is dispensed.
const Name = "harness"

// Handshake is what both ends must agree on. The cookie keeps people from
// starting a harness by hand; it is no protection.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   "CLEARBOX_HARNESS",
		MagicCookieValue: "a-harness-is-started-by-its-host",
	}
}

// PluginMap is what a host gives to go-plugin's client. Dispensing [Name] gives
// a [*Client].
func PluginMap() goplugin.PluginSet {
	return goplugin.PluginSet{Name: &bridge{}}
}

// bridge joins this package to go-plugin. A new server object is asked for at
// each connection, and all of them are the same one.
type bridge struct{ server *server }

func (b *bridge) Server(*goplugin.MuxBroker) (any, error) {
	if b.server == nil {
		return nil, errors.New("this end only hosts harnesses")
	}
	return b.server, nil
}

func (b *bridge) Client(_ *goplugin.MuxBroker, c *rpc.Client) (any, error) {
	return &Client{rpc: c, Heartbeat: defaultHeartbeat}, nil
}

// Request is what every method of the wire takes; each uses some of its fields.
// It is exported for net/rpc and for tests of harnesses; authors need it never.
// Only plain structs cross, and gob keeps no difference between a pointer to
// zero and none: what has such pointers crosses as JSON.
type Request struct {
	Run      string        // Next, Answer, Stop, Release
	Task     Task          // Start
	Profile  Profile       // Check
	Connect  bool          // Check
	Timeout  time.Duration // Info, Check: how long the host waits; 0: for ever
	After    int64         // Next: acknowledges all up to it, gives what is newer
	Max      int           // Next: at most so many events, 0 and more than 128 mean 128
	Wait     time.Duration // Next: how long to wait for something new, at most 10 s
	Known    []string      // Next: ids of the open questions that the host has
	Question string        // Answer: id
	Answer   Answer        // Answer
}

// Reply is what every method of the wire gives.
type Reply struct {
	Err       *Error
	Info      Info
	Report    []byte     // Check: a Report as JSON
	Events    []Event    // Next
	Questions []Question // Next: open ones that are not in Known
	Open      []string   // Next: ids of all open questions
	Done      bool       // Next: the last event is in Events, and Result is set
	Result    []byte     // Next: a Result as JSON
	Taken     bool       // Answer: the harness still waited for it
}

// server answers the wire's methods. It is shared by all connections.
type server struct {
	harness Harness
	runs    *table
}

// Info gives the description of the harness.
func (s *server) Info(req Request, rep *Reply) error {
	ctx, cancel := limited(req.Timeout)
	defer cancel()
	rep.Err = guard(func() (err error) {
		rep.Info, err = s.harness.Info(ctx)
		if len(rep.Info.Settings) == 0 {
			rep.Info.Settings = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		return err
	})
	return nil
}

// Check asks the harness about a profile.
func (s *server) Check(req Request, rep *Reply) error {
	ctx, cancel := limited(req.Timeout)
	defer cancel()
	rep.Err = guard(func() error {
		report, err := s.harness.Check(ctx, req.Profile, req.Connect)
		rep.Report = encode(checkedReport(report))
		return err
	})
	return nil
}

// Start starts a run and returns at once. Starting one again changes nothing, so
// a host that did not hear the answer may ask twice.
func (s *server) Start(req Request, rep *Reply) error {
	rep.Err = guard(func() error { return s.runs.start(s.harness, req.Task) })
	return nil
}

// Next gives the events after a number, and with the last of them the result.
func (s *server) Next(req Request, rep *Reply) error {
	rep.Err = guard(func() error {
		r, err := s.runs.get(req.Run)
		if err != nil {
			return err
		}
		b, err := r.next(context.Background(), ask{req.After, req.Max, req.Wait, req.Known})
		rep.Events, rep.Questions, rep.Open, rep.Done = b.events, b.questions, b.open, b.done
		if b.done {
			rep.Result = encodeResult(b.result)
		}
		return err
	})
	return nil
}

// Answer gives the answer to an open question.
func (s *server) Answer(req Request, rep *Reply) error {
	rep.Err = guard(func() error {
		r, err := s.runs.get(req.Run)
		if err == nil {
			rep.Taken = r.journal.answer(req.Question, req.Answer)
		}
		return err
	})
	return nil
}

// Stop asks a run to end. One that comes before its Start holds.
func (s *server) Stop(req Request, rep *Reply) error {
	rep.Err = guard(func() error { s.runs.stop(req.Run); return nil })
	return nil
}

// Release says that the host will not come back to a run.
func (s *server) Release(req Request, rep *Reply) error {
	rep.Err = guard(func() error { return s.runs.release(req.Run) })
	return nil
}

// guard makes a value of an error and of a panic, which would end the process.
func guard(f func() error) (out *Error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic in a harness: %v\n%s", p, debug.Stack())
			out = &Error{KindPanic, clean(fmt.Sprintf("the harness panicked: %v", p))}
		}
	}()
	err := f()
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return &Error{e.Kind, clean(err.Error())}
	}
	return &Error{KindInternal, clean(err.Error())}
}

func limited(d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), d)
}

func checkedReport(r Report) Report {
	r.Detail = cutJSON(clean(r.Detail), 64<<10)
	r.Credential, r.Field = clean(r.Credential), clean(r.Field)
	r.BaseURL = clean(r.BaseURL)
	if r.ModelsSample == nil {
		r.ModelsSample = []string{}
	}
	for i, m := range r.ModelsSample {
		r.ModelsSample[i] = clean(m)
	}
	return r
}
