package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// spend enters what a run has used so far, in all, and tells when that uses up
// the budget of its plan.
func spend(tx *store.Tx, root plan.PlanID, run *plan.Run) error {
	if run.TokensIn == nil && run.TokensOut == nil && run.CostUSD == nil {
		return nil
	}
	before, err := tx.Plan(root)
	if err != nil {
		return err
	}
	if err := tx.AddSpend(root, run); err != nil {
		return err
	}
	if before.MaxTokens == 0 && before.MaxCostUSD == 0 {
		return nil
	}
	after, err := tx.Plan(root)
	if err != nil || after.Spent == before.Spent {
		return err
	}
	if why := after.OverBudget(); why != "" && before.OverBudget() == "" {
		if err := tx.Note(root, plan.Ref{Plan: root}, "", plan.EventSystem, textData{why}); err != nil {
			return err
		}
		if err := (&mover{tx: tx, root: after}).tell(NoticeWaiting, WaitsBudget, nil, why); err != nil {
			return err
		}
	}
	return recordPlan(tx, root, false)
}

// overRunLimit says in words when a run has used more than its agent may per run.
func overRunLimit(run *plan.Run) string {
	used := deref64(run.TokensIn) + deref64(run.TokensOut)
	if run.MaxTokens == 0 || used < run.MaxTokens {
		return ""
	}
	return fmt.Sprintf("the run used %d tokens; agent %q may use %d per run: raise its max_tokens_per_run, or split the step",
		used, run.AgentName, run.MaxTokens)
}

func deref64(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// checkRunLimit ends a run that has used more than its agent might when it began.
func (k *sink) checkRunLimit(ctx context.Context) error {
	if k.s.run.MaxTokens == 0 {
		return nil
	}
	var over string
	err := k.e.store.Read(ctx, func(tx *store.Tx) error {
		run, err := tx.Run(k.s.run.ID)
		if err == nil && run.Open() {
			over = overRunLimit(run)
		}
		return err
	})
	if over != "" {
		k.e.spawn(func() { k.e.askToStop(ctx, k.s, causeBudget) })
	}
	return err
}

// canBeCosted refuses agents that nobody can say the price of where a plan has a
// budget of money.
func canBeCosted(root *plan.Plan, p *plan.Profile, f plugin.Features) error {
	if root.MaxCostUSD == 0 || f.Cost && !needsPrices(p) {
		return nil
	}
	return plan.Errorf(plan.Unavailable, "agent %q cannot run: the plan has a budget of money (max_cost_usd), and nobody knows what this "+
		"agent costs; set params.input_price_per_mtok and params.output_price_per_mtok, or give the plan a budget of tokens", p.Name)
}

// needsPrices reports whether a profile of a harness that works out costs from
// prices has none.
func needsPrices(p *plan.Profile) bool {
	if p.Harness != "openai" {
		return false
	}
	var params struct {
		In  *float64 `json:"input_price_per_mtok"`
		Out *float64 `json:"output_price_per_mtok"`
	}
	return json.Unmarshal(p.Params, &params) != nil || params.In == nil || params.Out == nil
}
