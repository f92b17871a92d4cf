package plugin

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFollowGivesAllEventsInOrderThenTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(_ context.Context, h Host) (Result, error) {
			h.Emit(System("session started", SessionInfo{SessionID: "s1", Model: "m1"}))
			for i := 1; i <= 1500; i++ {
				emit(h, fmt.Sprint(i))
			}
			return Result{Text: "done"}, nil
		}), aTask())
		defer s.Close()
		rec := &recorder{push: func(b []Event) error {
			if len(b) == 0 || len(b) > maxBatch {
				t.Errorf("a batch of %d events", len(b))
			}
			return nil
		}}
		res, err := s.Follow(t.Context(), 0, rec)
		if err != nil || res.Text != "done" || res.IsError || res.SessionID != "s1" || res.Model != "m1" || res.Subtype != "success" {
			t.Errorf("got %+v, %v", res, err)
		}
		rec.inOrder(t, 1)
		if diff := cmp.Diff(append([]string{"system session started"}, counted(1, 1500)...), rec.said()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAResultCanBeAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(_ context.Context, h Host) (Result, error) {
			emit(h, "a", "b")
			return Result{Text: "done"}, nil
		}), aTask())
		defer s.Close()
		synctest.Wait()
		for range 2 { // the host died before it recorded the result
			rec := &recorder{}
			if res, err := s.Follow(t.Context(), 0, rec); err != nil || res.Text != "done" {
				t.Errorf("got %+v, %v", res, err)
			}
			if diff := cmp.Diff(words("a", "b"), rec.said()); diff != "" {
				t.Error(diff)
			}
		}
		if res, err := s.Follow(t.Context(), 2, &recorder{}); err != nil || res.Text != "done" {
			t.Errorf("after all events: got %+v, %v", res, err)
		}
	})
}

func TestAFailedPushAcknowledgesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(_ context.Context, h Host) (Result, error) {
			emit(h, "a")
			time.Sleep(time.Second)
			emit(h, "b")
			time.Sleep(time.Second)
			emit(h, "c")
			return Result{}, nil
		}), aTask())
		defer s.Close()
		rec := &recorder{push: func(b []Event) error {
			if b[0].Seq == 2 {
				return errDisk
			}
			return nil
		}}
		if _, err := s.Follow(t.Context(), 0, rec); !errors.Is(err, errDisk) {
			t.Fatalf("got %v, want the error of Push", err)
		}
		rec.push = nil
		if _, err := s.Follow(t.Context(), rec.last(), rec); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(words("a", "b", "c"), rec.said()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEmitWaitsForTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emitted := 0
		s := Local(running(func(_ context.Context, h Host) (Result, error) {
			for range maxWaiting + 20 {
				emit(h, "x")
				emitted++
			}
			return Result{Text: "done"}, nil
		}), aTask())
		defer s.Close()
		synctest.Wait()
		if emitted != maxWaiting {
			t.Errorf("without a host %d events were taken, want %d", emitted, maxWaiting)
		}
		rec := &recorder{}
		if _, err := s.Follow(t.Context(), 0, rec); err != nil {
			t.Fatal(err)
		}
		rec.inOrder(t, 1)
		if got := len(rec.events); got != maxWaiting+20 {
			t.Errorf("got %d events, want %d", got, maxWaiting+20)
		}
	})
}

// Large events wait sooner than small ones.
func TestTheBufferIsBoundByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const want = maxWaitingBytes / MaxEventSize
		j, pushed := newJournal(), 0
		data := make([]byte, MaxEventSize)
		go func() {
			for range want + 2 {
				j.push(Event{Kind: KindText, Data: data}, nil)
				pushed++
			}
		}()
		synctest.Wait()
		if pushed != want {
			t.Errorf("without a host %d events were taken, want %d", pushed, want)
		}
		b, err := j.next(t.Context(), ask{})
		if err != nil || len(b.events) != maxBatchBytes/MaxEventSize {
			t.Errorf("got %d events, %v", len(b.events), err)
		}
		if _, err := j.next(t.Context(), ask{after: 2}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if pushed != want+2 {
			t.Errorf("when two were taken away %d events were taken, want %d", pushed, want+2)
		}
	})
}

func TestStopHoldsAgainstAFullBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(ctx context.Context, h Host) (Result, error) {
			for range maxWaiting + 10 {
				emit(h, "x")
			}
			return Result{}, ctx.Err()
		}), aTask())
		defer s.Close()
		synctest.Wait()
		s.Stop(t.Context())
		time.Sleep(lateAfter + time.Second)
		rec := &recorder{}
		res, err := s.Follow(t.Context(), 0, rec)
		if err != nil || len(rec.events) != maxWaiting {
			t.Errorf("got %d events, %v", len(rec.events), err)
		}
		if want := []string{"the run was stopped", "10 events after the stop are missing: nobody took them"}; !slices.Equal(res.Errors, want) {
			t.Errorf("got errors %q, want %q", res.Errors, want)
		}
	})
}

func TestEventsThatWereAcknowledgedCannotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(ctx context.Context, h Host) (Result, error) {
			emit(h, "a")
			time.Sleep(time.Second)
			emit(h, "b")
			return Result{}, nil
		}), aTask())
		defer s.Close()
		if _, err := s.Follow(t.Context(), 0, &recorder{}); err != nil {
			t.Fatal(err)
		}
		for _, after := range []int64{0, 7} {
			_, err := s.Follow(t.Context(), after, &recorder{})
			var e *Error
			if !errors.As(err, &e) || e.Kind != KindGone {
				t.Errorf("after %d: got %v, want an error of kind gone", after, err)
			}
		}
	})
}

func TestEveryRunHasExactlyOneResult(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(ctx context.Context, h Host) (Result, error)
		want Result
	}{
		{"nothing at all", func(context.Context, Host) (Result, error) { return Result{}, nil },
			Result{Subtype: "success"}},
		{"no text: the agent's last words", func(_ context.Context, h Host) (Result, error) {
			emit(h, "first", "last")
			h.Emit(Text("of a sub-agent", "t1"))
			return Result{}, nil
		}, Result{Text: "last", Subtype: "success"}},
		{"an error", func(context.Context, Host) (Result, error) { return Result{NumTurns: 3}, errors.New("no such model") },
			Result{Text: "no such model", IsError: true, Errors: []string{"no such model"}, Subtype: "error", NumTurns: 3}},
		{"an error with a subtype and text", func(context.Context, Host) (Result, error) {
			return Result{Text: "half", Subtype: "error_max_turns"}, errors.New("max_turns=2 reached")
		}, Result{Text: "half", IsError: true, Errors: []string{"max_turns=2 reached"}, Subtype: "error_max_turns"}},
		{"a failure without words", func(context.Context, Host) (Result, error) { return Result{IsError: true}, nil },
			Result{Text: "the run ended with an error that has no text", IsError: true, Subtype: "error"}},
		{"a limit is no success", func(context.Context, Host) (Result, error) {
			return Result{Text: "limit reached", RateLimited: true, Until: time.Unix(1e9, 0)}, nil
		}, Result{Text: "limit reached", IsError: true, Subtype: "error", RateLimited: true, Until: time.Unix(1e9, 0)}},
		{"a panic", func(context.Context, Host) (Result, error) { panic("boom") },
			Result{Text: "the harness panicked: boom", IsError: true, Errors: []string{"the harness panicked: boom"}, Subtype: "error_panic"}},
		{"an end of the goroutine", func(context.Context, Host) (Result, error) { runtime.Goexit(); panic("not reached") },
			Result{Text: "the harness panicked: Run ended without returning", IsError: true,
				Errors: []string{"the harness panicked: Run ended without returning"}, Subtype: "error_panic"}},
		{"tokens are summed", func(_ context.Context, h Host) (Result, error) {
			h.Emit(Usage(10, 1))
			h.Emit(Usage(20, 2))
			return Result{Text: "x"}, nil
		}, Result{Text: "x", Subtype: "success", NumTurns: 2, TokensIn: number[int64](30), TokensOut: number[int64](3)}},
		{"unless the harness counts", func(_ context.Context, h Host) (Result, error) {
			h.Emit(Usage(10, 1))
			return Result{Text: "x", NumTurns: 7, TokensIn: number[int64](0), CostUSD: number(0.0)}, nil
		}, Result{Text: "x", Subtype: "success", NumTurns: 7, TokensIn: number[int64](0), CostUSD: number(0.0)}},
		{"time is measured", func(context.Context, Host) (Result, error) {
			time.Sleep(1500 * time.Millisecond)
			return Result{Text: "x"}, nil
		}, Result{Text: "x", Subtype: "success", DurationMS: 1500}},
		{"dirt is cleaned", func(context.Context, Host) (Result, error) {
			return Result{Text: "a\x00b\xff", Errors: []string{"\x00"}, CostUSD: number(-1.0), NumTurns: -1, TokensIn: number[int64](-1)}, nil
		}, Result{Text: "a�b�", Errors: []string{"�"}, Subtype: "success"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Local(running(tt.run), aTask())
				defer s.Close()
				got, err := s.Follow(t.Context(), 0, &recorder{})
				if err != nil {
					t.Fatal(err)
				}
				if tt.want.Errors == nil {
					tt.want.Errors = []string{}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestStopEndsTheRunsContext(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(ctx context.Context) (Result, error)
		want Result
	}{
		{"returning the context's error", func(ctx context.Context) (Result, error) { return Result{}, fmt.Errorf("ask the model: %w", ctx.Err()) },
			Result{Text: "the run was stopped", IsError: true, Errors: []string{"the run was stopped"}, Subtype: "error_stopped"}},
		{"returning nothing", func(ctx context.Context) (Result, error) { return Result{}, nil },
			Result{Text: "the run was stopped", IsError: true, Errors: []string{"the run was stopped"}, Subtype: "error_stopped"}},
		{"having finished in the same moment", func(ctx context.Context) (Result, error) { return Result{Text: "all done"}, nil },
			Result{Text: "all done", Errors: []string{}, Subtype: "success"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Local(running(func(ctx context.Context, h Host) (Result, error) {
					<-ctx.Done()
					return tt.end(ctx)
				}), aTask())
				defer s.Close()
				for range 2 {
					if err := s.Stop(t.Context()); err != nil {
						t.Error(err)
					}
				}
				got, err := s.Follow(t.Context(), 0, &recorder{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestWallLimitEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		task := aTask()
		task.Limits.Wall = time.Minute
		s := Local(running(func(ctx context.Context, h Host) (Result, error) {
			<-ctx.Done()
			return Result{}, ctx.Err()
		}), task)
		defer s.Close()
		got, err := s.Follow(t.Context(), 0, &recorder{})
		if err != nil || got.Text != "the run reached its time limit of 1m0s" || got.Subtype != "error_time_limit" || got.DurationMS != 60_000 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestCloseLetsGoOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(ctx context.Context, h Host) (Result, error) {
			for ctx.Err() == nil {
				emit(h, "x") // fills the buffer and waits
			}
			return Result{}, nil
		}), aTask())
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		began := time.Now()
		forever := make(chan struct{})
		s = Local(running(func(context.Context, Host) (Result, error) { <-forever; return Result{}, nil }), aTask())
		if err := s.Close(); err == nil || time.Since(began) != closeWait {
			t.Errorf("a run that ignores its stop: got %v after %s", err, time.Since(began))
		}
		close(forever)
	})
}

func TestTasksThatCannotRunNameTheField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, task := range map[string]Task{
			"task: RunID is empty":                        {WorkDir: "/"},
			`task: WorkDir "sub" is not an absolute path`: {RunID: "r", WorkDir: "sub"},
			`task: WorkDir "" is not an absolute path`:    {RunID: "r"},
		} {
			s := Local(running(func(context.Context, Host) (Result, error) { t.Error("it ran"); return Result{}, nil }), task)
			defer s.Close()
			if got, err := s.Follow(t.Context(), 0, &recorder{}); err != nil || !got.IsError || got.Text != want {
				t.Errorf("got %+v, %v, want %q", got, err, want)
			}
		}
	})
}

func TestWritablePathsKeepTheirMeaning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name        string
			task        Task
			nothing     bool
			limitWrites bool
		}{
			{"no limit", Task{}, true, false},
			{"nothing may be written", Task{Writable: []string{}}, false, true},
			{"the same after gob", Task{LimitWrites: true}, false, true},
			{"one path", Task{Writable: []string{"a"}}, false, true},
		} {
			tt.task.RunID, tt.task.WorkDir = "r", "/"
			var got Task
			s := Local(fake{run: func(_ context.Context, t Task, _ Host) (Result, error) { got = t; return Result{}, nil }}, tt.task)
			defer s.Close()
			s.Follow(t.Context(), 0, &recorder{})
			if (got.Writable == nil) != tt.nothing || got.LimitWrites != tt.limitWrites {
				t.Errorf("%s: got %v, limit %t", tt.name, got.Writable, got.LimitWrites)
			}
		}
	})
}
