package store

import (
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const edgesOf = `SELECT plan_id, from_node, to_node FROM edges WHERE plan_id = ? ORDER BY from_node, to_node`

// Edges returns the edges of a plan.
func (t *Tx) Edges(id plan.PlanID) ([]plan.Edge, error) {
	var edges []plan.Edge
	err := t.list("read edges", &edges, edgesOf, id)
	return edges, err
}

const nodeIDs = `SELECT node_id FROM nodes WHERE plan_id = ? ORDER BY node_id`

// Graph returns the order among the nodes of a plan.
func (t *Tx) Graph(id plan.PlanID) (*plan.Graph, error) {
	var ids []plan.NodeID
	if err := t.list("list steps", &ids, nodeIDs, id); err != nil {
		return nil, err
	}
	edges, err := t.Edges(id)
	if err != nil {
		return nil, err
	}
	return plan.NewGraph(ids, edges), nil
}

const insertEdges = `INSERT INTO edges (plan_id, from_node, to_node)
	SELECT ?1, value ->> 0, value ->> 1 FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`

// InsertEdges adds edges; those that are there already stay as they are. It
// returns how many are new.
func (t *Tx) InsertEdges(id plan.PlanID, edges []plan.Edge) (int64, error) {
	rows := make([][]any, len(edges))
	for i, e := range edges {
		rows[i] = []any{e.From, e.To}
	}
	return t.exec("insert edges", insertEdges, id, jsonOf(rows))
}

const deleteEdge = `DELETE FROM edges WHERE plan_id = ? AND from_node = ? AND to_node = ?`

// DeleteEdge removes an edge and reports whether there was one.
func (t *Tx) DeleteEdge(e plan.Edge) (bool, error) {
	n, err := t.exec("delete edge", deleteEdge, e.Plan, e.From, e.To)
	return n > 0, err
}

const reaches = `WITH RECURSIVE after (id) AS (
	SELECT to_node FROM edges WHERE plan_id = ?1 AND from_node = ?2
	UNION SELECT e.to_node FROM after CROSS JOIN edges e ON e.plan_id = ?1 AND e.from_node = after.id)
	SELECT EXISTS (SELECT 1 FROM after WHERE id = ?3)`

// Reaches reports whether one node comes after another. It looks only at what
// comes after from, not at the whole plan.
func (t *Tx) Reaches(id plan.PlanID, from, to plan.NodeID) (bool, error) {
	var ok bool
	err := t.get("follow edges", &ok, reaches, id, from, to)
	return ok, err
}

const dependants = `SELECT to_node FROM edges WHERE plan_id = ? AND from_node = ?`

// Dependants returns the direct dependants of a node.
func (t *Tx) Dependants(r plan.Ref) ([]plan.NodeID, error) {
	var ids []plan.NodeID
	err := t.list("list dependants", &ids, dependants, r.Plan, r.Node)
	slices.Sort(ids)
	return ids, err
}
