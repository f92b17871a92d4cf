package engine_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

const hookSecret = "0123456789abcdef-secret"

// receiver is an address that webhooks post to.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []engine.Notice
	heads  []http.Header
	bodies []string
	answer func(n int) int // status of the n-th request, from 1
}

func listen(t *testing.T, answer func(n int) int) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var n engine.Notice
	_ = json.Unmarshal(body, &n)
	r.mu.Lock()
	r.got, r.heads, r.bodies = append(r.got, n), append(r.heads, req.Header), append(r.bodies, req.URL.Path+string(body))
	status := http.StatusNoContent
	if r.answer != nil {
		status = r.answer(len(r.got))
	}
	r.mu.Unlock()
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(status)
}

// events are the events so far, with what is waited for.
func (r *receiver) events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, n := range r.got {
		word := n.Event
		if n.Reason != nil {
			word += " " + *n.Reason
		}
		if n.Step != nil {
			word += fmt.Sprintf(" %d", n.Step.NodeID)
		}
		out = append(out, word)
	}
	return out
}

func (r *receiver) until(t *testing.T, want ...string) {
	t.Helper()
	enginetest.Eventually(t, fmt.Sprintf("receiver got %v", want), func() bool { return len(r.events()) >= len(want) })
	if diff := cmp.Diff(want, r.events()); diff != "" {
		t.Errorf("what was told (-want +got):\n%s", diff)
	}
}

func hook(t *testing.T, e *engine.Engine, url string, events ...string) int64 {
	t.Helper()
	w := engine.WebhookIn{URL: &url, Secret: new(string)}
	*w.Secret = hookSecret
	if events != nil {
		w.Events = &events
	}
	s, err := e.ChangeSettings(bg, engine.SettingsIn{Webhooks: &[]engine.WebhookIn{w}})
	must(t, err)
	return s.Webhooks[0].ID
}

func impatient(t *testing.T, agent enginetest.Agent) engine.Options {
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": agent})
	o.WebhookDelay = time.Microsecond
	return o
}

func failing(_ context.Context, task plugin.Task, _ plugin.Host) (plugin.Result, error) {
	if strings.HasSuffix(task.Title, "x") {
		return plugin.Result{Text: "the tests fail\nin many lines", IsError: true}, nil
	}
	return plugin.Result{Text: "ok"}, nil
}

func TestWebhooksHearWhatHappens(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, impatient(t, failing))
	e.SetPublicURL("http://box.test")
	all := listen(t, nil)
	hook(t, e, all.URL+"/in")
	in := spec(t, "a u:a x")
	in.Nodes[1].Kind = "user"
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Eventually(t, "three notices", func() bool { return len(all.events()) == 3 })
	got := strings.Join(all.events(), ", ")
	for _, want := range []string{"step_failed 3", "plan_failed", "waiting step 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("told %s, and not %s", got, want)
		}
	}
	must(t, e.MarkDone(bg, ref(id, 2), nil))
	must(t, e.MarkDone(bg, ref(id, 3), nil))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	enginetest.Eventually(t, "the plan is done", func() bool { return len(all.events()) == 4 })
	checkNotices(t, all, id)
}

func checkNotices(t *testing.T, r *receiver, id plan.PlanID) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	for i, n := range r.got {
		h := r.heads[i]
		body := strings.TrimPrefix(r.bodies[i], "/in")
		mac := hmac.New(sha256.New, []byte(hookSecret))
		fmt.Fprintf(mac, "%s.%s", h.Get("Clearbox-Timestamp"), body)
		if want := "v1=" + hex.EncodeToString(mac.Sum(nil)); h.Get("Clearbox-Signature") != want {
			t.Errorf("signature %s, want %s", h.Get("Clearbox-Signature"), want)
		}
		if h.Get("Clearbox-Event") != n.Event || h.Get("Clearbox-Delivery") != n.ID || n.ID == "" || seen[n.ID] {
			t.Errorf("headers %v of %+v", h, n)
		}
		seen[n.ID] = true
		if n.Plan == nil || n.Plan.ID != id || n.URL == nil || !strings.HasPrefix(*n.URL, fmt.Sprintf("http://box.test/plans/%d", id)) {
			t.Errorf("notice %+v", n)
		}
		if n.Event == "step_failed" && (*n.Detail != "the tests fail" || *n.URL != fmt.Sprintf("http://box.test/plans/%d/nodes/3", id)) {
			t.Errorf("of a failed step: %q %q", *n.Detail, *n.URL)
		}
		if strings.Contains(r.bodies[i], hookSecret) {
			t.Error("the secret is in a body")
		}
	}
}

func TestWebhooksHearOnlyWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, impatient(t, enginetest.Done))
	r := listen(t, nil)
	hook(t, e, r.URL, "plan_done")
	in := spec(t, "u b:u")
	in.Nodes[0].Kind = "user"
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	must(t, e.MarkDone(bg, ref(id, 1), nil))
	r.until(t, "plan_done")
}

func TestDeliveriesAreTriedAgainUnderTheSameKey(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, impatient(t, enginetest.Done))
	r := listen(t, func(n int) int { return map[bool]int{true: 500, false: 200}[n < 4] })
	hook(t, e, r.URL, "plan_done")
	must(t, e.StartPlan(bg, submit(t, e, spec(t, "a")), plan.Builtin))
	r.until(t, "plan_done", "plan_done", "plan_done", "plan_done")
	enginetest.Eventually(t, "the outcome is kept", func() bool {
		s, err := e.Settings(bg)
		must(t, err)
		h := s.Webhooks[0]
		return h.Waiting == 0 && h.Last != nil && h.Last.Attempts == 4 && h.Last.Taken() && h.Last.Status == 200
	})
	for _, n := range r.got {
		if n.ID != r.got[0].ID {
			t.Error("another attempt has another key")
		}
	}
}

func TestWebhooksAreGivenUpAndRedirectsNotFollowed(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, impatient(t, enginetest.Done))
	r := listen(t, func(int) int { return http.StatusFound })
	hook(t, e, r.URL, "plan_done")
	must(t, e.StartPlan(bg, submit(t, e, spec(t, "a")), plan.Builtin))
	enginetest.Eventually(t, "it is given up", func() bool {
		s, err := e.Settings(bg)
		must(t, err)
		h := s.Webhooks[0]
		return h.Waiting == 0 && h.Last != nil && h.Last.Attempts == 8 && !h.Last.Taken() && strings.Contains(h.Last.Fault, "redirect")
	})
	for _, body := range r.bodies {
		if strings.HasPrefix(body, "/elsewhere") {
			t.Error("a redirect was followed")
		}
	}
}

func TestNoticesOutliveTheServer(t *testing.T) {
	t.Parallel()
	o := impatient(t, enginetest.Done)
	o.WebhookDelay = time.Millisecond
	var up sync.Mutex
	open := false
	r := listen(t, func(int) int {
		up.Lock()
		defer up.Unlock()
		return map[bool]int{true: 200, false: 503}[open]
	})
	e, stop := enginetest.Run(t, o)
	hook(t, e, r.URL, "plan_done")
	id := submit(t, e, spec(t, "a"))
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	stop()
	up.Lock()
	open = true
	up.Unlock()
	before := len(r.events())
	next := enginetest.Start(t, o)
	enginetest.Eventually(t, "the next server tells it", func() bool {
		s, err := next.Settings(bg)
		must(t, err)
		return s.Webhooks[0].Waiting == 0 && s.Webhooks[0].Last.Taken()
	})
	if after := r.events(); len(after) != before+1 {
		t.Errorf("%d requests before the restart, %d after", before, len(after))
	}
}

func TestAWebhookThatIsOffIsToldWhenItIsOnAgain(t *testing.T) {
	t.Parallel()
	o := impatient(t, enginetest.Done)
	o.WebhookDelay = time.Hour
	e := enginetest.Start(t, o)
	down := listen(t, func(int) int { return 500 })
	id := hook(t, e, down.URL, "plan_done")
	for range 3 {
		finished(t, e, spec(t, "a"))
	}
	enginetest.Eventually(t, "three notices wait", func() bool {
		s, err := e.Settings(bg)
		must(t, err)
		return s.Webhooks[0].Waiting == 3 && len(down.events()) > 0
	})
	change := func(w engine.WebhookIn) {
		t.Helper()
		w.ID = id
		_, err := e.ChangeSettings(bg, engine.SettingsIn{Webhooks: &[]engine.WebhookIn{w}})
		must(t, err)
	}
	up := listen(t, nil)
	change(engine.WebhookIn{URL: &up.URL, Enabled: new(bool)})
	finished(t, e, spec(t, "a")) // nobody is told of this one
	change(engine.WebhookIn{Enabled: p(true)})
	up.until(t, "plan_done", "plan_done", "plan_done")
	for i, n := range up.got {
		if n.Plan.ID != plan.PlanID(i+1) {
			t.Errorf("notice %d is of plan %d", i+1, n.Plan.ID)
		}
	}
}

func TestAWebhookThatHangsKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	e, stop := enginetest.Run(t, impatient(t, enginetest.Done))
	asked, over := make(chan struct{}, 9), make(chan struct{}, 9)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client goes
		asked <- struct{}{}
		<-r.Context().Done()
		over <- struct{}{}
	}))
	t.Cleanup(hangs.Close)
	takes := listen(t, nil)
	_, err := e.ChangeSettings(bg, engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{URL: &hangs.URL}, {URL: &takes.URL}}})
	must(t, err)
	finished(t, e, spec(t, "a"))
	<-asked
	finished(t, e, spec(t, "a"))
	finished(t, e, spec(t, "a"))
	takes.until(t, "plan_done", "plan_done", "plan_done")
	if len(asked)+len(over) > 0 {
		t.Error("the notices came only when the other webhook was given up")
	}
	stop()
	<-over
}

func TestTestOfAWebhook(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, impatient(t, enginetest.Done))
	r := listen(t, nil)
	id := hook(t, e, r.URL+"/token-in-the-path")
	d, err := e.TestWebhook(bg, id)
	must(t, err)
	if !d.Taken() || d.Status != 204 || r.events()[0] != "test" {
		t.Errorf("delivery %+v", d)
	}
	r.Close()
	d, err = e.TestWebhook(bg, id)
	must(t, err)
	if d.Taken() || !strings.Contains(d.Fault, "could not be reached") || strings.Contains(d.Fault, "token-in-the-path") {
		t.Errorf("fault %q", d.Fault)
	}
	s, err := e.Settings(bg)
	must(t, err)
	if last := s.Webhooks[0].Last; last == nil || last.Key != d.Key || last.NextAt != 0 {
		t.Errorf("last is %+v", last)
	}
	if _, err := e.TestWebhook(bg, 99); plan.KindOf(err) != plan.NotFound {
		t.Errorf("an unknown webhook: %v", err)
	}
}
