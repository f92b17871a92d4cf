package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// timedTree is a plan that began at 900: 1 → 2 → 5, 1 → 3 (subplan 2: 1 → 2) → 5,
// 4 waits for files of 2, 6 is a person's.
func timedTree(edit func(map[string]*plan.Node)) *plan.Snapshot {
	return tree(func(nodes map[string]*plan.Node) {
		nodes["1.1"].FinishedAt = 1130
		nodes["1.2"].PhaseSince = 1200
		nodes["1.3"].PhaseSince, nodes["1.3"].StartedAt = 1140, 1140
		nodes["1.4"].PhaseSince = 905
		nodes["2.1"].StartedAt, nodes["2.1"].FinishedAt = 1150, 1180
		if edit != nil {
			edit(nodes)
		}
	})
}

func ref(p, n int64) plan.Ref { return plan.Ref{Plan: plan.PlanID(p), Node: plan.NodeID(n)} }

var timedRuns = []plan.Run{
	{PlanID: 1, NodeID: 1, Number: 1, Kind: plan.RunStep, AgentName: "claude", Outcome: plan.OutcomeFailed, StartedAt: 1000, FinishedAt: 1040},
	{PlanID: 1, NodeID: 1, Number: 2, Kind: plan.RunStep, AgentName: "claude", Outcome: plan.OutcomeDone, StartedAt: 1050, FinishedAt: 1120},
	{PlanID: 1, NodeID: 2, Number: 1, Kind: plan.RunStep, AgentName: "claude", StartedAt: 1200},
}

func timedStretches() []Stretch {
	return []Stretch{
		{Node: ref(1, 1), State: plan.Ready, Phase: plan.PhaseSlot, Since: 905, Until: 1000},
		{Node: ref(1, 1), State: plan.Running, Phase: plan.PhaseWorking, Since: 1000, Until: 1120},
		{Node: ref(1, 1), State: plan.Running, Phase: plan.PhaseReviewing, Since: 1120, Until: 1130},
		{Node: ref(1, 2), State: plan.Ready, Phase: plan.PhaseQueued, Since: 1130, Until: 1130.01},
		{Node: ref(1, 2), State: plan.Ready, Phase: plan.PhaseLimit, Since: 1131, Until: 1170},
		{Node: ref(1, 2), State: plan.Ready, Phase: plan.PhaseLimit, Since: 1170, Until: 1200},
	}
}

func timed(s *plan.Snapshot, now plan.Stamp) *Timeline {
	return newTimeline(newScene(s), Place{Plan: 1, View: ViewTimeline}, &TimelineInput{Stretches: timedStretches(), Runs: timedRuns, Now: now})
}

func TestATimelineSaysWhatEachStepWaitedFor(t *testing.T) {
	got := map[string]string{}
	for _, r := range timed(timedTree(nil), 1400).Rows {
		got[r.Node.String()] = r.Words
	}
	want := map[string]string{
		"1.1": "waited 1m 35s for a free agent · run 1 by claude, failed, 40s · run 2 by claude, done, 1m 10s · checks and reviews 10s",
		"1.2": "waited 3m 50s for 1.1 · waited 1m 09s for its provider's limit · run 1 by claude, running",
		"1.3": "waited 4m 00s for 1.1 · its subplan",
		"1.4": "waits for files that 1.2 has",
		"1.5": "waits for 1.2 and 1 more",
		"1.6": "waits for you",
		"2.1": "not begun",
		"2.2": "waits for 2.1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestATimelineNestsSubplansUnderTheirStep(t *testing.T) {
	var got []string
	for _, r := range timed(timedTree(nil), 1400).Rows {
		got = append(got, strings.Repeat(">", r.Depth)+r.Node.String())
	}
	if diff := cmp.Diff([]string{"1.1", "1.2", "1.3", ">2.1", ">2.2", "1.4", "1.5", "1.6"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheCriticalPathGoesBackThroughWhatEndedLast(t *testing.T) {
	s := timedTree(func(n map[string]*plan.Node) {
		for _, ref := range []string{"1.2", "1.3", "1.5"} {
			n[ref].State, n[ref].StartedAt = plan.Done, 1200
		}
		n["1.2"].FinishedAt, n["1.3"].FinishedAt, n["1.5"].FinishedAt = 1300, 1310, 1390
		n["2.2"].State, n["2.2"].StartedAt, n["2.2"].FinishedAt = plan.Done, 1190, 1310
		n["1.4"].State, n["1.4"].FinishedAt = plan.Done, 1000
		n["1.6"].State, n["1.6"].FinishedAt = plan.Done, 1001
	})
	var got []string
	for _, r := range timed(s, 1400).Rows {
		if r.Critical {
			got = append(got, r.Node.String())
		}
	}
	if diff := cmp.Diff([]string{"1.1", "1.3", "2.1", "2.2", "1.5"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheEndIsEstimatedFromStepsThatAreDone(t *testing.T) {
	// 1 took 130 s, 2.1 took 30 s: 80 s on average. 2 began 40 s ago and has 40 s
	// to go, then 5; in the subplan 2 has 80 s, then 5 too; 4 needs 80 s.
	s := timedTree(func(n map[string]*plan.Node) { n["1.2"].StartedAt = 1360 })
	e := timed(s, 1400).Estimate
	if e == nil {
		t.Fatal("there is no estimate")
	}
	if diff := cmp.Diff(&Estimate{At: 1400 + 160, Usual: 80, From: 2, Left: 4, Yours: 1}, e); diff != "" {
		t.Error(diff)
	}
	s.Root().MaxParallel = 1 // 40 + 80 + 80 + 80
	if e = timed(s, 1400).Estimate; e.At != 1400+280 {
		t.Errorf("one at a time it ends after %v s", e.At-1400)
	}
	s.Root().Started = false
	if e := timed(s, 1400).Estimate; e != nil {
		t.Errorf("a plan that is stopped ends at %v", e.At)
	}
}

func TestTheAxisHoldsStillWhileTimeGoesOn(t *testing.T) {
	s := timedTree(nil)
	one, two := timed(s, 1400), timed(s, 1410)
	if one.scale != two.scale {
		t.Errorf("the axis moved from %v to %v", one.scale, two.scale)
	}
	for i := range one.Rows {
		if a, b := render(t, timelineRow(&one.Rows[i])), render(t, timelineRow(&two.Rows[i])); a != b {
			t.Errorf("a row changed though nothing happened:\n%s\n%s", a, b)
		}
	}
	if late := timed(s, 5000); late.scale.from+plan.Stamp(late.scale.span) <= 5000 {
		t.Errorf("now is not on the axis %v", late.scale)
	}
}

func TestBarsLieOnTheAxisInOrder(t *testing.T) {
	l := timed(timedTree(nil), 1400)
	for _, r := range l.Rows {
		for _, b := range r.bars {
			if b.x < 0 || b.x > 100 || b.from == 0 && (b.w <= 0 || b.x+b.w > 100.2) {
				t.Errorf("%s: bar %+v is beside the axis", r.Node, b)
			}
		}
	}
	if n := len(l.scale.marks()); n < 3 || n > 9 {
		t.Errorf("the axis has %d marks", n)
	}
}

func TestAxisMarksAreInWordsOfTheirSize(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0", 45: "45s", 120: "2m", 90: "1:30m", 3600: "1h", 5400: "1h 30m", 86400: "1d", 100800: "1d 4h"} {
		if got := axisWords(seconds); got != want {
			t.Errorf("%v s are %q, want %q", seconds, got, want)
		}
	}
}

func TestTheInboxPutsWhatIsUrgentFirst(t *testing.T) {
	b := NewInbox([]InboxItem{
		{Kind: WaitsFailed, Node: ref(1, 3), Title: "failed", Since: 1},
		{Kind: WaitsStep, Node: ref(1, 5), Title: "late", Since: 9},
		{Kind: WaitsStep, Node: ref(2, 1), Title: "early", Since: 5},
		NewQuestion(plan.Question{ID: "q", PlanID: 1, NodeID: 2, Tool: "Bash", AskedAt: 7}, "asks", "Plan"),
	}, nil, 1)
	var got []string
	for _, it := range b.Items {
		got = append(got, it.Title)
	}
	if diff := cmp.Diff([]string{"asks", "early", "late", "failed"}, got); diff != "" {
		t.Error(diff)
	}
	if b.Waiting() != 3 || b.Failed() != 1 {
		t.Errorf("%d wait and %d failed, want 3 and 1", b.Waiting(), b.Failed())
	}
}

func TestPlansAreOrdered(t *testing.T) {
	plans := []PlanSummary{
		{ID: 3, Title: "beta", Tally: plan.Tally{Total: 4, Done: 1}},
		{ID: 2, Title: "Alpha", Tally: plan.Tally{Total: 2, Done: 2, Waiting: 0}},
		{ID: 1, Title: "gamma", Tally: plan.Tally{Total: 2, Waiting: 1}}}
	for order, want := range map[string][]plan.PlanID{"": {3, 2, 1}, "nonsense": {3, 2, 1}, "oldest": {1, 2, 3}, "title": {2, 3, 1}, "waiting": {1, 3, 2}, "progress": {1, 3, 2}} {
		var got []plan.PlanID
		for _, p := range NewPlansPage(PlansInput{Plans: plans, Sort: order}).Plans {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order %q: %s", order, diff)
		}
	}
}
