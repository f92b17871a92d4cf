package views

import (
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Meter is how much of its budget a plan has spent.
type Meter struct {
	Share float64 // of what it may spend; of two budgets that which is nearer its end
	Text  string  // short
	Words string  // in full
}

// budget is one of the two that a plan can have.
type budget struct {
	share      float64
	text, full string
}

// newMeter returns nil for a plan without a budget.
func newMeter(root *plan.Plan) *Meter {
	all := budgets(root)
	if len(all) == 0 {
		return nil
	}
	m := &Meter{Share: -1}
	var words []string
	for _, b := range all {
		words = append(words, b.full)
		if b.share > m.Share {
			m.Share, m.Text = b.share, b.text
		}
	}
	if root.MaxCostUSD > 0 && root.Uncosted > 0 {
		words = append(words, uncosted(root))
	}
	m.Words = "Budget: " + strings.Join(words, "; ")
	return m
}

func budgets(root *plan.Plan) []budget {
	var list []budget
	if most := root.MaxTokens; most > 0 {
		list = append(list, budget{float64(root.Tokens) / float64(most), short(root.Tokens) + " / " + short(most) + " tokens",
			grouped(root.Tokens) + " of " + grouped(most) + " tokens spent"})
	}
	if most := root.MaxCostUSD; most > 0 {
		spent := root.Spent.CostUSD
		list = append(list, budget{spent / most, dollars(spent) + " / " + dollars(most), dollars(spent) + " of " + dollars(most) + " spent"})
	}
	return list
}

// dollars writes a sum, to as many digits as it needs to be more than nothing.
func dollars(f float64) string {
	if f > 0 && f < 0.01 {
		return fmt.Sprintf("$%.4f", f)
	}
	return fmt.Sprintf("$%.2f", f)
}

func uncosted(root *plan.Plan) string {
	if root.Uncosted == 1 {
		return "1 run of unknown cost is not counted"
	}
	return fmt.Sprintf("%d runs of unknown cost are not counted", root.Uncosted)
}

// look colours the meter: the last fifth is a warning.
func (m *Meter) look() string {
	switch {
	case m.Share >= 1:
		return "failed"
	case m.Share >= 0.8:
		return "you"
	}
	return "spent"
}

// width is the filled part of the meter in hundredths.
func (m *Meter) width() string { return hundredth(100 * max(0, min(m.Share, 1))) }

// overBudget says that nothing new starts because of a plan's budget, "" where
// nothing would start anyway.
func overBudget(root *plan.Plan, t plan.Tally) string {
	if root.OverBudget() == "" || t.Pending+t.Ready == 0 {
		return ""
	}
	var spent []string
	for _, b := range budgets(root) {
		if b.share >= 1 {
			spent = append(spent, b.full)
		}
	}
	return "The budget is used up: " + strings.Join(spent, ", ") + ". Steps that run finish; nothing new starts until it is raised."
}
