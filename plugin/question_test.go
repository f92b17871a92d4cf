package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asking runs one question and says what came of it.
func asking(q Question) fake {
	return running(func(ctx context.Context, h Host) (Result, error) {
		a, err := h.Ask(ctx, q)
		return Result{Text: fmt.Sprintf("%t %s", a.Allow, a.Message)}, err
	})
}

func TestQuestionsAreAnswered(t *testing.T) {
	for _, tt := range []struct {
		name     string
		answer   func(ctx context.Context, q Question) (Answer, error)
		timeout  time.Duration
		want     string
		answered []string
	}{
		{"allowed", func(context.Context, Question) (Answer, error) { return Answer{Allow: true, Message: "fine"}, nil },
			0, "true fine", []string{"q1 allow=true taken=true"}},
		{"refused", func(context.Context, Question) (Answer, error) { return Answer{Message: "not\x00that"}, nil },
			time.Hour, "false not�that", []string{"q1 allow=false taken=true"}},
		{"by nobody", nil,
			time.Minute, "false Nobody answered within 1m0s, so it is refused.", nil},
		{"too late", func(context.Context, Question) (Answer, error) {
			time.Sleep(2 * time.Minute)
			return Answer{Allow: true}, nil
		},
			time.Minute, "false Nobody answered within 1m0s, so it is refused.", []string{"q1 allow=true taken=false"}},
		{"by a host that cannot ask", func(context.Context, Question) (Answer, error) { return Answer{}, errDisk },
			0, "false The question could not be put before anyone: disk full", []string{"q1 allow=false taken=true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Local(asking(Question{Tool: "Bash", Text: "rm?", Input: raw(`[1`), Timeout: tt.timeout}), aTask())
				defer s.Close()
				rec := &recorder{answer: tt.answer}
				res, err := s.Follow(t.Context(), 0, rec)
				if err != nil || res.Text != tt.want {
					t.Errorf("got %q, %v, want %q", res.Text, err, tt.want)
				}
				if diff := cmp.Diff(tt.answered, rec.answered); diff != "" {
					t.Error(diff)
				}
				want := []Question{{ID: "q1", Tool: "Bash", Text: "rm?", Input: raw(`{"_raw_arguments":"[1"}`), Timeout: tt.timeout}}
				if diff := cmp.Diff(want, rec.asked); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestEventsFlowWhileAQuestionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(ctx context.Context, h Host) (Result, error) {
			go func() {
				for i := range 10 {
					emit(h, fmt.Sprint(i))
					time.Sleep(time.Minute)
				}
			}()
			_, err := h.Ask(ctx, Question{Text: "may I?"})
			return Result{}, err
		}), aTask())
		defer s.Close()
		seen := make(chan struct{})
		rec := &recorder{push: func(b []Event) error {
			if b[len(b)-1].Seq == 10 {
				close(seen)
			}
			return nil
		}}
		rec.answer = func(context.Context, Question) (Answer, error) { <-seen; return Answer{Allow: true}, nil }
		if _, err := s.Follow(t.Context(), 0, rec); err != nil {
			t.Fatal(err)
		}
		if len(rec.asked) != 1 {
			t.Errorf("asked %d times, want once", len(rec.asked))
		}
		time.Sleep(time.Minute)
	})
}

func TestAnOpenQuestionComesAgainToTheNextHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(asking(Question{Text: "may I?", Timeout: time.Hour}), aTask())
		defer s.Close()
		ctx, leave := context.WithCancel(t.Context())
		first := &recorder{}
		go func() {
			time.Sleep(10 * time.Minute)
			leave()
		}()
		if _, err := s.Follow(ctx, 0, first); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		time.Sleep(10 * time.Minute)
		second := &recorder{answer: func(context.Context, Question) (Answer, error) { return Answer{Allow: true}, nil }}
		res, err := s.Follow(t.Context(), 0, second)
		if err != nil || res.Text != "true " {
			t.Errorf("got %q, %v", res.Text, err)
		}
		if len(first.asked) != 1 || len(second.asked) != 1 || first.asked[0].ID != second.asked[0].ID {
			t.Errorf("asked %v, then %v", first.asked, second.asked)
		}
		if got := second.asked[0].Timeout; got != 40*time.Minute {
			t.Errorf("time left: %s, want 40m", got)
		}
	})
}

func TestAWithdrawnQuestionIsTakenBackFromTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(ctx context.Context, h Host) (Result, error) {
			short, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := h.Ask(short, Question{Text: "may I?"})
			time.Sleep(time.Hour)
			return Result{Text: err.Error()}, nil
		}), aTask())
		defer s.Close()
		began := time.Now()
		var after time.Duration
		rec := &recorder{answer: func(ctx context.Context, _ Question) (Answer, error) {
			<-ctx.Done()
			after = time.Since(began)
			return Answer{}, ctx.Err()
		}}
		res, err := s.Follow(t.Context(), 0, rec)
		if err != nil || res.Text != "ask: context deadline exceeded" {
			t.Errorf("got %q, %v", res.Text, err)
		}
		if after != time.Minute {
			t.Errorf("taken back after %s, want 1m", after)
		}
	})
}

func TestQuestionsEndWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(_ context.Context, h Host) (Result, error) {
			_, err := h.Ask(context.Background(), Question{Text: "may I?"})
			return Result{}, err
		}), aTask())
		defer s.Close()
		go func() {
			time.Sleep(time.Second)
			s.Stop(t.Context())
		}()
		res, err := s.Follow(t.Context(), 0, &recorder{})
		if err != nil || res.Text != "ask: the run was stopped" || res.Subtype != SubtypeStopped {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}

func TestManyQuestionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 50
		s := Local(running(func(ctx context.Context, h Host) (Result, error) {
			got := make(chan string, n)
			for i := range n {
				go func() {
					a, err := h.Ask(ctx, Question{Text: fmt.Sprint(i)})
					got <- fmt.Sprint(a.Message == fmt.Sprint("answer to ", i), err)
				}()
			}
			all := map[string]int{}
			for range n {
				all[<-got]++
			}
			return Result{Text: fmt.Sprint(all)}, nil
		}), aTask())
		defer s.Close()
		rec := &recorder{answer: func(_ context.Context, q Question) (Answer, error) {
			time.Sleep(time.Duration(len(q.ID)) * time.Second)
			return Answer{Message: "answer to " + q.Text}, nil
		}}
		res, err := s.Follow(t.Context(), 0, rec)
		if err != nil || res.Text != "map[true <nil>:50]" || len(rec.asked) != n {
			t.Errorf("got %s, asked %d, %v", res.Text, len(rec.asked), err)
		}
	})
}

func TestTwoOpenQuestionsCannotShareAnID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Local(running(func(ctx context.Context, h Host) (Result, error) {
			go h.Ask(ctx, Question{ID: "toolu_1"})
			synctest.Wait()
			_, err := h.Ask(ctx, Question{ID: "toolu_1"})
			return Result{}, err
		}), aTask())
		defer s.Close()
		res, err := s.Follow(t.Context(), 0, &recorder{})
		if err != nil || !strings.Contains(res.Text, `"toolu_1" is open already`) {
			t.Errorf("got %q, %v", res.Text, err)
		}
	})
}
