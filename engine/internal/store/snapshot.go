package store

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const rootOf = `SELECT root_id FROM plans WHERE id = ?`

// RootOf returns the root of a plan's tree; NotFound when there is no such plan.
func (t *Tx) RootOf(id plan.PlanID) (plan.PlanID, error) {
	var root plan.PlanID
	err := t.get("find the root plan", &root, rootOf, id)
	if isNone(err) {
		return 0, plan.Errorf(plan.NotFound, "there is no plan %d", id)
	}
	return root, err
}

const (
	treePlans = `SELECT ` + planColumns + ` FROM plans WHERE root_id = ? ORDER BY id`
	treeNodes = `SELECT ` + nodeColumns + ` FROM plans p JOIN nodes n ON n.plan_id = p.id WHERE p.root_id = ?`
	treeEdges = `SELECT e.plan_id, group_concat(e.from_node || ' ' || e.to_node, ' ') AS text
		FROM plans p JOIN edges e ON e.plan_id = p.id WHERE p.root_id = ? GROUP BY e.plan_id`
	treeFiles = `SELECT f.plan_id, group_concat(f.node_id || char(0) || f.key || char(0) || f.path || char(0), '') AS text
		FROM plans p JOIN node_files f ON f.plan_id = p.id WHERE p.root_id = ? GROUP BY f.plan_id`
	treeFrom = `SELECT f.plan_id, group_concat(f.node_id || ' ' || f.from_node, ' ') AS text
		FROM plans p JOIN results_from f ON f.plan_id = p.id WHERE p.root_id = ? GROUP BY f.plan_id`
)

// Snapshot reads the whole tree that a plan belongs to, in a number of queries
// that does not depend on its size. Server and Holds are left for the engine.
func (t *Tx) Snapshot(id plan.PlanID) (*plan.Snapshot, error) {
	root, err := t.RootOf(id)
	if err != nil {
		return nil, err
	}
	var plans []plan.Plan
	if err := t.list("read the plans of a tree", &plans, treePlans, root); err != nil {
		return nil, err
	}
	nodes, err := t.treeNodes(root, plans)
	if err != nil {
		return nil, err
	}
	edges, err := t.treeEdges(root)
	if err != nil {
		return nil, err
	}
	s := plan.NewSnapshot(plans, nodes, edges)
	if err := t.addLists(root, s); err != nil {
		return nil, err
	}
	return s, t.addContext(root, s)
}

func (t *Tx) treeNodes(root plan.PlanID, plans []plan.Plan) ([]plan.Node, error) {
	nodes := make([]plan.Node, 0, mostNodes(plans))
	err := t.rows("read the steps of a tree", treeNodes, []any{root}, func(c *cells) error {
		nodes = append(nodes, plan.Node{})
		return c.node(&nodes[len(nodes)-1])
	})
	return nodes, err
}

// mostNodes returns how many nodes plans can have at most, by the numbers given out.
func mostNodes(plans []plan.Plan) int {
	n := 0
	for _, p := range plans {
		n += int(p.NextNode) - 1
	}
	return n
}

func (t *Tx) treeEdges(root plan.PlanID) ([]plan.Edge, error) {
	var bundles []bundle
	if err := t.list("read the edges of a tree", &bundles, treeEdges, root); err != nil {
		return nil, err
	}
	var edges []plan.Edge
	for _, b := range bundles {
		err := b.pairs(func(from, to plan.NodeID) { edges = append(edges, plan.Edge{Plan: b.PlanID, From: from, To: to}) })
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(edges, func(a, b plan.Edge) int {
		return cmp.Or(cmp.Compare(a.Plan, b.Plan), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return edges, nil
}

// addLists fills in files, by key, and requests for results, by number.
func (t *Tx) addLists(root plan.PlanID, s *plan.Snapshot) error {
	var files, from []bundle
	if err := t.list("read the files of a tree", &files, treeFiles, root); err != nil {
		return err
	}
	if err := t.list("read the requests of a tree", &from, treeFrom, root); err != nil {
		return err
	}
	for _, b := range files {
		err := b.files(func(id plan.NodeID, f plan.File) {
			if n := s.Node(plan.Ref{Plan: b.PlanID, Node: id}); n != nil {
				n.Files = append(n.Files, f)
			}
		})
		if err != nil {
			return err
		}
	}
	for _, b := range from {
		err := b.pairs(func(id, of plan.NodeID) {
			if n := s.Node(plan.Ref{Plan: b.PlanID, Node: id}); n != nil {
				n.ResultsFrom = append(n.ResultsFrom, of)
			}
		})
		if err != nil {
			return err
		}
	}
	s.Walk(func(n *plan.Node) {
		slices.SortFunc(n.Files, func(a, b plan.File) int { return strings.Compare(a.Key, b.Key) })
		slices.Sort(n.ResultsFrom)
	})
	return nil
}

const atWork = `SELECT ` + runColumns + ` FROM runs WHERE outcome = '' AND kind = 'step'
	AND plan_id IN (SELECT id FROM plans WHERE root_id = ?)`

func (t *Tx) addAtWork(root plan.PlanID, s *plan.Snapshot) error {
	return t.rows("read who is at work", atWork, []any{root}, func(c *cells) error {
		r := &plan.Run{}
		err := c.run(r)
		s.AtWork[r.Ref()] = r
		return err
	})
}

// addContext fills in what a tree is shown with: profiles, open questions and
// the number of the last change.
func (t *Tx) addContext(root plan.PlanID, s *plan.Snapshot) error {
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	for i := range profiles {
		s.Profiles[profiles[i].ID] = &profiles[i]
	}
	if s.Questions, err = t.OpenQuestions(root); err != nil {
		return err
	}
	if err := t.addAtWork(root, s); err != nil {
		return err
	}
	reviews, err := t.ReviewsOf(root)
	if err != nil {
		return err
	}
	for i := range reviews {
		r := &reviews[i]
		switch {
		case r.Kind == plan.KindJudge && r.State == plan.ReviewDone:
			s.Judged[r.Ref()] = r
		case r.Kind == plan.KindJudge:
			s.Judging[r.Ref()] = r
		case r.State == plan.ReviewDone:
			s.Reviews[r.Ref()] = r
		default:
			s.Reviewing[r.Ref()] = r
		}
	}
	s.Seq, err = t.LastSeq()
	return err
}
