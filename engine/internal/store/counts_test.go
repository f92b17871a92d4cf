package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// What the triggers keep, counted anew.
const (
	wrongBlockers = `SELECT n.plan_id || '.' || n.node_id || ' has ' || n.blockers FROM nodes n WHERE n.blockers <> (
		SELECT COUNT(*) FROM edges e JOIN nodes f ON f.plan_id = e.plan_id AND f.node_id = e.from_node
		WHERE e.plan_id = n.plan_id AND e.to_node = n.node_id
		AND NOT (f.state = 'done' OR f.state = 'skipped' AND f.skipped_by = 'person'))`
	keptTallies  = `SELECT plan_id || ' ' || state || ' ' || leaf || ' ' || mark || ' ' || n FROM tallies WHERE n <> 0 ORDER BY 1`
	countedTally = `SELECT plan_id || ' ' || state || ' ' || (subplan_id = 0) || ' ' || (state = 'ready' AND kind = 'user'
		OR state = 'skipped' AND skipped_by = 'failure') || ' ' || COUNT(*) FROM nodes
		GROUP BY plan_id, state, subplan_id = 0, (state = 'ready' AND kind = 'user' OR state = 'skipped' AND skipped_by = 'failure') ORDER BY 1`
	orphans = `SELECT 'tally of plan ' || plan_id FROM tallies WHERE plan_id NOT IN (SELECT id FROM plans)
		UNION ALL SELECT 'edge of ' || plan_id FROM edges e WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.plan_id = e.plan_id AND n.node_id = e.from_node)
		UNION ALL SELECT 'node of plan ' || plan_id FROM nodes WHERE plan_id NOT IN (SELECT id FROM plans)
		UNION ALL SELECT 'subplan ' || subplan_id FROM nodes WHERE subplan_id > 0 AND subplan_id NOT IN (SELECT id FROM plans)`
)

func recount(tx *Tx) error {
	var blockers, kept, counted, lost []string
	for _, q := range []struct {
		query string
		into  *[]string
	}{{wrongBlockers, &blockers}, {keptTallies, &kept}, {countedTally, &counted}, {orphans, &lost}} {
		if err := tx.list("recount", q.into, q.query); err != nil {
			return err
		}
	}
	if len(blockers)+len(lost) > 0 {
		return fmt.Errorf("blockers: %v; left over: %v", blockers, lost)
	}
	if diff := cmp.Diff(counted, kept); diff != "" {
		return fmt.Errorf("tallies (-counted +kept):\n%s", diff)
	}
	return nil
}

// chaos changes a database at random.
type chaos struct {
	r     *rand.Rand
	tx    *Tx
	kinds map[string]int // what it did, by kind
}

func (c *chaos) refs(where string) ([]plan.Ref, error) {
	var rows []struct {
		Plan plan.PlanID `db:"plan_id"`
		Node plan.NodeID `db:"node_id"`
	}
	err := c.tx.list("choose", &rows, "SELECT plan_id, node_id FROM nodes WHERE "+where+" ORDER BY 1, 2")
	out := make([]plan.Ref, len(rows))
	for i, r := range rows {
		out[i] = plan.Ref{Plan: r.Plan, Node: r.Node}
	}
	return out, err
}

func (c *chaos) step() error {
	all, err := c.refs("true")
	if err != nil {
		return err
	}
	if len(all) < 4 {
		return c.grow()
	}
	r := all[c.r.IntN(len(all))]
	switch k := c.r.IntN(20); {
	case k < 3 && len(all) < 60:
		return c.grow()
	case k < 7:
		return c.edge(r)
	case k < 8:
		return c.cut(r)
	case k < 9:
		return c.removeNode(r)
	case k < 10:
		return c.subplan(r)
	case k < 11 && c.r.IntN(3) == 0:
		return c.removeTree(r)
	case k < 13:
		return c.toggleKind(r)
	}
	return c.move(r)
}

func (c *chaos) did(kind string, err error) error {
	c.kinds[kind]++
	return err
}

func (c *chaos) grow() error {
	var plans []plan.PlanID
	if err := c.tx.list("choose", &plans, "SELECT id FROM plans ORDER BY id"); err != nil {
		return err
	}
	if len(plans) == 0 || c.r.IntN(10) == 0 {
		_, err := newPlan(c.tx, 1+c.r.IntN(4))
		return c.did("plan", err)
	}
	_, err := addNodes(c.tx, plans[c.r.IntN(len(plans))], 1+c.r.IntN(3))
	return c.did("nodes", err)
}

func (c *chaos) edge(r plan.Ref) error {
	same, err := c.refs(fmt.Sprintf("plan_id = %d AND node_id < %d", r.Plan, r.Node))
	if err != nil || len(same) == 0 {
		return err
	}
	var edges []plan.Edge
	for range 1 + c.r.IntN(3) {
		edges = append(edges, plan.Edge{From: same[c.r.IntN(len(same))].Node, To: r.Node})
	}
	_, err = c.tx.InsertEdges(r.Plan, edges)
	return c.did("edges", err)
}

func (c *chaos) cut(r plan.Ref) error {
	edges, err := c.tx.Edges(r.Plan)
	if err != nil || len(edges) == 0 {
		return err
	}
	_, err = c.tx.DeleteEdge(edges[c.r.IntN(len(edges))])
	return c.did("cut edge", err)
}

func (c *chaos) removeNode(r plan.Ref) error {
	n, err := c.tx.Node(r)
	if err != nil {
		return err
	}
	if n.Subplan != 0 {
		ids, err := c.tx.Subtree(n.Subplan)
		if err != nil {
			return err
		}
		if err := c.tx.DeletePlans(ids); err != nil {
			return err
		}
	}
	return c.did("remove node", c.tx.DeleteNode(r))
}

func (c *chaos) subplan(r plan.Ref) error {
	n, err := c.tx.Node(r)
	if err != nil || n.Subplan != 0 {
		return err
	}
	up, err := c.tx.Plan(r.Plan)
	if err != nil {
		return err
	}
	sub := &plan.Plan{Title: "sub", Root: up.Root, ParentPlan: r.Plan, ParentNode: r.Node}
	if err := c.tx.InsertPlan(sub, ""); err != nil {
		return err
	}
	_, err = addNodes(c.tx, sub.ID, c.r.IntN(4))
	return c.did("subplan", err)
}

func (c *chaos) removeTree(r plan.Ref) error {
	root, err := c.tx.RootOf(r.Plan)
	if err != nil {
		return err
	}
	ids, err := c.tx.Subtree(root)
	if err != nil {
		return err
	}
	return c.did("remove tree", c.tx.DeletePlans(ids))
}

func (c *chaos) toggleKind(r plan.Ref) error {
	n, err := c.tx.Node(r)
	if err != nil {
		return err
	}
	if n.Kind == plan.KindUser {
		n.Kind = plan.KindAgent
	} else {
		n.Kind = plan.KindUser
	}
	return c.did("kind", c.tx.UpdateNode(n))
}

func (c *chaos) move(r plan.Ref) error {
	return c.did("move", put(c.tx, r, plan.States[c.r.IntN(len(plan.States))], func(n *plan.Node) {
		n.SkippedBy = ""
		if n.State == plan.Skipped {
			n.SkippedBy = []string{plan.SkippedByPerson, plan.SkippedByFailure}[c.r.IntN(2)]
		}
	}))
}

func TestKeptCountsEqualARecount(t *testing.T) {
	s := open(t, Options{})
	c := &chaos{r: rand.New(rand.NewPCG(5, 5)), kinds: map[string]int{}}
	for i := range 200 {
		err := s.Write(t.Context(), func(tx *Tx) error {
			c.tx = tx
			for range 15 {
				if err := c.step(); err != nil {
					return err
				}
				if err := recount(tx); err != nil {
					return err
				}
			}
			if i%5 == 0 {
				return errNo // undone changes must not leave counts either
			}
			return nil
		})
		if err != nil && (i%5 != 0 || err.Error() != errNo.Error()) {
			t.Fatalf("after %d rounds (%v): %v", i, c.kinds, err)
		}
		read(t, s, recount)
	}
	for _, kind := range []string{"plan", "nodes", "edges", "cut edge", "remove node", "subplan", "remove tree", "kind", "move"} {
		if c.kinds[kind] < 10 {
			t.Errorf("%q happened %d times only: the test tests little", kind, c.kinds[kind])
		}
	}
}

func TestStatusAndOverviewsAreThoseOfTheSnapshot(t *testing.T) {
	s := open(t, Options{})
	c := &chaos{r: rand.New(rand.NewPCG(6, 6)), kinds: map[string]int{}}
	for range 60 {
		write(t, s, func(tx *Tx) error {
			c.tx = tx
			for range 10 {
				if err := c.step(); err != nil {
					return err
				}
			}
			return nil
		})
		read(t, s, compareOverviews)
	}
}

func compareOverviews(tx *Tx) error {
	list, err := tx.Overviews()
	if err != nil {
		return err
	}
	for i, o := range list {
		if i > 0 && list[i-1].Plan.ID <= o.Plan.ID {
			return fmt.Errorf("plan %d comes before %d: the newest should be first", list[i-1].Plan.ID, o.Plan.ID)
		}
		snap, err := tx.Snapshot(o.Plan.ID)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(snap.Tally(o.Plan.ID), o.Tally); diff != "" || snap.Status(o.Plan.ID) != o.State {
			return fmt.Errorf("plan %d is %s, in its snapshot %s; tally (-snapshot +overview):\n%s", o.Plan.ID, o.State, snap.Status(o.Plan.ID), diff)
		}
		for _, id := range snap.PlanIDs() {
			status, _, err := tx.Status(id)
			if err != nil || status != snap.Status(id) {
				return fmt.Errorf("plan %d is %s, in its snapshot %s (%v)", id, status, snap.Status(id), err)
			}
		}
	}
	return nil
}
