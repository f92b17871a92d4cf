package graph

import (
	"fmt"
	"testing"
)

func BenchmarkArrange(b *testing.B) {
	run := func(name string, in Input) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Arrange(in)
			}
		})
	}
	for _, n := range []int{50, 500, 2000} {
		run(fmt.Sprintf("phases/%d", n), phases(n, 10))
		run(fmt.Sprintf("random/%d", n), random(n, 50, 3))
	}
	run("isolated/2000", newSketch(2000).in)
	run("fan/1000", fan(1000))
	in := random(500, 50, 3)
	in.Previous = Arrange(in)
	run("again/500", in)
}

func BenchmarkNeighbour(b *testing.B) {
	l := Arrange(newSketch(2000).in)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Neighbour(int64(i%2000+1), Direction(i%4))
	}
}
