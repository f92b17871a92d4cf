package engine

import (
	"context"
	"errors"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// sink stores what one agent tells.
type sink struct {
	e *Engine
	s *session
}

// Push stores a batch of events, and with it how far the run is stored: a batch
// that comes again after a re-attachment changes nothing.
func (k *sink) Push(ctx context.Context, batch []plugin.Event) error {
	if k.s.heard(k.e.opts.Now()) {
		k.e.revived(ctx, k.s)
	}
	used := false
	err := k.e.store.Write(ctx, func(tx *store.Tx) error {
		run, err := tx.Run(k.s.run.ID)
		if err != nil || !run.Open() {
			return err // it was ended from here: what comes now counts no more
		}
		var p store.Progress
		for _, e := range batch {
			if e.Seq <= run.Acked {
				continue
			}
			if err := k.store(tx, e, &p); err != nil {
				return err
			}
			p.Acked = e.Seq
		}
		used = p.TokensIn != nil
		if err := k.progress(tx, p); err != nil {
			return err
		}
		return k.liftLimit(tx, batch)
	})
	if err != nil || !used {
		return err
	}
	return k.checkRunLimit(ctx)
}

// store keeps one event; usage is added up instead.
func (k *sink) store(tx *store.Tx, e plugin.Event, p *store.Progress) error {
	switch e.Kind {
	case plugin.KindUsage:
		in, out, err := plugin.DecodeUsage(e)
		if err == nil {
			p.TokensIn, p.TokensOut = plus(p.TokensIn, in), plus(p.TokensOut, out)
		}
		return nil
	case plugin.KindSystem:
		if info, err := plugin.DecodeSystem(e); err == nil {
			if info.SessionID != "" {
				p.SessionID = info.SessionID
			}
			if info.Model != "" {
				p.Model = info.Model
			}
		}
	}
	if isReview(k.s.run.Kind) {
		e.Data = marked(e.Data)
	}
	_, err := tx.AppendEvent(k.s.root, &plan.Event{PlanID: k.s.run.PlanID, NodeID: k.s.run.NodeID, RunID: k.s.run.ID,
		RunSeq: e.Seq, At: plan.StampOf(e.At), Kind: e.Kind, Data: e.Data})
	return err
}

func plus(sum *int64, n int64) *int64 {
	if sum != nil {
		n += *sum
	}
	return &n
}

// progress notes what a batch changed about the run and its node.
func (k *sink) progress(tx *store.Tx, p store.Progress) error {
	if p.Acked == 0 {
		return nil
	}
	if err := tx.ProgressRun(k.s.run.ID, p); err != nil {
		return err
	}
	if p.TokensIn != nil {
		run, err := tx.Run(k.s.run.ID)
		if err != nil {
			return err
		}
		if err := spend(tx, k.s.root, run); err != nil {
			return err
		}
	}
	if k.s.run.Kind != plan.RunStep || p.SessionID == "" && p.TokensIn == nil {
		return nil
	}
	in, out, err := tx.ProgressNode(k.s.run.Ref(), p)
	if err != nil || p.TokensIn == nil {
		return err
	}
	return tx.Record(plan.Change{Root: k.s.root, Plan: k.s.run.PlanID, Node: k.s.run.NodeID, Kind: plan.ChangeTokens,
		TokensIn: in, TokensOut: out})
}

// defaultPatience is how long an agent's question waits for a person.
const defaultPatience = 30 * time.Minute

// Answer puts a question before a person and waits for the answer. A question
// that was answered while no server ran gets that answer.
func (k *sink) Answer(ctx context.Context, q plugin.Question) (plugin.Answer, error) {
	patience := q.Timeout
	if patience <= 0 {
		patience = defaultPatience
	}
	k.s.asks(1, k.e.opts.Now())
	defer func() { k.s.asks(-1, k.e.opts.Now()) }()
	sub := k.e.Subscribe(k.s.root, -1)
	question := &plan.Question{ID: q.ID, RunID: k.s.run.ID, PlanID: k.s.run.PlanID, NodeID: k.s.run.NodeID, Tool: q.Tool,
		Text: q.Text, Input: q.Input, Until: plan.StampOf(k.e.opts.Now().Add(patience))}
	if len(question.Input) == 0 {
		question.Input = []byte("null")
	}
	err := k.e.store.Write(ctx, func(tx *store.Tx) error {
		isNew, err := tx.InsertQuestion(question)
		if err != nil || !isNew {
			return err
		}
		if err := tellQuestion(tx, question); err != nil {
			return err
		}
		return recordQuestion(tx, k.s.root, question)
	})
	if err != nil {
		return plugin.Answer{}, err
	}
	return k.await(ctx, sub, question)
}

// await waits until a question is closed.
func (k *sink) await(ctx context.Context, sub *Subscription, q *plan.Question) (plugin.Answer, error) {
	for {
		var now *plan.Question
		err := k.e.store.Read(ctx, func(tx *store.Tx) (err error) {
			now, err = tx.Question(q.RunID, q.ID)
			return err
		})
		if err != nil {
			return plugin.Answer{}, err
		}
		if now.Closed != 0 {
			return plugin.Answer{Allow: now.Answer == "allow", Message: now.Message}, nil
		}
		wait, cancel := context.WithDeadline(ctx, now.Until.Time())
		err = nextQuestion(wait, sub)
		late := wait.Err() != nil && ctx.Err() == nil
		cancel()
		if late {
			if _, err := k.e.AnswerQuestion(ctx, q.RunID, q.ID, "deny", "nobody answered in time"); err != nil &&
				plan.KindOf(err) != plan.Conflict {
				return plugin.Answer{}, err
			}
			continue
		}
		if err != nil && !errors.Is(err, ErrResync) {
			return plugin.Answer{}, err
		}
	}
}

// nextQuestion waits for a change about questions.
func nextQuestion(ctx context.Context, sub *Subscription) error {
	for {
		changes, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		for _, c := range changes {
			if c.Kind == plan.ChangeQuestion {
				return nil
			}
		}
	}
}

func recordQuestion(tx *store.Tx, root plan.PlanID, q *plan.Question) error {
	return tx.Record(plan.Change{Root: root, Plan: q.PlanID, Node: q.NodeID, Kind: plan.ChangeQuestion})
}

// Questions returns what agents ask and nobody has answered yet.
func (e *Engine) Questions(ctx context.Context) ([]plan.Question, error) {
	var list []plan.Question
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.OpenQuestions(0)
		return err
	})
	return list, err
}

// AnswerQuestion answers a question of a run, with allow or deny. The first
// answer wins; a later one is a Conflict.
func (e *Engine) AnswerQuestion(ctx context.Context, run plan.RunID, id, answer, message string) (*plan.Question, error) {
	if answer != "allow" && answer != "deny" {
		return nil, plan.Errorf(plan.Invalid, "answer: unknown value %q; it is allow or deny", answer)
	}
	var q *plan.Question
	err := e.store.Write(ctx, func(tx *store.Tx) (err error) {
		if q, err = tx.Question(run, id); err != nil {
			return err
		}
		if err := tx.AnswerQuestion(run, id, answer, message); err != nil {
			return err
		}
		root, err := tx.RootOf(q.PlanID)
		if err != nil {
			return err
		}
		return recordQuestion(tx, root, q)
	})
	return q, err
}
