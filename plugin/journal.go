package plugin

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Bounds of the events that wait for acknowledgement. A run that is ahead of
// its host by more waits in Emit.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 16 << 20
)

// Bounds of one batch, so that an answer to Next is quick to carry and to store.
const (
	maxBatch      = 128
	maxBatchBytes = 4 << 20
	maxNextWait   = 10 * time.Second
)

// journal holds what a run has to tell: numbered events, open questions, the
// result. All connections of a process share it; nothing in it depends on who
// asks, so a host that comes back goes on where the last one stopped.
type journal struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	events   []Event       // not acknowledged, oldest first
	bytes    int           // of their data
	acked    int64
	last     int64 // number of the newest event
	dropped  int   // events that came too late to be kept
	asked    int   // questions so far
	open     []*pending
	result   *Result
	released bool // nobody will read any more
}

// pending is a question that waits for its answer.
type pending struct {
	q        Question
	deadline time.Time // zero: none
	reply    chan Answer
}

// batch is what one Next gives.
type batch struct {
	events    []Event
	questions []Question // those that the host does not know yet
	open      []string   // ids of all that wait for an answer
	done      bool       // events ends with the last one, and this is the result
	result    Result
}

// ask is what a host says in a Next.
type ask struct {
	after int64
	max   int
	wait  time.Duration
	known []string // questions that it has at hand
}

func newJournal() *journal { return &journal{changed: make(chan struct{})} }

// wake tells all who wait that something changed. The caller holds mu.
func (j *journal) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// push numbers and keeps e. It waits while the journal is full, until late is
// closed; then the event is dropped and counted.
func (j *journal) push(e Event, late <-chan struct{}) {
	for {
		j.mu.Lock()
		if j.released || j.result != nil {
			j.mu.Unlock()
			return
		}
		if j.room(len(e.Data)) {
			j.last++
			e.Seq = j.last
			j.events = append(j.events, e)
			j.bytes += len(e.Data)
			j.wake()
			j.mu.Unlock()
			return
		}
		changed := j.changed
		j.mu.Unlock()
		select {
		case <-changed:
		case <-late:
			j.mu.Lock()
			j.dropped++
			j.mu.Unlock()
			return
		}
	}
}

func (j *journal) room(size int) bool {
	return len(j.events) == 0 || len(j.events) < maxWaiting && j.bytes+size <= maxWaitingBytes
}

// finish records how the run ended.
func (j *journal) finish(r Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dropped > 0 {
		r.Errors = append(r.Errors, fmt.Sprintf("%d events after the stop are missing: nobody took them", j.dropped))
	}
	j.result = &r
	j.wake()
}

// release lets go of everything that waits.
func (j *journal) release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.released = true
	j.events, j.bytes = nil, 0
	j.wake()
}

func (j *journal) isReleased() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.released
}

// next acknowledges everything up to a.after and waits for something newer.
func (j *journal) next(ctx context.Context, a ask) (batch, error) {
	timer := time.NewTimer(min(max(a.wait, 0), maxNextWait))
	defer timer.Stop()
	for {
		j.mu.Lock()
		b, news, err := j.take(a)
		changed := j.changed
		j.mu.Unlock()
		if err != nil || news {
			return b, err
		}
		select {
		case <-changed:
		case <-timer.C:
			return b, nil
		case <-ctx.Done():
			return b, ctx.Err()
		}
	}
}

// take returns what there is for a now, and whether that is worth an answer.
func (j *journal) take(a ask) (b batch, news bool, err error) {
	if a.after < j.acked || a.after > j.last {
		return b, false, &Error{KindGone, fmt.Sprintf(
			"asked for the events after %d, but those up to %d were acknowledged and the newest is %d", a.after, j.acked, j.last)}
	}
	j.acknowledge(a.after)
	b.events = j.first(a.max)
	for _, p := range j.open {
		b.open = append(b.open, p.q.ID)
		if !slices.Contains(a.known, p.q.ID) {
			b.questions = append(b.questions, p.now())
		}
	}
	if j.result != nil && len(b.events) == len(j.events) {
		b.done, b.result = true, *j.result
	}
	withdrawn := slices.ContainsFunc(a.known, func(id string) bool { return !slices.Contains(b.open, id) })
	news = len(b.events) > 0 || len(b.questions) > 0 || b.done || withdrawn
	return b, news, nil
}

func (j *journal) acknowledge(after int64) {
	n := int(after - j.acked)
	if n == 0 {
		return
	}
	j.acked = after
	n = min(n, len(j.events)) // fewer only after a release
	for _, e := range j.events[:n] {
		j.bytes -= len(e.Data)
	}
	j.events = slices.Delete(j.events, 0, n)
	j.wake()
}

// first returns the oldest events, at least one if there is any.
func (j *journal) first(most int) []Event {
	if most <= 0 || most > maxBatch {
		most = maxBatch
	}
	n, size := 0, 0
	for n < len(j.events) && n < most {
		size += len(j.events[n].Data)
		if n > 0 && size > maxBatchBytes {
			break
		}
		n++
	}
	return slices.Clone(j.events[:n])
}

// now is the question with the time that is left for it.
func (p *pending) now() Question {
	q := p.q
	if !p.deadline.IsZero() {
		q.Timeout = max(time.Until(p.deadline), time.Millisecond)
	}
	return q
}

// pose opens a question and gives it an id when it has none.
func (j *journal) pose(q Question) (*pending, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked++
	if q.ID == "" {
		q.ID = fmt.Sprintf("q%d", j.asked)
	}
	if slices.ContainsFunc(j.open, func(p *pending) bool { return p.q.ID == q.ID }) {
		return nil, fmt.Errorf("ask: a question with the id %q is open already", q.ID)
	}
	p := &pending{q: q, reply: make(chan Answer, 1)}
	if q.Timeout > 0 {
		p.deadline = time.Now().Add(q.Timeout)
	}
	j.open = append(j.open, p)
	j.wake()
	return p, nil
}

// answer gives a to the question, and says whether it was still open.
func (j *journal) answer(id string, a Answer) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.open, func(p *pending) bool { return p.q.ID == id })
	if i < 0 {
		return false
	}
	j.open[i].reply <- a
	j.open = slices.Delete(j.open, i, i+1)
	j.wake()
	return true
}

// withdraw closes a question; false means that its answer is in p.reply.
func (j *journal) withdraw(p *pending) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.Index(j.open, p)
	if i < 0 {
		return false
	}
	j.open = slices.Delete(j.open, i, i+1)
	j.wake()
	return true
}
