package store

import (
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// takeDiffs adds what steps changed, to the last run of each.
func (k *takeover) takeDiffs() error {
	lost := 0
	err := eachOld(k, "diffs", k.from.table("node_diffs", "plan_id, node_id, path"), func(d *oldDiff) error {
		n := k.node(d.PlanID, d.NodeID)
		if n == nil || n.now.RunID == "" {
			lost++
			return nil
		}
		file := readDiff(d.Diff)
		file.Path, file.Declared = cleaned(d.Path), true // that program kept no others
		k.out.Diffs++
		return k.t.SaveDiffs(n.now.RunID, []plan.FileDiff{file})
	})
	if lost > 0 {
		k.out.note("diffs left out, since their step is not there any more, or never ran: %d", lost)
	}
	return err
}

// readDiff says what a unified diff does, and counts its lines. Lines before the
// first hunk say what happens to the file.
func readDiff(text string) plan.FileDiff {
	d := plan.FileDiff{Kind: plan.DiffChanged, Diff: text}
	hunks, modes := false, false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			hunks = true
		case hunks && strings.HasPrefix(line, "+"):
			d.Added++
		case hunks && strings.HasPrefix(line, "-"):
			d.Removed++
		case hunks:
		case strings.HasPrefix(line, "new file mode"), line == "--- /dev/null":
			d.Kind = plan.DiffAdded
		case strings.HasPrefix(line, "deleted file mode"), line == "+++ /dev/null":
			d.Kind = plan.DiffDeleted
		case strings.HasPrefix(line, "new mode"):
			modes = true
		case strings.HasPrefix(line, "Binary files "), line == "GIT binary patch":
			d.Binary = true
		}
	}
	if modes && !hunks && !d.Binary {
		d.Kind = plan.DiffMode
	}
	return d
}

const insertOldReview = `INSERT INTO reviews (plan_id, node_id, run_id, judged_run, verdict, summary, findings, agent_name,
	tokens_in, tokens_out, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// takeReviews adds the reviews. That program kept the newest of each step only,
// and none of what ran again since.
func (k *takeover) takeReviews() error {
	lost := 0
	err := eachOld(k, "reviews", k.from.table("reviews", "created_at, plan_id, node_id"), func(v *oldReview) error {
		r := plan.Ref{Plan: plan.PlanID(v.PlanID) + k.shift}
		if v.NodeID != nil {
			r.Node = plan.NodeID(*v.NodeID)
		}
		if k.trees[r.Plan] == nil || v.NodeID != nil && k.nodes[r] == nil {
			lost++
			return nil
		}
		verdict := plan.Verdict(v.Verdict)
		switch verdict {
		case plan.VerdictOK, plan.VerdictConcerns, plan.VerdictError:
		default:
			k.out.note("step %s: the verdict %q of its review is not known here; it counts as an error", r, cleaned(v.Verdict))
			verdict = plan.VerdictError
		}
		run, judged := k.reviewRuns(r)
		k.out.Reviews++
		_, err := k.t.exec("insert a review", insertOldReview, r.Plan, r.Node, run, judged, verdict, cleaned(v.Summary),
			cleanedOr(v.Findings), textOf(v.AgentName), v.TokensIn, v.TokensOut, v.CreatedAt)
		return err
	})
	k.out.leftOut(lost, "reviews")
	return err
}

// reviewRuns returns the run that a review was made in and the one that it judged.
func (k *takeover) reviewRuns(r plan.Ref) (run, judged plan.RunID) {
	p := k.past[r]
	if p == nil {
		return "", ""
	}
	if p.reviewed != nil {
		run = p.reviewed.ID
	}
	if p.last != nil {
		judged = p.last.ID
	}
	return run, judged
}
