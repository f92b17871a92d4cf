package store

import "github.com/clearbox-go/clearbox/engine/plan"

// ProfileUse is a place that names an agent profile.
type ProfileUse struct {
	PlanID plan.PlanID `db:"plan_id"`
	NodeID plan.NodeID `db:"node_id"` // 0: the plan itself
	Title  string      `db:"title"`
	Review bool        `db:"review"`
}

const (
	plansNaming     = `SELECT id AS plan_id, 0 AS node_id, title, 0 AS review FROM plans WHERE default_profile_id = ?1 AND default_profile_id > 0 ORDER BY id LIMIT ?2`
	nodesNaming     = `SELECT plan_id, node_id, title, 0 AS review FROM nodes WHERE profile_id = ?1 AND profile_id > 0 ORDER BY plan_id, node_id LIMIT ?2`
	reviewersNaming = `SELECT id AS plan_id, 0 AS node_id, title, 1 AS review FROM plans WHERE review_profile_id = ?1 AND review_profile_id > 0 ORDER BY id LIMIT ?2`
)

// ProfileUses lists the plans and steps that name a profile, at most so many of
// each kind.
func (t *Tx) ProfileUses(id plan.ProfileID, most int) ([]ProfileUse, error) {
	var all []ProfileUse
	for _, query := range []string{plansNaming, nodesNaming, reviewersNaming} {
		var part []ProfileUse
		if err := t.list("find who names a profile", &part, query, id, most); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

const spendByProfile = `SELECT profile_id, COUNT(*) AS runs, SUM(tokens_in) AS tokens_in, SUM(tokens_out) AS tokens_out, SUM(cost_usd) AS cost_usd,
	COUNT(cost_usd) AS priced FROM spend WHERE profile_id > 0 GROUP BY profile_id`

// SpendByProfile adds up the ledger for each profile.
func (t *Tx) SpendByProfile() ([]plan.ProfileSpend, error) {
	var list []plan.ProfileSpend
	err := t.list("add up what profiles spent", &list, spendByProfile)
	return list, err
}
