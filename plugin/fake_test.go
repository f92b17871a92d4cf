package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a harness made of functions.
type fake struct {
	run   func(ctx context.Context, t Task, h Host) (Result, error)
	info  func() (Info, error)
	check func(ctx context.Context, p Profile, connect bool) (Report, error)
}

func (f fake) Info(context.Context) (Info, error) {
	if f.info == nil {
		return Info{Slug: "fake"}, nil
	}
	return f.info()
}

func (f fake) Check(ctx context.Context, p Profile, connect bool) (Report, error) {
	if f.check == nil {
		return Report{OK: true}, nil
	}
	return f.check(ctx, p, connect)
}

func (f fake) Run(ctx context.Context, t Task, h Host) (Result, error) { return f.run(ctx, t, h) }

func running(f func(ctx context.Context, h Host) (Result, error)) fake {
	return fake{run: func(ctx context.Context, _ Task, h Host) (Result, error) { return f(ctx, h) }}
}

// recorder is a sink that keeps everything.
type recorder struct {
	push   func(batch []Event) error
	answer func(ctx context.Context, q Question) (Answer, error)

	mu       sync.Mutex
	events   []Event
	asked    []Question
	answered []string
}

func (r *recorder) Push(_ context.Context, batch []Event) error {
	if r.push != nil {
		if err := r.push(batch); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, batch...)
	return nil
}

func (r *recorder) Answer(ctx context.Context, q Question) (Answer, error) {
	r.mu.Lock()
	r.asked = append(r.asked, q)
	r.mu.Unlock()
	if r.answer == nil {
		<-ctx.Done()
		return Answer{}, ctx.Err()
	}
	return r.answer(ctx, q)
}

func (r *recorder) Answered(_ context.Context, q Question, a Answer, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = append(r.answered, fmt.Sprintf("%s allow=%t taken=%t", q.ID, a.Allow, taken))
}

// said are the events in short form: kind and text.
func (r *recorder) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		text, _ := DecodeText(e)
		out = append(out, strings.TrimSpace(e.Kind+" "+text))
	}
	return out
}

func (r *recorder) last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.events) == 0 {
		return 0
	}
	return r.events[len(r.events)-1].Seq
}

// inOrder checks that the events are numbered from first without a gap.
func (r *recorder) inOrder(t *testing.T, first int64) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range r.events {
		if e.Seq != first+int64(i) {
			t.Fatalf("event %d has the number %d, want %d", i, e.Seq, first+int64(i))
		}
	}
}

func aTask() Task { return Task{RunID: "r1", WorkDir: "/", Title: "a step"} }

func words(texts ...string) []string {
	for i, s := range texts {
		texts[i] = "text " + s
	}
	return texts
}

func emit(h Host, texts ...string) {
	for _, s := range texts {
		h.Emit(Text(s, ""))
	}
}

func number[T any](v T) *T { return &v }

var errDisk = errors.New("disk full")

// counted gives the texts n, n+1 … of a flood.
func counted(from, to int) []string {
	return slices.Collect(func(yield func(string) bool) {
		for i := from; i <= to; i++ {
			if !yield(fmt.Sprintf("text %d", i)) {
				return
			}
		}
	})
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// until polls; only for what real processes do.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
