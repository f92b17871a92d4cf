package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Limits of what a report holds.
const (
	maxReportEvents = 500      // the newest of each step
	maxReportBytes  = 12 << 20 // of all transcripts together
)

// ReportIn says what a report has.
type ReportIn struct {
	Plan        plan.PlanID
	Transcripts bool
}

// PlanReport reads all that is known of a plan, at one moment, without the keys,
// secrets and tokens that the server knows: those stored, those of its environment,
// those of runs and what Hide was told.
func (e *Engine) PlanReport(ctx context.Context, in ReportIn) (*plan.Report, error) {
	actor := plan.ActorFrom(ctx)
	r := &plan.Report{Plan: in.Plan, Steps: map[plan.Ref]*plan.StepReport{}}
	var hide *redactor
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if err := mayReadPlan(tx, actor, in.Plan); err != nil {
			return err
		}
		if r.Snapshot, err = tx.Snapshot(in.Plan); err != nil {
			return err
		}
		if hide, err = e.redactorFor(tx, r.Snapshot); err != nil {
			return err
		}
		reader := &reportReader{tx: tx, left: maxReportBytes, transcripts: in.Transcripts}
		refs := []plan.Ref{{Plan: in.Plan}}
		r.Snapshot.WalkFrom(in.Plan, func(n *plan.Node) {
			refs = append(refs, n.Ref())
			if n.Subplan != 0 {
				refs = append(refs, plan.Ref{Plan: n.Subplan})
			}
		})
		for _, ref := range refs {
			if r.Steps[ref], err = reader.step(ref, r.Snapshot.Node(ref)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Snapshot.Server = e.server
	hide.report(r)
	return r, nil
}

// reportReader reads what happened at steps, as long as there is room.
type reportReader struct {
	tx          *store.Tx
	left        int // bytes
	transcripts bool
}

// step reads one; n is nil for a plan as a whole.
func (r *reportReader) step(ref plan.Ref, n *plan.Node) (*plan.StepReport, error) {
	s := &plan.StepReport{}
	var err error
	if s.Runs, err = r.tx.Runs(ref); err != nil {
		return nil, err
	}
	for i := range s.Runs {
		if err := addBaseWriters(r.tx, &s.Runs[i]); err != nil {
			return nil, err
		}
	}
	if n != nil && n.RunID != "" {
		if s.Diffs, err = r.tx.Diffs(n.RunID); err != nil {
			return nil, err
		}
	}
	if n != nil {
		if s.Judgements, err = r.tx.Judgements(ref); err != nil {
			return nil, err
		}
	}
	if r.transcripts && len(s.Runs) > 0 {
		err = r.transcript(ref, s)
	}
	return s, err
}

func (r *reportReader) transcript(ref plan.Ref, s *plan.StepReport) error {
	if r.left <= 0 {
		s.LeftOut = true
		return nil
	}
	list, err := r.tx.NodeEventsBefore(ref, 0, maxReportEvents+1)
	if err != nil {
		return err
	}
	if s.Older = len(list) > maxReportEvents; s.Older {
		list = list[1:]
	}
	for i := len(list) - 1; i >= 0 && r.left > 0; i-- {
		r.left -= len(list[i].Data)
		s.Events = list[i:]
	}
	s.Older = s.Older || len(s.Events) < len(list)
	return nil
}
