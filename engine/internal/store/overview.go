package store

import "github.com/clearbox-go/clearbox/engine/plan"

// Overview is a top-level plan with the counts of its tree.
type Overview struct {
	Plan  plan.Plan
	Tally plan.Tally // leaf nodes of the tree
	State plan.Status
}

const topPlans = `SELECT ` + planColumns + ` FROM plans WHERE parent_plan_id = 0 ORDER BY id DESC`

type tallyRow struct {
	PlanID plan.PlanID `db:"plan_id"`
	State  plan.State  `db:"state"`
	Mark   bool        `db:"mark"`
	N      int         `db:"n"`
}

const leafTallies = `SELECT p.root_id AS plan_id, t.state, t.mark, SUM(t.n) AS n FROM tallies t
	JOIN plans p ON p.id = t.plan_id WHERE t.leaf = 1 AND t.n > 0 GROUP BY 1, 2, 3`

const ownTallies = `SELECT t.plan_id, t.state, t.mark, SUM(t.n) AS n FROM tallies t
	JOIN plans p ON p.id = t.plan_id WHERE p.parent_plan_id = 0 AND t.n > 0 GROUP BY 1, 2, 3`

const askingSteps = `SELECT p.root_id AS plan_id, 'running' AS state, 1 AS mark, COUNT(*) AS n
	FROM nodes n INDEXED BY nodes_asking JOIN plans p ON p.id = n.plan_id
	WHERE n.state = 'running' AND (n.phase = 'needs_person' OR n.stalled_at > 0) GROUP BY 1`

// Overviews returns all top-level plans, the newest first.
func (t *Tx) Overviews() ([]Overview, error) {
	var plans []plan.Plan
	if err := t.list("list plans", &plans, topPlans); err != nil {
		return nil, err
	}
	var leaves, own, asking []tallyRow
	if err := t.list("count steps", &leaves, leafTallies); err != nil {
		return nil, err
	}
	if err := t.list("count steps", &own, ownTallies); err != nil {
		return nil, err
	}
	if err := t.list("count steps that wait for a person", &asking, askingSteps); err != nil {
		return nil, err
	}
	list := make([]Overview, len(plans))
	at := make(map[plan.PlanID]*Overview, len(plans))
	for i := range plans {
		list[i].Plan = plans[i]
		at[plans[i].ID] = &list[i]
	}
	for _, r := range leaves {
		if o := at[r.PlanID]; o != nil {
			o.Tally.Count(r.State, r.N)
			if r.State == plan.Ready && r.Mark {
				o.Tally.Waiting += r.N
			}
		}
	}
	for _, r := range asking {
		if o := at[r.PlanID]; o != nil {
			o.Tally.Asking = r.N
		}
	}
	fillStatus(list, at, own)
	return list, nil
}

func fillStatus(list []Overview, at map[plan.PlanID]*Overview, own []tallyRow) {
	counts := make(map[plan.PlanID]*ownCount, len(list))
	for _, r := range own {
		if counts[r.PlanID] == nil {
			counts[r.PlanID] = &ownCount{}
		}
		counts[r.PlanID].add(r)
	}
	for id, o := range at {
		o.State = plan.StatusEmpty
		if c := counts[id]; c != nil {
			o.State = plan.StatusOf(c.tally, c.byFailure)
		}
	}
}

// ownCount counts the nodes of one plan, without those of nested plans.
type ownCount struct {
	tally     plan.Tally
	byFailure int
}

func (c *ownCount) add(r tallyRow) {
	c.tally.Count(r.State, r.N)
	if r.State == plan.Skipped && r.Mark {
		c.byFailure += r.N
	}
}

const planTallies = `SELECT state, mark, n FROM tallies WHERE plan_id = ? AND n > 0`

// Status returns the state of one plan and the counts of its own nodes.
func (t *Tx) Status(id plan.PlanID) (plan.Status, plan.Tally, error) {
	var c ownCount
	err := t.rows("count steps", planTallies, []any{id}, func(row *cells) error {
		c.add(tallyRow{State: plan.State(row.text()), Mark: row.yes(), N: int(row.int())})
		return nil
	})
	if err != nil {
		return "", plan.Tally{}, err
	}
	return plan.StatusOf(c.tally, c.byFailure), c.tally, nil
}
