package plan

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestParseRef(t *testing.T) {
	for _, c := range []struct {
		text string
		want Ref
	}{
		{"3.2", Ref{3, 2}}, {"1.0", Ref{1, 0}}, {"12345678901.99", Ref{12345678901, 99}},
		{"", Ref{}}, {"3", Ref{}}, {"3.", Ref{}}, {".2", Ref{}}, {"0.1", Ref{}}, {"-1.2", Ref{}}, {"1.-2", Ref{}},
		{"3.2.1", Ref{}}, {"a.b", Ref{}}, {"3,2", Ref{}}, {"3. 2", Ref{}}, {"99999999999999999999.1", Ref{}},
	} {
		got, err := ParseRef(c.text)
		if got != c.want || (KindOf(err) == Invalid) != c.want.IsZero() {
			t.Errorf("%q: got %v, %v; want %v", c.text, got, err, c.want)
		}
		if err == nil && got.String() != c.text {
			t.Errorf("%q reads back as %q", c.text, got)
		}
	}
}

func TestRefsAreOrderedByPlanThenNode(t *testing.T) {
	refs := []Ref{{10, 1}, {2, 11}, {2, 2}, {1, 100}}
	slices.SortFunc(refs, Ref.Compare)
	if want := []Ref{{1, 100}, {2, 2}, {2, 11}, {10, 1}}; !slices.Equal(refs, want) {
		t.Errorf("got %v, want %v", refs, want)
	}
	for i, r := range refs {
		if refOf(r.rank()) != r {
			t.Errorf("%s comes out of its rank as %s", r, refOf(r.rank()))
		}
		if i > 0 && refs[i-1].rank() >= r.rank() {
			t.Errorf("rank of %s is not below that of %s", refs[i-1], r)
		}
	}
}

func TestStampJSON(t *testing.T) {
	for _, c := range []struct {
		s    Stamp
		want string
	}{{0, "null"}, {1.5, "1.5"}, {1700000000.25, "1700000000.25"}, {1700000000, "1700000000"}, {-1, "-1"}} {
		b, err := json.Marshal(struct{ At Stamp }{c.s})
		if err != nil || string(b) != `{"At":`+c.want+`}` {
			t.Errorf("%v is written as %s, %v; want %s", float64(c.s), b, err, c.want)
		}
		var back struct{ At Stamp }
		if err := json.Unmarshal(b, &back); err != nil || back.At != c.s {
			t.Errorf("%s is read as %v, %v; want %v", b, back.At, err, c.s)
		}
	}
}

func TestStampKeepsMicroseconds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		at := time.UnixMicro(1_500_000_000_000_000 + r.Int64N(1_000_000_000_000_000))
		if got := StampOf(at).Time(); !got.Equal(at) {
			t.Fatalf("%v comes back as %v", at.UnixMicro(), got.UnixMicro())
		}
	}
	if got := StampOf(time.Time{}); got != 0 || !got.Time().IsZero() {
		t.Errorf("never is %v, %v", got, got.Time())
	}
}

func TestParseKindAndExecutor(t *testing.T) {
	for text, want := range map[string]NodeKind{"": KindAgent, "agent": KindAgent, "user": KindUser, "User": "", "robot": ""} {
		if got, err := ParseKind(text); got != want || (KindOf(err) == Invalid) != (want == "") {
			t.Errorf("kind %q: got %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]Executor{"": Builtin, "builtin": Builtin, "external": External, "me": ""} {
		if got, err := ParseExecutor(text); got != want || (KindOf(err) == Invalid) != (want == "") {
			t.Errorf("executor %q: got %q, %v", text, got, err)
		}
	}
}

func TestUnapprovedPlansMayNotStart(t *testing.T) {
	for a, want := range map[Approval]bool{NoApproval: true, Approved: true, "": true,
		Planning: false, PlanningFailed: false, Awaiting: false, Rejected: false, "other": false} {
		if got := a.MayStart(); got != want {
			t.Errorf("approval %q: may start %v, want %v", a, got, want)
		}
	}
}

func TestNodePredicates(t *testing.T) {
	for _, c := range []struct {
		name                        string
		n                           Node
		waiting, working, satisfied bool
	}{
		{"pending", Node{State: Pending}, false, false, false},
		{"ready user step", Node{State: Ready, Kind: KindUser}, true, false, false},
		{"ready agent step", Node{State: Ready, Kind: KindAgent}, false, false, false},
		{"pending user step", Node{State: Pending, Kind: KindUser}, false, false, false},
		{"agent at work", Node{State: Running, AgentKind: "builtin"}, false, true, false},
		{"agent has ended, subplan works", Node{State: Running, AgentKind: "builtin", AgentDone: true}, false, false, false},
		{"container without agent", Node{State: Running}, false, false, false},
		{"done", Node{State: Done, AgentKind: "builtin"}, false, false, true},
		{"failed", Node{State: Failed, AgentKind: "builtin"}, false, false, false},
		{"skipped by a person", Node{State: Skipped, SkippedBy: SkippedByPerson}, false, false, true},
		{"skipped by a failure", Node{State: Skipped, SkippedBy: SkippedByFailure}, false, false, false},
	} {
		if c.n.WaitingForUser() != c.waiting || c.n.Working() != c.working || c.n.Satisfied() != c.satisfied {
			t.Errorf("%s: waiting %v, working %v, satisfied %v; want %v, %v, %v", c.name,
				c.n.WaitingForUser(), c.n.Working(), c.n.Satisfied(), c.waiting, c.working, c.satisfied)
		}
	}
}

func TestStatusOfPlan(t *testing.T) {
	count := func(states ...State) (t Tally) {
		for _, s := range states {
			t.Count(s, 1)
		}
		return t
	}
	for _, c := range []struct {
		name      string
		tally     Tally
		byFailure int
		want      Status
	}{
		{"no nodes", count(), 0, StatusEmpty},
		{"nothing began", count(Pending, Pending), 0, StatusPending},
		{"one can start", count(Ready, Pending), 0, StatusRunning},
		{"one runs", count(Running, Pending), 0, StatusRunning},
		{"one is done", count(Done, Pending), 0, StatusRunning},
		{"one is skipped", count(Skipped, Pending), 0, StatusRunning},
		{"all done", count(Done, Done), 0, StatusDone},
		{"all done or skipped by a person", count(Done, Skipped), 0, StatusDone},
		{"all skipped by a person", count(Skipped), 0, StatusDone},
		{"one failed", count(Failed, Done), 0, StatusFailed},
		{"one failed, another runs", count(Failed, Running), 0, StatusFailed},
		{"failed and skipped for it", count(Failed, Skipped, Done), 1, StatusFailed},
		{"skipped by a failure is not done", count(Done, Skipped), 1, StatusRunning},
	} {
		if got := StatusOf(c.tally, c.byFailure); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTallyCountsEachState(t *testing.T) {
	var got Tally
	for i, s := range States {
		got.Count(s, i+1)
	}
	if want := (Tally{Total: 21, Pending: 1, Ready: 2, Running: 3, Done: 4, Failed: 5, Skipped: 6}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got.Count(Done, -4)
	if got.Done != 0 || got.Total != 17 {
		t.Errorf("after taking four back: %+v", got)
	}
}

func TestActorTravelsInTheContext(t *testing.T) {
	if got := ActorFrom(t.Context()); got != (Actor{}) || got.Role != Trusted {
		t.Errorf("a context without actor gives %+v, want the trusted one", got)
	}
	a := Actor{Role: Worker, Run: "r1", Ref: Ref{3, 2}}
	ctx, cancel := context.WithCancel(WithActor(t.Context(), a))
	defer cancel()
	if got := ActorFrom(ctx); got != a {
		t.Errorf("got %+v, want %+v", got, a)
	}
}
