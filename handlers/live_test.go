package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/views"
)

// watcher follows topics as a browser does.
type watcher struct {
	t    *testing.T
	body *bufio.Scanner
	stop context.CancelFunc
	done func() error
	seq  map[string]int64  // where to go on
	html map[string]string // by id, what the last frame said
	raw  []string
	anew func() // reads the page, when that is what it is told; nil: that is not expected
}

// watchLive opens a connection. It is read until the test ends.
func (r *rig) watchLive(t *testing.T, topics string) *watcher {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	req, err := http.NewRequestWithContext(ctx, "GET", r.url+"/live?topics="+topics, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("follow %s: %s", topics, res.Status)
	}
	v := &watcher{t: t, body: bufio.NewScanner(res.Body), stop: stop, done: res.Body.Close, seq: map[string]int64{}, html: map[string]string{}}
	v.body.Buffer(nil, 64<<20)
	t.Cleanup(v.close)
	return v
}

func (v *watcher) close() {
	v.stop()
	_ = v.done() // it was cut on purpose
}

// next reads one message.
func (v *watcher) next() liveMessage {
	v.t.Helper()
	for v.body.Scan() {
		data, ok := strings.CutPrefix(v.body.Text(), "data: ")
		if !ok || data == "" {
			continue
		}
		var m liveMessage
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			v.t.Fatalf("%v in %s", err, data)
		}
		v.raw = append(v.raw, data)
		v.seq[m.Topic] = max(v.seq[m.Topic], m.Seq)
		for _, f := range m.Frames {
			if strings.Contains(f.Flags, "o") && v.html[f.ID] != "" {
				continue
			}
			v.html[f.ID] = f.HTML
		}
		return m
	}
	v.t.Fatalf("the stream ended: %v", v.body.Err())
	return liveMessage{}
}

// until reads until an element's HTML contains a text.
func (v *watcher) until(id, text string) {
	v.t.Helper()
	for !strings.Contains(v.html[id], text) {
		if m := v.next(); m.Resync != 0 && v.anew != nil {
			v.anew()
		}
	}
}

// reads makes a watcher read a page anew when it is told to.
func (v *watcher) reads(r *rig, path string) {
	v.anew = func() {
		for _, el := range withID(r.page(path)) {
			var b strings.Builder
			if err := html.Render(&b, el); err != nil {
				v.t.Fatal(err)
			}
			v.html[attr(el, "id")] = b.String()
		}
	}
}

func withID(n *html.Node) (list []*html.Node) {
	for el := range n.Descendants() {
		if el.Type == html.ElementNode && attr(el, "id") != "" {
			list = append(list, el)
		}
	}
	return list
}

// now is where the changes of a server stand.
func (r *rig) now() int64 { return r.engine.Subscribe(0, -1).Cursor() }

func TestPiecesComeAsTheyChange(t *testing.T) {
	s := newStage(t)
	id := s.plan("a b:a c:b")
	v := s.watchLive(t, fmt.Sprintf("plan:1@%d,plans@%d", s.now(), s.now()))
	s.start(id, plan.Builtin)
	v.until("c-1-1", "s-done")
	v.until("c-1-3", "s-done")
	v.until("e-1-1-2", "done")
	v.until("bar", "3/3")
	v.until("side-1", "3/3")
}

func TestTwoViewersGetTheSameBytes(t *testing.T) {
	s := newStage(t)
	id := s.plan("a b:a")
	after := s.now()
	one, two := s.watchLive(t, fmt.Sprintf("plan:1@%d", after)), s.watchLive(t, fmt.Sprintf("plan:1@%d", after))
	s.start(id, plan.Builtin)
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	one.until("bar", "2/2")
	two.until("bar", "2/2")
	if a, b := strings.Join(one.raw, "\n"), strings.Join(two.raw, "\n"); a != b {
		t.Errorf("they differ:\n%s\n\n%s", a, b)
	}
}

func TestNothingIsMissingAfterACut(t *testing.T) {
	say := make(chan plugin.Event)
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": speaker(say)}})
	id := r.plan("a b:a")
	v := r.watchLive(t, fmt.Sprintf("node:1.1@%d,plan:1@%d", r.now(), r.now()))
	r.start(id, plan.Builtin)
	say <- plugin.Text("first entry", "")
	for !strings.Contains(strings.Join(v.raw, ""), "first entry") {
		v.next()
	}
	v.close()
	for i := range 30 {
		say <- plugin.Text(fmt.Sprintf("during %d.", i), "")
	}
	enginetest.Until(t, r.engine, id, "all stored", func(*plan.Snapshot) bool {
		list, err := r.engine.EventsBefore(context.Background(), plan.Ref{Plan: 1, Node: 1}, 0, 1)
		return err == nil && len(list) == 1 && strings.Contains(string(list[0].Data), "during 29.")
	})
	again := r.watchLive(t, fmt.Sprintf("node:1.1@%d,plan:1@%d", v.seq["node:1.1"], v.seq["plan:1"]))
	for !strings.Contains(strings.Join(again.raw, ""), "during 29.") {
		again.next()
	}
	all := strings.Join(again.raw, "")
	for i := range 30 {
		if n := strings.Count(all, fmt.Sprintf("during %d.", i)); n != 1 {
			t.Errorf("entry %d came %d times", i, n)
		}
	}
	if strings.Contains(all, "first entry") {
		t.Error("what was there already came again")
	}
	close(say)
	again.until("c-1-1", "s-done")
}

func TestAPageThatIsMuchTooOldReadsAnew(t *testing.T) {
	s := newStage(t)
	id := s.plan("a")
	after := s.now()
	name := "A new step"
	if _, err := s.engine.AddNode(context.Background(), engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: &name}}); err != nil {
		t.Fatal(err)
	}
	// The picture has changed since, and what it looked like is not known.
	if m := s.watchLive(t, fmt.Sprintf("plan:1@%d", after)).next(); m.Resync != 1 || m.Seq < s.now() {
		t.Errorf("got %+v", m)
	}
	// A number of another database.
	if m := s.watchLive(t, fmt.Sprintf("plan:1@%d", s.now()+1000)).next(); m.Resync != 1 || m.Seq != s.now() {
		t.Errorf("got %+v", m)
	}
}

func TestWhatIsGoneIsSaid(t *testing.T) {
	s := newStage(t)
	id := s.plan("a b:a")
	v := s.watchLive(t, fmt.Sprintf("plan:1@%d,node:1.2@%d", s.now(), s.now()))
	if err := s.engine.RemoveNode(context.Background(), plan.Ref{Plan: 1, Node: 2}); err != nil {
		t.Fatal(err)
	}
	v.until("drawer", "hidden")
	v.until("node-full", "This step is gone")
	if v.html["page"] != "" {
		t.Error("the plan is said to be gone with its step")
	}
	if err := s.engine.DeletePlan(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	v.until("page", "This plan is gone")
	s.watchLive(t, fmt.Sprintf("plan:77@%d", s.now())).until("page", "gone") // it never was
}

func TestALateViewerGetsWhatItMissed(t *testing.T) {
	s := newStage(t)
	id := s.plan("a b:a c:b")
	after := s.now()
	early := s.watchLive(t, fmt.Sprintf("plan:1@%d", after))
	s.start(id, plan.Builtin)
	early.until("c-1-2", "s-done")
	late := s.watchLive(t, fmt.Sprintf("plan:1@%d", after)) // its page was drawn before all of this
	late.until("c-1-1", "s-done")
	late.until("c-1-2", "s-done")
}

func TestTokensCostNoDrawing(t *testing.T) {
	say := make(chan plugin.Event)
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": speaker(say)}})
	id := r.plan("a")
	v := r.watchLive(t, fmt.Sprintf("plan:1@%d", r.now()))
	r.start(id, plan.Builtin)
	v.until("c-1-1", "s-running")
	say <- plugin.Usage(1500, 20)
	v.until("tok-1-1", "↑1.5k ↓20")
	close(say)
}

func TestAResetEmptiesTheTranscript(t *testing.T) {
	s := newStage(t)
	id := s.plan("a")
	s.start(id, plan.Builtin)
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	v := s.watchLive(t, fmt.Sprintf("node:1.1@%d", s.now()))
	if err := s.engine.ResetPlan(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	for v.next().Resync == 0 {
	}
}

func TestLinksOfAStepKeepTheirViewWhenItChanges(t *testing.T) {
	s := newStage(t)
	id := s.plan("a b:a")
	plain, list := s.watchLive(t, fmt.Sprintf("node:1.2@%d", s.now())), s.watchLive(t, fmt.Sprintf("node:1.2/list@%d", s.now()))
	s.start(id, plan.Builtin)
	plain.until("node-task", `href="/plans/1/nodes/1"`)
	list.until("node-task", `href="/plans/1/nodes/1?view=list"`)
	text := s.do("GET", "/plans/1/nodes/2?view=list", nil).body
	for _, want := range []string{`data-topic="node:1.2/list"`, `href="/plans/1/nodes/2?view=timeline"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestWrongTopicsAreRefused(t *testing.T) {
	r := newRig(t)
	for _, topics := range []string{"", "x@1", "plan@1", "plan:1", "plan:x@1", "plan:-1@1", "plan:1@-1", "node:1@1", "node:0.1@1", "node:1.1/@1", "node:1.1/x@1", "plans:1@1",
		"plan:1@1,", strings.Repeat("plans@1,", 200) + "plans@1"} {
		if a := r.do("GET", "/live?topics="+topics, nil, "Accept: text/event-stream"); a.status != http.StatusBadRequest {
			t.Errorf("%.40q: %d", topics, a.status)
		}
	}
}

func FuzzParseWishes(f *testing.F) {
	f.Add("plan:3@120,node:3.2@118,plans@0")
	f.Add("node:3.2/list@118")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseWishes(text)
		if err != nil {
			return
		}
		for _, w := range list {
			if again, err := parseWishes(fmt.Sprintf("%s@%d", w.topic, w.after)); err != nil || again[0] != w {
				t.Errorf("%q gives %v, which gives %v, %v", text, w, again, err)
			}
		}
	})
}

func TestFeedsEndWithTheirLastViewer(t *testing.T) {
	s := newStage(t)
	s.plan("a")
	srv := newServer(s.engine, Options{})
	p := &site{server: srv, pictures: views.NewPictures()}
	p.live = newLive(p)
	w := wish{topic{kind: topicPlan, plan: 1}, s.now()}
	one, two := newViewer(), newViewer()
	f := p.live.join(w, one)
	if p.live.join(w, two) != f {
		t.Error("two viewers of one topic have two feeds")
	}
	p.live.leave(f, one)
	select {
	case <-f.done:
		t.Error("the feed ended while someone follows it")
	default:
	}
	p.live.leave(f, two)
	select {
	case <-f.done:
	default:
		t.Error("the feed goes on for nobody")
	}
	if len(p.live.feeds) != 0 {
		t.Errorf("%d feeds are kept", len(p.live.feeds))
	}
}

func TestASlowViewerIsLetGo(t *testing.T) {
	v := newViewer()
	for range mailbox {
		v.send([]byte("x"))
	}
	select {
	case <-v.slow:
		t.Fatal("it was let go too early")
	default:
	}
	v.send([]byte("x"))
	v.send([]byte("x"))
	select {
	case <-v.slow:
	default:
		t.Error("it is kept")
	}
}

func TestStreamsEndWithTheServer(t *testing.T) {
	s := newStage(t)
	s.plan("a")
	v := s.watchLive(t, fmt.Sprintf("plan:1@%d", s.now()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for v.body.Scan() {
		}
	}()
	begun := time.Now()
	if err := s.server.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-ended
	t.Logf("the server ended its streams in %s", time.Since(begun))
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
