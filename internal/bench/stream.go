package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// subscriber follows a stream as a browser does: when the connection is lost it
// comes back with the id of the last message.
type subscriber struct {
	events  []int64 // ids of the transcript entries, in the order in which they came
	kinds   map[string]*arrivals
	resyncs int // times that it was told that something is lost
	returns int
	delays  []float64 // milliseconds from an entry's moment to its arrival

	last   []byte // id of the last message
	newest atomic.Int64
}

// arrivals say when the entries of one kind came.
type arrivals struct {
	n           int
	first, last time.Time
}

// rate is how many a second came between the first and the last.
func (a *arrivals) rate() float64 { return rate(a.n-1, a.last.Sub(a.first)) }

// audience is a number of subscribers of one stream.
type audience struct {
	subs   []*subscriber
	cancel context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	err    error
}

// subscribe lets n subscribers follow a path and returns when all of them do.
func (s *server) subscribe(ctx context.Context, n int, path string) (*audience, error) {
	ctx, cancel := context.WithCancel(ctx)
	a := &audience{cancel: cancel}
	var greeted sync.WaitGroup
	greeted.Add(n)
	for range n {
		sub := &subscriber{kinds: map[string]*arrivals{}}
		a.subs = append(a.subs, sub)
		a.wait.Go(func() {
			once := sync.OnceFunc(greeted.Done)
			defer once()
			a.note(sub.follow(ctx, s, path, once))
		})
	}
	greeted.Wait()
	if err := a.failed(); err != nil {
		return nil, errors.Join(err, a.end())
	}
	return a, nil
}

func (a *audience) failed() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *audience) note(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
}

// end lets go of all subscribers and returns the first trouble that one had. What
// they have seen may be read then.
func (a *audience) end() error {
	a.cancel()
	a.wait.Wait()
	return a.failed()
}

// reach waits until every subscriber has seen an event, or nothing has come to
// the slowest for a while.
func (a *audience) reach(ctx context.Context, id int64) error {
	const patience = 15 * time.Second
	slowest, since := int64(-1), time.Now()
	for {
		now := a.slowest()
		if now >= id || time.Since(since) > patience {
			return ctx.Err()
		}
		if now != slowest {
			slowest, since = now, time.Now()
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

func (a *audience) slowest() int64 {
	least := a.subs[0].newest.Load()
	for _, s := range a.subs[1:] {
		least = min(least, s.newest.Load())
	}
	return least
}

// lost counts, over all subscribers, the events that did not come, came twice or
// came out of order. want has the ids that were stored, ascending.
func (a *audience) lost(want []int64) int {
	n := 0
	for _, s := range a.subs {
		n += differences(want, s.events)
	}
	return n
}

// differences counts what is in only one of two lists, of which the first is
// ascending, and what stands in the second out of order.
func differences(want, got []int64) int {
	n, i := 0, 0
	for _, id := range got {
		for i < len(want) && want[i] < id {
			n, i = n+1, i+1
		}
		if i < len(want) && want[i] == id {
			i++
		} else {
			n++
		}
	}
	return n + len(want) - i
}

// follow reads messages until ctx ends.
func (s *subscriber) follow(ctx context.Context, from *server, path string, greeted func()) error {
	for {
		res, err := from.stream(ctx, path, string(s.last))
		if err == nil {
			err = s.read(res.Body, greeted)
			res.Body.Close()
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("follow a stream: %w", err)
		}
		s.returns++
	}
}

// read reads messages until the connection ends.
func (s *subscriber) read(from io.Reader, greeted func()) error {
	lines := bufio.NewReaderSize(from, 256<<10)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("a line of a stream is longer than %d bytes", 256<<10)
		case err != nil:
			return nil // the connection is gone; the caller knows whether that was wanted
		}
		s.line(bytes.TrimRight(line, "\r\n"))
		greeted()
	}
}

// line reads one line of a stream.
func (s *subscriber) line(line []byte) {
	if id, ok := after(line, "id: "); ok {
		s.last = append(s.last[:0], id...)
		return
	}
	data, ok := after(line, `data: {"type":"`)
	if !ok {
		return
	}
	if _, ok := after(data, `resync"`); ok {
		s.resyncs++
	}
	if entry, ok := after(data, `event"`); ok {
		id, _ := strconv.ParseInt(string(s.last), 10, 64)
		s.events = append(s.events, id)
		s.count(entry)
		s.newest.Store(id)
	}
}

// after returns what follows a prefix.
func after(line []byte, prefix string) ([]byte, bool) {
	if len(line) < len(prefix) || string(line[:len(prefix)]) != prefix {
		return nil, false
	}
	return line[len(prefix):], true
}

// count notes the arrival of a transcript entry.
func (s *subscriber) count(entry []byte) {
	_, rest, _ := bytes.Cut(entry, []byte(`"kind":"`))
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	now := time.Now()
	a := s.kinds[string(kind)]
	if a == nil {
		a = &arrivals{first: now}
		s.kinds[string(kind)] = a
	}
	a.n++
	a.last = now
	if ms, ok := delayOf(entry, now); ok {
		s.delays = append(s.delays, ms)
	}
}
