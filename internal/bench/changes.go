package main

import "context"

// changesScenario measures what watching files costs where there are many: a claim
// in a large folder, an isolated step brought back, and a page with a large diff.
func changesScenario() *scenario {
	claim := &figure{text: "claim in a folder of 20,000 unchanged files", unit: "ms", sense: below, bar: 250}
	apply := &figure{text: "200 changed files of an isolated step brought back into 20,000", unit: "ms", sense: below, bar: 500}
	unified := &figure{text: "tab Changes of a 5,000-line diff drawn in one column", unit: "ms", sense: below, bar: 300}
	split := &figure{text: "the same side by side", unit: "ms", sense: below, bar: 300}
	s := &scenario{name: "changes", figures: []*figure{claim, apply, unified, split}}
	s.run = func(ctx context.Context, r *round) error {
		for _, m := range []struct {
			pkg, pattern, name string
			to                 *figure
		}{
			{"engine", "^BenchmarkClaimInALargeFolder$", "BenchmarkClaimInALargeFolder", claim},
			{"engine/internal/shadow", "^BenchmarkWorktree$/^(collect|apply200)$/^20000$", "BenchmarkWorktree/apply200/20000", apply},
			{"views", "^BenchmarkChanges$/^unified$", "BenchmarkChanges/unified", unified},
			{"views", "^BenchmarkChanges$/^split$", "BenchmarkChanges/split", split},
		} {
			got, err := r.goBenchmark(ctx, m.pkg, m.pattern, "5x")
			if err != nil {
				return err
			}
			r.add(m.to, got[m.name]["ns/op"]/1e6)
		}
		return nil
	}
	return s
}
