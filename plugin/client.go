package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/rpc"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
)

const (
	defaultHeartbeat = 10 * time.Second
	defaultCheck     = time.Minute // for a Check whose context has no deadline
	nextWait         = time.Second
)

// Client is the host's end of a harness process. It is safe for concurrent use.
type Client struct {
	// Heartbeat is how much longer than agreed a call may take before the harness
	// is taken for hung, and its calls return [ErrLost]. Set it before use.
	Heartbeat time.Duration

	rpc *rpc.Client
}

// NewClient dispenses the harness of a connected go-plugin client.
func NewClient(p goplugin.ClientProtocol) (*Client, error) {
	raw, err := p.Dispense(Name)
	if err != nil {
		return nil, fmt.Errorf("dispense the harness: %w", err)
	}
	c, ok := raw.(*Client)
	if !ok {
		return nil, fmt.Errorf("dispense the harness: got a %T; was the client made with PluginMap?", raw)
	}
	return c, nil
}

// Info asks what the harness is.
func (c *Client) Info(ctx context.Context) (Info, error) {
	rep, err := c.call(ctx, "Info", Request{Timeout: c.Heartbeat}, c.Heartbeat)
	return rep.Info, err
}

// Check asks whether a profile would work. Without a deadline of ctx it takes at
// most a minute; the harness is told how long it has.
func (c *Client) Check(ctx context.Context, p Profile, connect bool) (Report, error) {
	limit := defaultCheck
	if d, ok := ctx.Deadline(); ok {
		limit = time.Until(d)
	}
	req := Request{Profile: p, Connect: connect, Timeout: max(limit, time.Millisecond)}
	rep, err := c.call(ctx, "Check", req, limit+c.Heartbeat)
	if err != nil {
		return Report{}, err
	}
	var r Report
	if err := json.Unmarshal(rep.Report, &r); err != nil {
		return Report{}, fmt.Errorf("decode the harness's report: %w", err)
	}
	return r, nil
}

// Start starts a run. It may be repeated: a run that is there is left alone.
func (c *Client) Start(ctx context.Context, t Task) (Session, error) {
	t.LimitWrites = t.LimitWrites || t.Writable != nil
	if _, err := c.call(ctx, "Start", Request{Task: t}, c.Heartbeat); err != nil {
		return nil, err
	}
	return c.Attach(t.RunID), nil
}

// Attach gives the session of a run that was started before, perhaps by another
// host. Whether the process knows it shows at the first Follow.
func (c *Client) Attach(runID string) Session {
	return &session{end: &remote{c, runID}}
}

// Next asks for one batch as it comes over the wire, unchecked. Hosts use
// [Session.Follow]; this is for tests of harnesses.
func (c *Client) Next(ctx context.Context, req Request) (Reply, error) {
	return c.call(ctx, "Next", req, req.Wait+c.Heartbeat)
}

// Answer answers an open question of a run; taken is false when the harness does
// not wait for it any more. Follow does this with what [Sink] answers.
func (c *Client) Answer(ctx context.Context, runID, question string, a Answer) (taken bool, err error) {
	rep, err := c.call(ctx, "Answer", Request{Run: runID, Question: question, Answer: a}, c.Heartbeat)
	return rep.Taken, err
}

// call calls a method and waits for its reply at most limit. The call itself
// runs on, and ends with the connection.
func (c *Client) call(ctx context.Context, method string, req Request, limit time.Duration) (Reply, error) {
	var rep Reply
	done := make(chan error, 1)
	go func() { done <- c.rpc.Call("Plugin."+method, req, &rep) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil {
			return Reply{}, lost(method, err)
		}
		if rep.Err != nil {
			return rep, rep.Err
		}
		return rep, nil
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	case <-timer.C:
		return Reply{}, fmt.Errorf("%w: no answer to %s within %s", ErrLost, method, limit)
	}
}

// lost tells a broken connection from an answer that is an error.
func lost(method string, err error) error {
	var answered rpc.ServerError
	if errors.As(err, &answered) {
		return fmt.Errorf("call %s of the harness: %w", method, err)
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// remote is a run in another process.
type remote struct {
	c   *Client
	run string
}

func (r *remote) next(ctx context.Context, a ask) (batch, error) {
	rep, err := r.c.Next(ctx, Request{Run: r.run, After: a.after, Max: a.max, Wait: a.wait, Known: a.known})
	if err != nil {
		return batch{}, err
	}
	if err := received(rep.Events, a.after); err != nil {
		return batch{}, err
	}
	b := batch{events: rep.Events, questions: rep.Questions, open: rep.Open, done: rep.Done}
	if rep.Done {
		b.result, err = decodeResult(rep.Result)
		b.result = checkedResult(b.result)
	}
	return b, err
}

// received checks what came. A harness need not be built with this package, or
// not with this version of it.
func received(events []Event, after int64) error {
	for i, e := range events {
		if e.Seq != after+1+int64(i) {
			return fmt.Errorf("the harness broke the order of events: got number %d after %d", e.Seq, after+int64(i))
		}
		c, ok := checked(e)
		if !ok {
			c = Log("blank "+e.Kind+" event", "")
			c.At = e.At
		}
		c.Seq = e.Seq
		events[i] = c
	}
	return nil
}

func (r *remote) answer(ctx context.Context, id string, a Answer) (bool, error) {
	return r.c.Answer(ctx, r.run, id, a)
}

func (r *remote) stop(ctx context.Context) error {
	_, err := r.c.call(ctx, "Stop", Request{Run: r.run}, r.c.Heartbeat)
	return err
}

func (r *remote) release() error {
	_, err := r.c.call(context.Background(), "Release", Request{Run: r.run}, r.c.Heartbeat)
	if errors.Is(err, ErrLost) {
		return nil // then there is nothing left to let go of
	}
	return err
}
