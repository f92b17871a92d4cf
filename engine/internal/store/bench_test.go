package store

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// BenchmarkWrite appends one event per call, each durable when the call returns,
// for a number of callers at once.
func BenchmarkWrite(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("%d", callers), func(b *testing.B) {
			s := open(b, Options{})
			p := makePlan(b, s, 1)
			b.ResetTimer()
			var wg sync.WaitGroup
			for c := range callers {
				wg.Go(func() {
					for i := c; i < b.N; i += callers {
						err := s.Write(context.Background(), func(tx *Tx) error {
							_, err := tx.AppendEvent(p.ID, told(p.ID, "r", int64(i+1), "some words of an agent at work"))
							return err
						})
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

const bigNodes, bigEdges, bigFiles = 2_000, 4_000, 2

// insertBig adds a plan of 2,000 nodes, 4,000 edges and 4,000 files.
func insertBig(tx *Tx) (plan.PlanID, error) {
	p := &plan.Plan{Title: "big", WorkDir: "/w"}
	if err := tx.InsertPlan(p, "/w"); err != nil {
		return 0, err
	}
	if _, err := tx.TakeNodeIDs(p.ID, bigNodes); err != nil {
		return 0, err
	}
	nodes := make([]*plan.Node, bigNodes)
	for i := range nodes {
		n := &plan.Node{ID: plan.NodeID(i + 1), Title: fmt.Sprintf("Step %d of the big plan", i+1), Kind: plan.KindAgent,
			Description: "Change the file as the plan says, and keep what is there."}
		for f := range bigFiles {
			path := fmt.Sprintf("src/pkg%d/file%d.go", i/10, i*bigFiles+f)
			n.Files = append(n.Files, plan.File{Path: path, Key: path})
		}
		nodes[i] = n
	}
	if err := tx.InsertNodes(p.ID, nodes); err != nil {
		return 0, err
	}
	edges := make([]plan.Edge, 0, bigEdges)
	for i := 1; len(edges) < bigEdges; i++ {
		to := plan.NodeID(i%(bigNodes-10) + 11)
		edges = append(edges, plan.Edge{From: to - plan.NodeID(1+i/(bigNodes-10)), To: to})
	}
	_, err := tx.InsertEdges(p.ID, edges)
	return p.ID, err
}

func BenchmarkInsertBigPlan(b *testing.B) {
	s := open(b, Options{})
	for b.Loop() {
		write(b, s, func(tx *Tx) error { _, err := insertBig(tx); return err })
	}
}

func BenchmarkSnapshotOfBigPlan(b *testing.B) {
	s := open(b, Options{})
	var id plan.PlanID
	write(b, s, func(tx *Tx) (err error) { id, err = insertBig(tx); return err })
	b.ReportAllocs()
	for b.Loop() {
		read(b, s, func(tx *Tx) error {
			snap, err := tx.Snapshot(id)
			if err == nil && len(snap.NodesOf(id)) != bigNodes {
				err = errNo
			}
			return err
		})
	}
}

// BenchmarkStep moves one node from ready to running to done and looks for what
// that frees, in a plan of each size: the cost should not grow with the plan.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{100, 2_000, 20_000} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			s := open(b, Options{})
			p := makePlan(b, s, n)
			write(b, s, func(tx *Tx) error {
				var edges []plan.Edge
				for i := plan.NodeID(1); i < plan.NodeID(n); i++ {
					edges = append(edges, plan.Edge{From: i, To: i + 1})
				}
				_, err := tx.InsertEdges(p.ID, edges)
				return err
			})
			i := 0
			for b.Loop() {
				r := plan.Ref{Plan: p.ID, Node: plan.NodeID(i%n + 1)}
				i++
				write(b, s, func(tx *Tx) error {
					for _, st := range []plan.State{plan.Ready, plan.Running, plan.Done} {
						if err := put(tx, r, st); err != nil {
							return err
						}
					}
					if _, err := tx.FreedBy(r); err != nil {
						return err
					}
					_, _, err := tx.Status(p.ID)
					return err
				})
			}
		})
	}
}
