package store

import "github.com/clearbox-go/clearbox/engine/plan"

const addSpend = `INSERT INTO spend (root_id, plan_id, node_id, run_id, kind, profile_id, tokens_in, tokens_out, cost_usd, ts, ended)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE SET tokens_in = excluded.tokens_in,
	tokens_out = excluded.tokens_out, cost_usd = excluded.cost_usd, ts = excluded.ts, ended = excluded.ended`

// AddSpend enters into the ledger what a run has used so far, in all. Resets do
// not clear it. A run that told nothing of what it used has no entry.
func (t *Tx) AddSpend(root plan.PlanID, r *plan.Run) error {
	if r.TokensIn == nil && r.TokensOut == nil && r.CostUSD == nil {
		return nil
	}
	_, err := t.exec("enter what a run spent", addSpend, root, r.PlanID, r.NodeID, r.ID, r.Kind, r.Profile,
		orZero(r.TokensIn), orZero(r.TokensOut), r.CostUSD, t.now, !r.Open())
	return err
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

const allLimits = `SELECT profile_id, until, times, text FROM limits ORDER BY profile_id`

// Limits returns the limits of providers that are not known to be over.
func (t *Tx) Limits() ([]plan.Limit, error) {
	var list []plan.Limit
	err := t.list("read limits", &list, allLimits)
	return list, err
}

const setLimit = `INSERT INTO limits (profile_id, until, times, text) VALUES (?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET until = excluded.until, times = excluded.times, text = excluded.text`

const clearLimit = `DELETE FROM limits WHERE profile_id = ?`

// SetLimit keeps a limit, or forgets it when it is over.
func (t *Tx) SetLimit(l plan.Limit) error {
	if l.Until == 0 {
		_, err := t.exec("forget a limit", clearLimit, l.Profile)
		return err
	}
	_, err := t.exec("keep a limit", setLimit, l.Profile, l.Until, l.Times, l.Text)
	return err
}
