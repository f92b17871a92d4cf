package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

const watchText = `
On a terminal it draws the plan and what its agents do, live. Elsewhere it prints
a line for every step that starts, ends or waits for you. When the server
restarts it comes back and misses nothing.

exit codes:
  0  the plan is done
  1  the plan has failed and nothing in it goes on, or it was deleted
  3  with --until-waiting: it waits for a person, because a step is theirs, an
     agent asks something, or the plan is not started

examples:
  clearbox plan watch 3
  clearbox plan watch 3 --until-waiting || notify-send "plan 3 needs you"
  clearbox plan watch 3 --json | jq -r 'select(.to == "failed").title'`

// usualPatience is how long a watcher waits for a server that is gone.
const usualPatience = 5 * time.Minute

// watchOptions is what watch is told.
type watchOptions struct {
	plan         int
	untilWaiting bool
	asJSON       bool
	patience     time.Duration
}

// watchCommand follows a plan.
func watchCommand(s *streams, f *flags) action {
	var o watchOptions
	f.add("",
		option{"until-waiting", "", "end with exit code 3 when the plan waits for a person", truth(&o.untilWaiting)},
		option{"json", "", "print a JSON object in a line for every change", truth(&o.asJSON)},
		option{"patience", "", "how long to wait for a server that is gone", span(&o.patience, usualPatience)})
	r := remoteFlags(f)
	return func(ctx context.Context, args []string) error {
		var err error
		if o.plan, err = planID(args[0]); err != nil {
			return err
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		return watch(ctx, s, c, o)
	}
}

// teller shows a plan as it goes on.
type teller interface {
	begin(*tree)                  // once, with the plan as it is then
	step(change)                  // a step has changed its state
	said(at stepKey, text string) // an agent does something
	picture(*tree, time.Time)     // the plan as it is now
	lost()                        // the server is gone, and may come back
	end(*tree, verdict)           // nothing more will come
}

// stepKey addresses a step.
type stepKey struct{ plan, node int }

// change is a step that has got another state.
type change struct {
	At     float64 `json:"at"` // Unix seconds
	Step   string  `json:"step"`
	Title  string  `json:"title"`
	From   string  `json:"from"`
	To     string  `json:"to"`
	Agent  string  `json:"agent,omitempty"`
	Waits  string  `json:"waits,omitempty"`
	Result string  `json:"result,omitempty"`
	Error  string  `json:"error,omitempty"`
	took   time.Duration
}

// verdict is how a watched plan ended, or why it is no longer watched.
type verdict struct {
	Status string `json:"status"` // done failed waiting deleted
	Why    string `json:"why"`
	code   int
}

// watch follows a plan until it is done, has failed or, if that is asked for,
// waits for a person.
func watch(ctx context.Context, s *streams, c *client, o watchOptions) error {
	w := &watcher{client: c, opts: o, known: map[stepKey]knownState{}}
	switch {
	case o.asJSON:
		w.teller = &jsonTeller{out: s.out}
	case draws(s.out):
		w.teller = newScreen(s.out, paintFor(s.out))
	default:
		w.teller = &lineTeller{out: s.out, err: s.err}
	}
	end, err := w.run(ctx)
	if err != nil {
		return err
	}
	w.teller.end(w.tree, end)
	if end.code == 0 {
		return nil
	}
	return exitCode(end.code)
}

// watcher keeps a picture of a plan up to date.
type watcher struct {
	client *client
	opts   watchOptions
	teller teller
	tree   *tree
	known  map[stepKey]knownState
	moves  []stepMove // since the picture was read
	stale  bool       // the picture is older than the last change
	away   bool       // the server is gone
}

// knownState is the last state of a step that was told.
type knownState struct {
	state string
	at    float64
}

// stepMove is a change of state that the stream told.
type stepMove struct {
	at    stepKey
	from  string
	state knownState
}

// Changes come in bursts: the picture is read again when there was none for
// settle, or after atMost.
const (
	settle = 40 * time.Millisecond
	atMost = 250 * time.Millisecond
)

// errOver ends the reading of a stream that is no longer needed.
var errOver = errors.New("it is over")

// run tells what happens until there is a verdict.
func (w *watcher) run(ctx context.Context) (verdict, error) {
	if _, err := w.client.plan(ctx, w.opts.plan); err != nil {
		return verdict{}, err // before anything is drawn
	}
	ctx, cancel := context.WithCancel(ctx)
	messages, ended := make(chan message, 64), make(chan error, 1)
	f := &follower{client: w.client, plan: w.opts.plan, patience: w.opts.patience}
	go func() {
		ended <- f.run(ctx, func(m message) error {
			select {
			case messages <- m:
				return nil
			case <-ctx.Done():
				return errOver
			}
		})
	}()
	end, err := w.loop(ctx, messages, ended)
	cancel()
	return end, err
}

func (w *watcher) loop(ctx context.Context, messages <-chan message, ended <-chan error) (verdict, error) {
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	var quiet, late <-chan time.Time
	for {
		select {
		case m := <-messages:
			w.take(m)
			if w.stale {
				quiet = time.After(settle)
				if late == nil {
					late = time.After(atMost)
				}
			}
			continue
		case err := <-ended:
			return w.gone(err)
		case now := <-clock.C:
			if w.tree != nil && !w.away {
				w.teller.picture(w.tree, now)
			}
			continue
		case <-quiet:
		case <-late:
		}
		quiet, late = nil, nil
		end, over, err := w.look(ctx)
		if over || err != nil {
			return end, err
		}
	}
}

// gone is what comes of a stream that ended for good.
func (w *watcher) gone(err error) (verdict, error) {
	if refused(err, 404) {
		return verdict{"deleted", "it was deleted", 1}, nil
	}
	return verdict{}, err
}

// take notes one message.
func (w *watcher) take(m message) {
	switch m.Type {
	case "lost":
		if !w.away {
			w.teller.lost()
		}
		w.away = true
	case "hello", "resync", "plan", "question":
		w.stale, w.away = true, w.away && m.Type != "hello"
	case "event":
		w.takeEvent(m)
	}
}

// takeEvent notes a change of state, or tells what an agent does.
func (w *watcher) takeEvent(m message) {
	at := stepKey{m.Event.PlanID, m.Event.NodeID}
	if m.Event.Kind != "status" {
		if text := eventText(m.Event.Kind, m.Event.Data); text != "" {
			w.teller.said(at, text)
		}
		return
	}
	var moved struct{ From, To string }
	if json.Unmarshal(m.Event.Data, &moved) == nil {
		w.stale = true
		w.moves = append(w.moves, stepMove{at, moved.From, knownState{moved.To, m.Event.TS}})
	}
}

// look reads the plan again, tells what has happened since the last look, and
// judges.
func (w *watcher) look(ctx context.Context) (end verdict, over bool, err error) {
	t, err := readTree(ctx, w.client, w.opts.plan, w.tree)
	var no *refusal
	switch {
	case refused(err, 404):
		return verdict{"deleted", "it was deleted", 1}, true, nil
	case errors.As(err, &no) && no.status < 500:
		return verdict{}, true, err
	case err != nil:
		return verdict{}, false, nil // the server is gone; the stream says when it is back
	}
	first := w.tree == nil
	w.tree, w.stale = t, false
	if first {
		w.teller.begin(t)
		w.catchUp(ctx)
	}
	for _, m := range w.moves {
		if n := t.steps[m.at]; n != nil {
			w.move(n, m.from, m.state)
		}
	}
	w.moves = nil
	for _, at := range t.order {
		w.reconcile(t.steps[at], first)
	}
	w.teller.picture(t, time.Now())
	end, over = t.judge(w.opts.untilWaiting)
	return end, over, nil
}

// catchUp tells what the agents did last that are at work already. It is for the
// eye: what cannot be read is left out.
func (w *watcher) catchUp(ctx context.Context) {
	const most = 10 // more are not read while someone waits for the first picture
	told := 0
	for _, at := range w.tree.order {
		if n := w.tree.steps[at]; n.Status != "running" || n.SubplanID != 0 || told == most {
			continue
		}
		told++
		if text := w.client.lastDone(ctx, at); text != "" {
			w.teller.said(at, text)
		}
	}
}

// lastDone is the last thing that the agent of a step did, "" when that is not
// known.
func (c *client) lastDone(ctx context.Context, at stepKey) string {
	path := stepPath(at.plan, at.node) + "/runs"
	var list struct{ Runs []struct{ Run int } }
	if c.get(ctx, path, &list) != nil || len(list.Runs) == 0 {
		return ""
	}
	var page struct {
		Events []struct {
			Kind string
			Data json.RawMessage
		}
	}
	last := list.Runs[len(list.Runs)-1].Run
	if c.get(ctx, fmt.Sprintf("%s/%d/events?limit=20", path, last), &page) != nil {
		return ""
	}
	for _, e := range slices.Backward(page.Events) {
		if text := eventText(e.Kind, e.Data); text != "" {
			return text
		}
	}
	return ""
}

// reconcile tells what a step's state says that no message has told.
func (w *watcher) reconcile(n *stepView, first bool) {
	at, state := stepKey{n.PlanID, n.NodeID}, knownState{n.Status, n.PhaseSince}
	before, told := w.known[at]
	if !told && (first || n.Status == "pending") && n.Status != "running" && !n.WaitingForUser {
		w.known[at] = state // as it was found
		return
	}
	w.move(n, before.state, state)
}

// move tells that a step has another state, unless that was told or is older.
func (w *watcher) move(n *stepView, from string, to knownState) {
	at := stepKey{n.PlanID, n.NodeID}
	before, told := w.known[at]
	if told && (to.at < before.at || to.state == before.state) {
		return
	}
	w.known[at] = to
	ch := change{At: to.at, Step: n.address(), Title: n.Title, From: from, To: to.state, Agent: n.agent()}
	if n.Status == to.state { // else it has gone on meanwhile
		ch.Waits = n.waits()
		switch to.state {
		case "done":
			ch.Result, ch.took = n.Result, n.took(time.Now())
		case "failed":
			ch.Error, ch.took = n.Error, n.took(time.Now())
		}
	}
	w.teller.step(ch)
}

// eventText is what an agent does, in a few words; "" for what is not worth a
// line.
func eventText(kind string, raw json.RawMessage) string {
	var data struct {
		Text  string
		Name  string
		Input map[string]any
	}
	if json.Unmarshal(raw, &data) != nil {
		return ""
	}
	switch kind {
	case "text", "log":
		return plain(firstLine(data.Text))
	case "thinking":
		return "thinks"
	case "tool_use":
		for _, name := range []string{"command", "file_path", "path", "pattern", "query", "url", "description"} {
			if about, ok := data.Input[name].(string); ok {
				return plain(data.Name + " " + firstLine(about))
			}
		}
		return plain(data.Name)
	}
	return ""
}
