package plugin

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// AnswerReporter is a [Sink] that wants to know what became of an answer.
type AnswerReporter interface {
	// Answered is called once after the answer a to q was handed over. taken is
	// false when the harness did not wait for it any more.
	Answered(ctx context.Context, q Question, a Answer, taken bool)
}

// end is the other end of a session: a run in another process or in this one.
type end interface {
	next(ctx context.Context, a ask) (batch, error)
	answer(ctx context.Context, id string, a Answer) (taken bool, err error)
	stop(ctx context.Context) error
	release() error
}

type session struct{ end end }

// Follow implements [Session]. Questions are put to s beside the events; when
// Follow returns, none of them is still with s. A question that was not answered
// by then comes again at the next Follow.
func (s *session) Follow(ctx context.Context, after int64, sink Sink) (Result, error) {
	q := newQuestions(ctx, s.end, sink)
	defer q.close()
	for ctx.Err() == nil {
		b, err := s.end.next(ctx, ask{after: after, max: maxBatch, wait: nextWait, known: q.known()})
		if err != nil {
			return Result{}, err
		}
		if len(b.events) > 0 {
			if err := sink.Push(ctx, b.events); err != nil {
				return Result{}, err
			}
			after = b.events[len(b.events)-1].Seq
		}
		if b.done {
			return b.result, nil
		}
		q.update(b.questions, b.open)
	}
	return Result{}, ctx.Err()
}

func (s *session) Stop(ctx context.Context) error { return s.end.stop(ctx) }

func (s *session) Close() error { return s.end.release() }

// questions puts what a harness asks before the sink, each in its own
// goroutine, and carries the answers back.
type questions struct {
	ctx    context.Context
	cancel context.CancelFunc
	end    end
	sink   Sink
	wg     sync.WaitGroup

	mu   sync.Mutex // guards open
	open map[string]context.CancelFunc
}

func newQuestions(ctx context.Context, e end, s Sink) *questions {
	ctx, cancel := context.WithCancel(ctx)
	return &questions{ctx: ctx, cancel: cancel, end: e, sink: s, open: map[string]context.CancelFunc{}}
}

// known are the questions at hand.
func (q *questions) known() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := make([]string, 0, len(q.open))
	for id := range q.open {
		ids = append(ids, id)
	}
	return ids
}

// update puts new questions and takes back those that are open no longer.
func (q *questions) update(fresh []Question, open []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, cancel := range q.open {
		if !slices.Contains(open, id) {
			cancel()
		}
	}
	for _, x := range fresh {
		if q.open[x.ID] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(q.ctx)
		q.open[x.ID] = cancel
		q.wg.Go(func() { q.put(ctx, x) })
	}
}

// put asks the sink and hands its answer over.
func (q *questions) put(ctx context.Context, x Question) {
	defer q.forget(x.ID)
	a, err := q.sink.Answer(ctx, x)
	if ctx.Err() != nil && err != nil {
		return // withdrawn, or the host leaves: then it stays open
	}
	if err != nil {
		a = Answer{Message: clean(fmt.Sprintf("The question could not be put before anyone: %v", err))}
	}
	a.Message = cutBytes(clean(a.Message), maxQuestion)
	ctx = context.WithoutCancel(q.ctx) // someone answered: that counts, even while Follow ends
	taken, err := q.end.answer(ctx, x.ID, a)
	if err != nil {
		return // Follow finds out why
	}
	if r, ok := q.sink.(AnswerReporter); ok {
		r.Answered(ctx, x, a, taken)
	}
}

func (q *questions) forget(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open[id]()
	delete(q.open, id)
}

func (q *questions) close() {
	q.cancel()
	q.wg.Wait()
}
