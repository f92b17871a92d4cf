package plugintest

import (
	"context"
	"iter"
)

// Outcomes runs the suite as [Check] does, for programs that show each outcome
// when it is there. Leaving the loop ends the suite.
func Outcomes(ctx context.Context, path string, o Options) iter.Seq[Outcome] {
	return func(yield func(Outcome) bool) {
		s := newSuite(path, o)
		for _, c := range cases() {
			got := s.outcome(ctx, c)
			if !yield(got) || c.first && got.Status == Fail {
				return
			}
		}
	}
}
