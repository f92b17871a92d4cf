package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func planWith(max plan.Policies, spent plan.Spent) *plan.Plan {
	return &plan.Plan{ID: 1, Root: 1, Started: true, Policies: max, Spent: spent}
}

func TestMeters(t *testing.T) {
	for name, c := range map[string]struct {
		max   plan.Policies
		spent plan.Spent
		want  *Meter
		look  string
	}{
		"no budget": {plan.Policies{}, plan.Spent{Tokens: 5, Uncosted: 1}, nil, ""},
		"tokens": {plan.Policies{MaxTokens: 100_000}, plan.Spent{Tokens: 41_200}, &Meter{0.412, "41k / 100k tokens",
			"Budget: 41,200 of 100,000 tokens spent"}, "spent"},
		"money, nearly gone": {plan.Policies{MaxCostUSD: 5}, plan.Spent{CostUSD: 4.5, Uncosted: 2}, &Meter{0.9, "$4.50 / $5.00",
			"Budget: $4.50 of $5.00 spent; 2 runs of unknown cost are not counted"}, "you"},
		"the one that is nearer its end": {plan.Policies{MaxTokens: 1000, MaxCostUSD: 2}, plan.Spent{Tokens: 1200, CostUSD: 1}, &Meter{1.2, "1.2k / 1k tokens",
			"Budget: 1,200 of 1,000 tokens spent; $1.00 of $2.00 spent"}, "failed"},
		"nothing spent": {plan.Policies{MaxTokens: 1000}, plan.Spent{}, &Meter{0, "0 / 1k tokens", "Budget: 0 of 1,000 tokens spent"}, "spent"},
	} {
		got := newMeter(planWith(c.max, c.spent))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got != nil && got.look() != c.look {
			t.Errorf("%s looks %s, want %s", name, got.look(), c.look)
		}
	}
}

func TestABudgetThatIsUsedUpIsSaid(t *testing.T) {
	p := planWith(plan.Policies{MaxTokens: 1000, MaxCostUSD: 5}, plan.Spent{Tokens: 1234})
	got := overBudget(p, plan.Tally{Total: 2, Ready: 1, Done: 1})
	if !strings.HasPrefix(got, "The budget is used up: 1,234 of 1,000 tokens spent. ") {
		t.Errorf("got %q", got)
	}
	if got := overBudget(p, plan.Tally{Total: 2, Done: 2}); got != "" {
		t.Errorf("a plan that is done says %q", got)
	}
	p.MaxTokens = 2000
	if got := overBudget(p, plan.Tally{Total: 2, Ready: 1}); got != "" {
		t.Errorf("a plan with budget left says %q", got)
	}
}

func TestOverBudgetLeadsToTheSettings(t *testing.T) {
	s := tree(nil)
	s.Root().MaxTokens, s.Root().Tokens = 1000, 2000
	out := render(t, PlanView(planPage(s, Place{Plan: 1})))
	for _, want := range []string{`data-testid="over-budget"`, `data-testid="meter"`, `data-focus="set-tokens"`} {
		if !strings.Contains(out, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	inside := render(t, PlanView(planPage(s, Place{Plan: 2})))
	if !strings.Contains(inside, `data-testid="over-budget"`) || strings.Contains(inside, `data-focus="set-tokens"`) || !strings.Contains(inside, "Go to the whole plan") {
		t.Error("a subplan, which has no such setting, does not lead to the whole plan")
	}
}

func TestSettingsShowWhatIsSet(t *testing.T) {
	s := tree(nil)
	root := s.Root()
	root.MaxAttempts, root.MaxTokens, root.MaxCostUSD, root.StallAfter, root.OnFailure = 3, 50_000, 1.25, 100, "skip"
	root.Tokens, root.Spent.CostUSD, root.Uncosted = 1234, 0.5, 1
	set := planPage(s, Place{Plan: 1}).Settings
	if set.MaxAttempts != "3" || set.MaxTokens != "50000" || set.MaxCost != "1.25" || set.StallMinutes != "1.67" || set.SpentTokens != "1,234" ||
		set.SpentCost != "$0.50; 1 run of unknown cost is not counted" {
		t.Errorf("got %+v", set)
	}
	out := render(t, settingsDialog(planPage(s, Place{Plan: 1})))
	if !strings.Contains(out, `<option value="skip" selected>`) {
		t.Error("the policy is not chosen")
	}
	if out := render(t, settingsDialog(planPage(s, Place{Plan: 2}))); strings.Contains(out, "max_tokens") {
		t.Error("a subplan is offered a budget")
	}
}
