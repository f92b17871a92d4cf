package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// streamPace is how often a stream writes.
type streamPace struct {
	ping  time.Duration // a sign of life when nothing happens
	gap   time.Duration // the least time between two writes; what happens meanwhile goes out at once
	write time.Duration // a reader that does not take a write in this time is dropped
}

var usualPace = streamPace{ping: 15 * time.Second, gap: 10 * time.Millisecond, write: 30 * time.Second}

// stream sends committed changes as server-sent events until the client leaves,
// takes nothing any more, or the server ends. A client that comes back with the
// id of the last message gets what it missed, or is told to read anew.
func (s *server) stream(c echo.Context) error {
	root, err := s.streamRoot(c)
	if err != nil {
		return err
	}
	sub, lost, err := s.subscribe(c, root)
	if err != nil {
		return err
	}
	out := openStream(c, s.pace)
	defer out.end()
	if out.send(s.greeting(sub, lost)) != nil {
		return nil
	}
	s.follow(c.Request().Context(), root, sub, out)
	return nil
}

// greeting is what a stream begins with: its id is where a client resumes that
// leaves before anything happens.
func (s *server) greeting(sub *engine.Subscription, lost bool) []byte {
	b := append([]byte("event: hello\nid: "), strconv.FormatInt(sub.Cursor(), 10)...)
	b = append(appendText(append(b, "\ndata: {\"app\":\"clearbox\",\"version\":"...), s.opts.Version), "}\n\n"...)
	if lost {
		b = append(b, resync(sub.Cursor())...)
	}
	return b
}

// streamRoot returns the tree that a stream is limited to, 0 for all.
func (s *server) streamRoot(c echo.Context) (plan.PlanID, error) {
	text := c.QueryParam("plan")
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, plan.Errorf(plan.Malformed, "plan must be a whole number, not %s", clip(strconv.Quote(text)))
	}
	return s.engine.RootOf(c.Request().Context(), plan.PlanID(id))
}

// subscribe begins where the client says that it was. lost is true when that is
// no place in this server's history.
func (s *server) subscribe(c echo.Context, root plan.PlanID) (sub *engine.Subscription, lost bool, err error) {
	now := s.engine.Subscribe(root, -1)
	after, fromHeader := c.QueryParam("after"), false
	if id := c.Request().Header.Get("Last-Event-ID"); id != "" {
		after, fromHeader = id, true // a reconnecting browser keeps its first URL
	}
	if after == "" {
		return now, false, nil
	}
	seq, err := strconv.ParseInt(after, 10, 64)
	switch {
	case err != nil && !fromHeader:
		return nil, false, plan.Errorf(plan.Malformed, "after must be a whole number, not %s", clip(strconv.Quote(after)))
	case err != nil || seq < 0 || seq > now.Cursor():
		return now, true, nil
	}
	return s.engine.Subscribe(root, seq), false, nil
}

// follow passes changes on until that ends.
func (s *server) follow(ctx context.Context, root plan.PlanID, sub *engine.Subscription, out *sseWriter) {
	s.readers.Add(1)
	defer s.readers.Add(-1)
	for out.pause(ctx, s.gap()) {
		wait, cancel := context.WithTimeout(ctx, s.pace.ping)
		changes, err := sub.Next(wait)
		cancel()
		switch {
		case err == nil:
			err = out.send(s.sent.encode(out.buffer(), changes))
		case errors.Is(err, engine.ErrResync):
			sub = s.engine.Subscribe(root, -1)
			err = out.send([]byte(resync(sub.Cursor())))
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			// An id without data moves the place from which a client resumes.
			err = out.send([]byte(": ping\nid: " + strconv.FormatInt(sub.Cursor(), 10) + "\n\n"))
		}
		if err != nil {
			return
		}
	}
}

// gap is the least time between two writes to a reader. It grows with their number:
// a hundred of them, each written to a hundred times a second, would have the
// processor do little else.
func (s *server) gap() time.Duration {
	return s.pace.gap * time.Duration(1+min(s.readers.Load()/50, 2))
}

func resync(at int64) string {
	return "id: " + strconv.FormatInt(at, 10) + "\ndata: {\"type\":\"resync\"}\n\n"
}

// encode appends the messages of a batch. Of several messages that say
// the same only the last one is sent: that a plan changed, what a step's tokens
// are.
func (m *sentEvents) encode(b []byte, changes []plan.Change) []byte {
	type subject struct {
		ref  plan.Ref
		kind plan.ChangeKind
	}
	var last map[subject]int64
	about := func(c *plan.Change) (subject, bool) {
		switch {
		case c.Kind == plan.ChangeTokens:
			return subject{c.Ref(), c.Kind}, true
		case c.Kind == plan.ChangeNode || c.Kind == plan.ChangePlan && !c.Deleted:
			return subject{plan.Ref{Plan: c.Plan}, plan.ChangePlan}, true
		}
		return subject{}, false
	}
	for i := range changes {
		if what, ok := about(&changes[i]); ok {
			if last == nil {
				last = make(map[subject]int64)
			}
			last[what] = changes[i].Seq
		}
	}
	for i := range changes {
		c := &changes[i]
		if what, ok := about(c); ok && last[what] != c.Seq {
			continue
		}
		b = m.append(b, c)
	}
	return b
}

// encodeChange appends one message. It is written by hand because a busy server
// does it a hundred thousand times a second.
func encodeChange(b []byte, c *plan.Change) []byte {
	start := len(b)
	b = append(b, "id: "...)
	b = strconv.AppendInt(b, c.Seq, 10)
	b = append(b, "\ndata: {\"type\":\""...)
	switch c.Kind {
	case plan.ChangePlan, plan.ChangeNode:
		b = append(b, "plan\""...)
		b = appendIDs(b, c, "plan_id", "root_id")
		if c.Deleted && c.Kind == plan.ChangePlan {
			b = append(b, ",\"deleted\":true"...)
		}
	case plan.ChangeEvent:
		b = append(b, "event\",\"event\":"...)
		b = appendEvent(b, c.Event)
	case plan.ChangeTokens:
		b = append(b, "tokens\""...)
		b = appendIDs(b, c, "plan_id", "node_id")
		b = appendCount(b, "tokens_in", c.TokensIn)
		b = appendCount(b, "tokens_out", c.TokensOut)
	case plan.ChangeAgents:
		b = append(b, "agents\""...)
	case plan.ChangeQuestion:
		b = append(b, "question\""...)
		b = appendIDs(b, c, "plan_id", "node_id", "root_id")
	case plan.ChangeHarness:
		b = append(b, "harnesses\""...)
	default:
		return b[:start]
	}
	return append(b, "}\n\n"...)
}

func appendIDs(b []byte, c *plan.Change, names ...string) []byte {
	for _, name := range names {
		id := int64(c.Plan)
		switch name {
		case "node_id":
			id = int64(c.Node)
		case "root_id":
			id = int64(c.Root)
		}
		b = appendCount(b, name, &id)
	}
	return b
}

func appendCount(b []byte, name string, n *int64) []byte {
	b = append(append(append(b, ",\""...), name...), "\":"...)
	if n == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *n, 10)
}

// appendEvent writes a transcript entry as encoding/json would. Line ends can
// only stand between the tokens of its data; a message must have none.
func appendEvent(b []byte, e *plan.Event) []byte {
	b = append(b, "{\"id\":"...)
	b = strconv.AppendInt(b, e.ID, 10)
	of, node := int64(e.PlanID), int64(e.NodeID)
	b = appendCount(b, "plan_id", &of)
	b = appendCount(b, "node_id", &node)
	b = append(b, ",\"ts\":"...)
	b = strconv.AppendFloat(b, float64(e.At), 'f', -1, 64)
	b = append(b, ",\"kind\":"...)
	b = appendText(b, e.Kind)
	b = append(b, ",\"data\":"...)
	if len(e.Data) == 0 {
		return append(b, "null}"...)
	}
	if bytes.IndexByte(e.Data, '\n') >= 0 || bytes.IndexByte(e.Data, '\r') >= 0 {
		var flat bytes.Buffer
		if json.Compact(&flat, e.Data) == nil {
			return append(append(b, flat.Bytes()...), '}')
		}
	}
	return append(append(b, e.Data...), '}')
}

// appendText writes a string as JSON.
func appendText(b []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		plain = plain && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\'
	}
	if plain {
		return append(append(append(b, '"'), s...), '"')
	}
	quoted, _ := json.Marshal(s) // a string always encodes
	return append(b, quoted...)
}

// sseWriter writes to one reader of a stream.
type sseWriter struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	pace  streamPace
	buf   []byte
	sent  time.Time
	timer *time.Timer
}

// openStream begins an answer that goes on until its handler returns.
func openStream(c echo.Context, pace streamPace) *sseWriter {
	w := c.Response()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	out := &sseWriter{w: w, ctl: http.NewResponseController(w), pace: pace}
	_ = out.ctl.SetReadDeadline(time.Time{}) // where it is not supported there is none
	w.WriteHeader(http.StatusOK)
	return out
}

func (o *sseWriter) end() {
	_ = o.ctl.SetWriteDeadline(time.Time{}) // the connection may serve another request
}

// buffer returns an empty buffer for the next send.
func (o *sseWriter) buffer() []byte {
	const keep = 1 << 20
	if cap(o.buf) > keep {
		o.buf = nil
	}
	return o.buf[:0]
}

// send writes one block. It fails when the reader is gone or does not read.
func (o *sseWriter) send(block []byte) error {
	o.buf = block
	if len(block) == 0 {
		return nil
	}
	_ = o.ctl.SetWriteDeadline(time.Now().Add(o.pace.write))
	if _, err := o.w.Write(block); err != nil {
		return err
	}
	o.sent = time.Now()
	return o.ctl.Flush()
}

// pause waits where the last write was only just now, so that on a busy server
// many changes go out in one; false means that the reader left meanwhile.
func (o *sseWriter) pause(ctx context.Context, gap time.Duration) bool {
	rest := gap - time.Since(o.sent)
	if rest <= 0 {
		return ctx.Err() == nil
	}
	if o.timer == nil {
		o.timer = time.NewTimer(rest)
	} else {
		o.timer.Reset(rest)
	}
	select {
	case <-o.timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
