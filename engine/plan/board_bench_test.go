package plan

import (
	"fmt"
	"testing"
)

// BenchmarkBoard picks, starts and finishes one node while as many as the name
// says are ready, each with two files, one of them in a folder that another
// waits for. The cost should not grow with the number.
func BenchmarkBoard(b *testing.B) {
	for _, n := range []int{100, 2_000, 20_000} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			board := NewBoard(Limits{MaxConcurrency: 3})
			board.Apply(&Facts{Plans: []PlanFacts{{ID: 1, Root: 1, Started: true, Executor: Builtin}}})
			add := func(i int) {
				dir := (i % n) / 2 // two nodes share a folder: the second waits for the first
				keys := []string{fmt.Sprintf("src/d%d", dir), fmt.Sprintf("test/f%d", i%n)}
				board.Apply(&Facts{Nodes: []NodeFacts{{PlanID: 1, ID: NodeID(i + 1), State: Ready, Kind: KindAgent, Keys: keys}}})
			}
			for i := range n {
				add(i)
			}
			b.ReportAllocs()
			next := n
			for b.Loop() {
				r, ok := board.Next()
				if !ok {
					b.Fatal("nothing to start")
				}
				f := NodeFacts{PlanID: 1, ID: r.Node, State: Running, Phase: PhaseWorking, Kind: KindAgent, AgentKind: string(Builtin),
					Keys: board.nodes[r].facts.Keys}
				board.Apply(&Facts{Nodes: []NodeFacts{f}})
				f.State, f.Phase = Done, PhaseNone
				board.Apply(&Facts{Nodes: []NodeFacts{f}})
				add(next)
				next++
			}
		})
	}
}
