package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// message is one message of the change stream.
type message struct {
	Type    string // plan event tokens agents question harnesses resync; hello and lost are of this program
	PlanID  int    `json:"plan_id"`
	RootID  int    `json:"root_id"`
	Deleted bool
	Event   struct {
		PlanID int `json:"plan_id"`
		NodeID int `json:"node_id"`
		TS     float64
		Kind   string
		Data   json.RawMessage
	}
}

// follower reads the change stream of one plan tree. When the connection is cut
// it comes back with the number of the last message, and so misses nothing.
type follower struct {
	client   *client
	plan     int
	patience time.Duration // how long it tries to come back
	last     string        // number of the last message
}

// A server sends a sign of life every 15 seconds.
const silence = 45 * time.Second

// errSilent is why a connection is given up that says nothing.
var errSilent = errors.New("it says nothing any more")

// run passes every message on, until each fails or the server does not come back.
func (f *follower) run(ctx context.Context, each func(message) error) error {
	pause, gone := time.Duration(0), time.Time{}
	for {
		heard, err := f.once(ctx, each)
		var stop stopped
		var no *refusal
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &stop):
			return stop.error
		case errors.As(err, &no) && no.status < 500:
			return err
		}
		if heard || gone.IsZero() {
			pause, gone = 20*time.Millisecond, time.Now()
		}
		if err := each(message{Type: "lost"}); err != nil {
			return err
		}
		if time.Since(gone) > f.patience {
			return fmt.Errorf("the server did not come back within %s: %w", f.patience, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, 2*time.Second)
	}
}

// stopped is the error of who is told the messages.
type stopped struct{ error }

// once reads one connection to its end. heard reports whether anything came.
func (f *follower) once(ctx context.Context, each func(message) error) (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	r, err := f.open(ctx)
	if err != nil {
		return false, err
	}
	defer r.Body.Close()
	in := bufio.NewReaderSize(r.Body, 64<<10)
	for {
		m, id, err := nextMessage(in)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return heard, fmt.Errorf("read the stream of %s: %w", f.client.base, err)
		}
		alarm.Reset(silence)
		heard = true
		if m.Type != "" {
			if err := each(m); err != nil {
				return true, stopped{err}
			}
		}
		if id != "" {
			f.last = id
		}
	}
}

func (f *follower) open(ctx context.Context) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, f.client.base+"/api/stream?plan="+strconv.Itoa(f.plan), nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "text/event-stream")
	if f.last != "" {
		q.Header.Set("Last-Event-ID", f.last)
	}
	if f.client.token != "" {
		q.Header.Set("Authorization", "Bearer "+f.client.token)
	}
	r, err := f.client.http.Do(q)
	if err != nil {
		return nil, f.client.unreachable(err)
	}
	if r.StatusCode != http.StatusOK {
		defer r.Body.Close()
		return nil, f.client.refusalOf(r)
	}
	return r, nil
}

// nextMessage reads one message; its type is empty for a sign of life.
func nextMessage(in *bufio.Reader) (m message, id string, err error) {
	var event, data string
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // half a message does not count
		}
		if err != nil {
			return message{}, "", err
		}
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && event == "hello":
			return message{Type: "hello"}, id, nil
		case line == "":
			if data != "" {
				err = json.Unmarshal([]byte(data), &m)
			}
			return m, id, err
		case name == "id":
			id = value
		case name == "event":
			event = value
		case name == "data":
			data += value
		}
	}
}
