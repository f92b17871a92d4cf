package plan

import (
	"fmt"
	"testing"
)

// BenchmarkDecision is one decision of the scheduler: a node that runs is done,
// another becomes ready in its place, and the board says who starts now, which
// is told as running. So many nodes as the name says are ready all the time. The
// cost should not grow with their number, however their files lie.
func BenchmarkDecision(b *testing.B) {
	for _, sh := range []struct {
		name  string
		keys  func(i int) []string
		agent func(i int) ProfileID
	}{
		{"neighbours share a folder", func(i int) []string {
			return []string{fmt.Sprintf("src/d%d", i/2), fmt.Sprintf("test/f%d", i)}
		}, nil},
		{"all change one file", func(i int) []string { return []string{fmt.Sprintf("src/f%d", i), "go.mod"} }, nil},
		{"folders above files", func(i int) []string {
			if i%50 == 0 {
				return []string{fmt.Sprintf("d%d", i/500)}
			}
			return []string{fmt.Sprintf("d%d/e%d/f%d", i/500, i/50, i)}
		}, nil},
		{"half wait for an agent", func(i int) []string { return []string{fmt.Sprintf("f%d", i)} },
			func(i int) ProfileID { return ProfileID(1 + i%2) }},
		{"no files", func(int) []string { return nil }, nil},
	} {
		for _, n := range []int{100, 2_000, 20_000} {
			b.Run(fmt.Sprintf("%s/nodes=%d", sh.name, n), func(b *testing.B) {
				d := newDecisions(n, func(seat, i int) NodeFacts {
					f := NodeFacts{PlanID: 1, ID: NodeID(i + 1), State: Ready, Kind: KindAgent, Keys: sh.keys(seat)}
					if sh.agent != nil {
						f.Profile = sh.agent(seat)
					}
					return f
				})
				b.ReportAllocs()
				for b.Loop() {
					d.turn(b)
				}
			})
		}
	}
}

// decisions is a board on which so many nodes are ready and some run. Each node
// has a seat, which the one that comes after it takes over with its files and
// agent, so that the board looks the same all the time.
type decisions struct {
	board   *Board
	node    func(seat, i int) NodeFacts // the i-th ever
	last    int
	seats   map[Ref]int
	running []Ref
}

func newDecisions(n int, node func(seat, i int) NodeFacts) *decisions {
	d := &decisions{board: NewBoard(Limits{MaxConcurrency: 8}), node: node, seats: map[Ref]int{}}
	d.board.SetProfiles([]Profile{{ID: 2, MaxParallel: 1}})
	d.board.Apply(&Facts{Plans: []PlanFacts{{ID: 1, Root: 1, Started: true, Executor: Builtin}}})
	d.fill(n)
	return d
}

// fill makes n nodes ready and starts what can start.
func (d *decisions) fill(n int) {
	for seat := range n {
		d.add(seat)
	}
	for r, ok := d.board.Next(); ok; r, ok = d.board.Next() {
		d.start(r)
	}
}

func (d *decisions) add(seat int) {
	f := d.node(seat, d.last)
	d.seats[f.Ref()] = seat
	d.board.Apply(&Facts{Nodes: []NodeFacts{f}})
	d.last++
}

func (d *decisions) start(r Ref) {
	f := d.board.nodes[r].facts
	f.State, f.Phase, f.AgentKind = Running, PhaseWorking, string(Builtin)
	d.board.Apply(&Facts{Nodes: []NodeFacts{f}})
	d.running = append(d.running, r)
}

func (d *decisions) turn(b *testing.B) {
	old := d.running[0]
	f := d.board.nodes[old].facts
	f.State, f.Phase, f.AgentKind = Done, PhaseNone, ""
	d.board.Apply(&Facts{Nodes: []NodeFacts{f}})
	d.running = d.running[1:]
	d.add(d.seats[old])
	delete(d.seats, old)
	r, ok := d.board.Next()
	if !ok {
		b.Fatal("nothing starts")
	}
	d.start(r)
}

// BenchmarkDecisionAmongPlans is the same with one step ready in each of so many
// started plans, and with one plan at work among so many that are over.
func BenchmarkDecisionAmongPlans(b *testing.B) {
	for _, idle := range []bool{false, true} {
		for _, n := range []int{1, 20, 400} {
			name := fmt.Sprintf("plans=%d", n)
			if idle {
				name = fmt.Sprintf("of them over=%d", n-1)
			}
			b.Run(name, func(b *testing.B) {
				d := &decisions{board: NewBoard(Limits{MaxConcurrency: 8}), seats: map[Ref]int{}}
				d.node = func(seat, i int) NodeFacts {
					f := NodeFacts{PlanID: PlanID(1 + seat%n), ID: NodeID(1 + i), State: Ready, Kind: KindAgent, Keys: []string{fmt.Sprintf("f%d", seat)}}
					if idle {
						f.PlanID = 1
					}
					return f
				}
				for id := range n {
					d.board.Apply(&Facts{Plans: []PlanFacts{{ID: PlanID(1 + id), Root: PlanID(1 + id), Started: true, Executor: Builtin}}})
				}
				d.fill(max(n, 40))
				b.ReportAllocs()
				for b.Loop() {
					d.turn(b)
				}
			})
		}
	}
}

// BenchmarkClaimWithin is the claim of a step of one small plan while so many
// steps of another are ready.
func BenchmarkClaimWithin(b *testing.B) {
	for _, n := range []int{100, 2_000, 20_000} {
		b.Run(fmt.Sprintf("others=%d", n), func(b *testing.B) {
			board := NewBoard(Limits{})
			for id := PlanID(1); id <= 2; id++ {
				board.Apply(&Facts{Plans: []PlanFacts{{ID: id, Root: id, Started: true, Executor: External}}})
			}
			for i := range n {
				board.Apply(&Facts{Nodes: []NodeFacts{{PlanID: 1, ID: NodeID(i + 1), State: Ready, Kind: KindAgent}}})
			}
			board.Apply(&Facts{Nodes: []NodeFacts{{PlanID: 2, ID: 1, State: Ready, Kind: KindAgent}}})
			b.ReportAllocs()
			for b.Loop() {
				r, ok := board.Claim(2)
				if !ok {
					b.Fatal("nothing to claim")
				}
				board.Return(r)
			}
		})
	}
}
