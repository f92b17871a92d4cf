package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	goplugin "github.com/hashicorp/go-plugin"
)

// process is a harness behind a real connection, in this process.
type process struct {
	runs *table
	set  goplugin.PluginSet
}

func newProcess(h Harness) *process {
	runs := newTable(newIdle(time.Hour, time.Hour))
	return &process{runs, goplugin.PluginSet{Name: &bridge{&server{h, runs}}}}
}

// connect opens one more connection to p. cut breaks it.
func (p *process) connect(t *testing.T) (c *Client, cut func()) {
	t.Helper()
	near, far := goplugin.TestConn(t)
	s := &goplugin.RPCServer{Plugins: p.set, Stdout: nothing{}, Stderr: nothing{}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.ServeConn(far)
	}()
	cut = func() {
		near.Close()
		<-served
	}
	t.Cleanup(cut)
	r, err := goplugin.NewRPCClient(near, PluginMap())
	if err != nil {
		t.Fatal(err)
	}
	if c, err = NewClient(r); err != nil {
		t.Fatal(err)
	}
	return c, cut
}

func dial(t *testing.T, h Harness) *Client {
	t.Helper()
	c, _ := newProcess(h).connect(t)
	return c
}

func TestInfoCrossesWhole(t *testing.T) {
	want := Info{Slug: "x", Name: "X", Version: "1.2", Capabilities: []Capability{Read, Full},
		Features: Features{MCP: true, Cost: true}, Settings: raw(`{"type":"object","default":{"a":0,"b":false,"c":null}}`)}
	c := dial(t, fake{info: func() (Info, error) { return want, nil }})
	got, err := c.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c = dial(t, fake{info: func() (Info, error) { return Info{Slug: "y"}, nil }})
	if got, err := c.Info(t.Context()); err != nil || string(got.Settings) != `{"type":"object","properties":{}}` {
		t.Errorf("without settings: got %s, %v", got.Settings, err)
	}
}

func TestReportsKeepFalseApartFromUnknown(t *testing.T) {
	reports := []Report{
		{OK: true, Detail: "fine", ModelsSample: []string{"a"}, Reachable: number(true), ModelListed: number(false)},
		{Detail: "set model", Field: "model", Reachable: number(false), ModelsSample: []string{}},
		{OK: true, ModelsSample: []string{}},
	}
	i := 0
	c := dial(t, fake{check: func(_ context.Context, p Profile, connect bool) (Report, error) {
		if p.Secret != "sk-1" || string(p.Params) != `{"a":null}` || connect != (i == 1) {
			t.Errorf("the harness got %+v, connect %t", p, connect)
		}
		return reports[i], nil
	}})
	for i = range reports { // over one connection, so that nothing of an old reply may shine through
		got, err := c.Check(t.Context(), Profile{Secret: "sk-1", Params: raw(`{"a":null}`)}, i == 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(reports[i], got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestErrorsCrossWithTheirKind(t *testing.T) {
	c := dial(t, fake{
		info:  func() (Info, error) { panic("oh") },
		check: func(context.Context, Profile, bool) (Report, error) { return Report{}, errors.New("disk full") },
	})
	for _, tt := range []struct {
		name string
		call func() error
		want Error
	}{
		{"a panic", func() error { _, err := c.Info(t.Context()); return err }, Error{KindPanic, "the harness panicked: oh"}},
		{"its own error", func() error { _, err := c.Check(t.Context(), Profile{}, false); return err }, Error{KindInternal, "disk full"}},
		{"a bad task", func() error { _, err := c.Start(t.Context(), Task{RunID: "r", WorkDir: "x"}); return err },
			Error{KindInvalid, `task: WorkDir "x" is not an absolute path`}},
		{"a foreign run", func() error { _, err := c.Attach("r9").Follow(t.Context(), 0, &recorder{}); return err },
			Error{KindNotFound, `this harness process has no run "r9"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *Error
			if err := tt.call(); !errors.As(err, &got) || *got != tt.want {
				t.Errorf("got %#v, want %#v", err, tt.want)
			}
		})
	}
}

func TestCheckIsToldHowLongItHas(t *testing.T) {
	c := dial(t, fake{check: func(ctx context.Context, _ Profile, _ bool) (Report, error) {
		d, ok := ctx.Deadline()
		return Report{Detail: fmt.Sprint(ok, time.Until(d) > 50*time.Minute, time.Until(d) < time.Hour)}, nil
	}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if got, err := c.Check(ctx, Profile{}, true); err != nil || got.Detail != "true true true" {
		t.Errorf("got %q, %v", got.Detail, err)
	}
}

func TestTasksCrossWhole(t *testing.T) {
	want := Task{
		RunID: "r1", PlanID: 1, NodeID: 2, Attempt: 3, Kind: "step", Title: "t", Prompt: "-x\x00" + strings.Repeat("é", 1<<20),
		System: "s", WorkDir: "/w", RunDir: "/r", Allowed: Edit, TaskType: "test", Writable: []string{}, LimitWrites: true,
		Profile: Profile{Name: "p", Secret: "k", Params: raw(`{"n":0}`)}, MCPURL: "http://x", ResumeSession: "s0",
		Limits: Limits{MaxTokens: 5, MaxCostUSD: 0.5, Wall: time.Hour}, Speed: 0.02,
	}
	var got Task
	c := dial(t, fake{run: func(_ context.Context, t Task, _ Host) (Result, error) {
		got = t
		return Result{Text: "done", CostUSD: number(0.0), TokensIn: number[int64](0), Until: time.Unix(5, 0)}, nil
	}})
	s, err := c.Start(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Follow(t.Context(), 0, &recorder{})
	if err != nil || res.CostUSD == nil || *res.CostUSD != 0 || res.TokensIn == nil || res.TokensOut != nil || !res.Until.Equal(time.Unix(5, 0)) {
		t.Errorf("the result lost something: %+v, %v", res, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the task changed: %.2000s", diff)
	}
}

func TestAFloodArrivesInOrder(t *testing.T) {
	const n = 3_000
	c := dial(t, running(func(_ context.Context, h Host) (Result, error) {
		for i := 1; i <= n; i++ {
			h.Emit(Event{Kind: KindText, Data: raw(fmt.Sprintf(`{"text":"%d","parent_tool_use_id":null}`, i))})
		}
		return Result{Text: "done"}, nil
	}))
	s, err := c.Start(t.Context(), aTask())
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	if _, err := s.Follow(t.Context(), 0, rec); err != nil {
		t.Fatal(err)
	}
	rec.inOrder(t, 1)
	for i, e := range rec.events {
		if want := fmt.Sprintf(`{"text":"%d","parent_tool_use_id":null}`, i+1); string(e.Data) != want {
			t.Fatalf("event %d is %s", i+1, e.Data)
		}
	}
	if len(rec.events) != n {
		t.Errorf("got %d events, want %d", len(rec.events), n)
	}
}

func TestLargeEventsArriveWhole(t *testing.T) {
	text := strings.Repeat("e", MaxEventSize-200) + "é"
	c := dial(t, running(func(_ context.Context, h Host) (Result, error) {
		for range 5 {
			emit(h, text)
		}
		return Result{Text: strings.Repeat("x", MaxEventSize+1)}, nil
	}))
	s, err := c.Start(t.Context(), aTask())
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{push: func(b []Event) error {
		size := 0
		for _, e := range b {
			size += len(e.Data)
		}
		if size > maxBatchBytes {
			t.Errorf("a batch of %d bytes", size)
		}
		return nil
	}}
	res, err := s.Follow(t.Context(), 0, rec)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range rec.events {
		if got, err := DecodeText(e); err != nil || got != text {
			t.Fatalf("event %d has %d bytes of text, %v", i, len(got), err)
		}
	}
	if len(rec.events) != 5 || len(ResultEvent(res).Data) > MaxEventSize || !strings.HasSuffix(res.Text, "left out)") {
		t.Errorf("got %d events and a result of %d bytes", len(rec.events), len(res.Text))
	}
}

func TestABrokenConnectionIsNoticedAndAnotherGoesOn(t *testing.T) {
	more := make(chan struct{})
	p := newProcess(running(func(ctx context.Context, h Host) (Result, error) {
		emit(h, "a", "b")
		<-more
		emit(h, "c", "d")
		a, err := h.Ask(ctx, Question{Text: "may I?"})
		return Result{Text: fmt.Sprint(a.Allow)}, err
	}))
	c, cut := p.connect(t)
	s, err := c.Start(t.Context(), aTask())
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{push: func([]Event) error { return nil }}
	rec.push = func(b []Event) error {
		if b[len(b)-1].Seq == 2 {
			cut()
		}
		return nil
	}
	if _, err := s.Follow(t.Context(), 0, rec); !errors.Is(err, ErrLost) {
		t.Fatalf("got %v, want ErrLost", err)
	}
	close(more)
	c, cut = p.connect(t)
	rec.push = nil
	rec.answer = func(context.Context, Question) (Answer, error) { cut(); return Answer{}, errDisk }
	if _, err := c.Attach("r1").Follow(t.Context(), rec.last(), rec); !errors.Is(err, ErrLost) {
		t.Fatalf("got %v, want ErrLost", err)
	}
	c, _ = p.connect(t)
	if _, err := c.Start(t.Context(), aTask()); err != nil {
		t.Errorf("starting a run again: %v", err)
	}
	rec.answer = func(context.Context, Question) (Answer, error) { return Answer{Allow: true}, nil }
	res, err := c.Attach("r1").Follow(t.Context(), rec.last(), rec)
	if err != nil || res.Text != "true" {
		t.Errorf("got %+v, %v", res, err)
	}
	rec.inOrder(t, 1)
	if diff := cmp.Diff(words("a", "b", "c", "d"), rec.said()); diff != "" {
		t.Error(diff)
	}
	if len(rec.asked) != 2 || rec.asked[0].ID != rec.asked[1].ID {
		t.Errorf("asked %v", rec.asked)
	}
}

func TestAHarnessThatDoesNotAnswerIsLost(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	c := dial(t, fake{info: func() (Info, error) { <-hang; return Info{}, nil }})
	c.Heartbeat = 50 * time.Millisecond
	if _, err := c.Info(t.Context()); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "no answer to Info within 50ms") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Heartbeat = time.Hour
	if _, err := c.Info(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestAStopBeforeTheStartHolds(t *testing.T) {
	c := dial(t, running(func(ctx context.Context, h Host) (Result, error) { <-ctx.Done(); return Result{}, ctx.Err() }))
	if err := c.Attach("r1").Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := c.Start(t.Context(), aTask())
	if err != nil {
		t.Fatal(err)
	}
	if res, err := s.Follow(t.Context(), 0, &recorder{}); err != nil || res.Subtype != SubtypeStopped {
		t.Errorf("got %+v, %v", res, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestAHostChecksWhatForeignHarnessesSend(t *testing.T) {
	p := newProcess(running(func(ctx context.Context, h Host) (Result, error) {
		r := h.(host).run
		r.journal.push(Event{Kind: "zzz", Data: raw(`{}`)}, nil)
		r.journal.push(Event{Kind: KindText, Data: raw(`{"text":" "}`)}, nil)
		r.journal.push(Event{Kind: KindText, Data: raw("{\"text\":\"a\xff\"}")}, nil)
		<-ctx.Done()
		r.journal.mu.Lock()
		r.journal.events = append(r.journal.events, Event{Seq: 9, Kind: KindText, Data: raw(`{"text":"x"}`)})
		r.journal.last = 9
		r.journal.wake()
		r.journal.mu.Unlock()
		return Result{}, nil
	}))
	c, _ := p.connect(t)
	s, err := c.Start(t.Context(), aTask())
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{push: func(b []Event) error {
		if b[len(b)-1].Seq == 3 {
			return s.Stop(t.Context())
		}
		return nil
	}}
	_, err = s.Follow(t.Context(), 0, rec)
	if err == nil || !strings.Contains(err.Error(), "broke the order of events: got number 9 after 3") {
		t.Errorf("got %v", err)
	}
	want := []string{`log malformed event: kind "zzz" is not one that a harness may emit`, "log blank text event", "text a�"}
	if diff := cmp.Diff(want, rec.said()); diff != "" {
		t.Error(diff)
	}
}
