package engine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/internal/prompt"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// runStep runs one step that the board gave out, from launch to recorded end.
func (e *Engine) runStep(ctx context.Context, r plan.Ref) {
	ctx = context.WithoutCancel(ctx) // what has begun is recorded to its end
	a, err := e.assign(ctx, r)
	if err != nil {
		e.cannotRun(ctx, r, err)
		return
	}
	s := newSession(&a.run, a.root.ID)
	if e.opts.Mock {
		s.url = a.task.MCPURL
	}
	e.enlist(s)
	defer e.dismiss(s)
	if err := e.isolate(ctx, a); err != nil {
		e.cannotRun(ctx, r, err)
		return
	}
	e.resumeSession(a)
	if a.run.Worktree == "" {
		e.before(ctx, &a.run, a.node, a.task.WorkDir)
	}
	if err := e.begin(ctx, a); err != nil {
		if !a.copying.IsZero() {
			e.dropWorktree(a.run.Worktree) // the next attempt makes its own
		}
		if plan.KindOf(err) != plan.Conflict {
			e.log.Error("start step", "step", r, "err", err)
			e.pause(e.opts.RetryDelay) // a disk that is full stays so for a while
		}
		e.desk.giveBack(r)
		return
	}
	e.launch(ctx, s, a)
}

// launch starts the agent of a run that is recorded, and follows it to its end.
func (e *Engine) launch(ctx context.Context, s *session, a *assignment) {
	launch, cancel := context.WithCancel(ctx)
	defer cancel()
	s.starting(cancel)
	conn, err := e.launcher.Launch(launch, a.harness, a.task, func(attach []byte) error {
		return e.store.Write(ctx, func(tx *store.Tx) error { return tx.SetAttach(a.run.ID, attach) })
	})
	if err != nil {
		e.finish(ctx, s, plugin.Result{}, fmt.Errorf("start the agent: %w", err))
		return
	}
	e.follow(ctx, s, conn, 0)
}

// assign works out who runs a step, with what prompt, and whether that can work.
// An error says what to set.
func (e *Engine) assign(ctx context.Context, r plan.Ref) (*assignment, error) {
	a := &assignment{}
	var n *plan.Node
	var agent plan.Agent
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		if n, err = tx.Node(r); err != nil {
			return err
		}
		if agent, err = e.agentOf(tx, n); err != nil {
			return err
		}
		if a.task.Profile, err = e.withSecret(tx, agent.Profile); err != nil {
			return err
		}
		if a.root, err = tx.RootPlan(n.PlanID); err != nil {
			return err
		}
		if a.resumed, err = lastCutOff(tx, n); err != nil {
			return err
		}
		a.run.Prompt, err = e.taskPrompt(tx, n, a.root)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := e.canRun(a.root, agent.Profile); err != nil {
		return nil, err
	}
	a.node = n
	e.fill(a, n, agent)
	return a, a.checkFolder(n)
}

// agentOf resolves which profile runs a node, as plan.Snapshot.Agent does for
// views, from the few rows that it takes.
func (e *Engine) agentOf(tx *store.Tx, n *plan.Node) (plan.Agent, error) {
	a := plan.Agent{Source: plan.FromNode}
	id := n.Profile
	for at := n.PlanID; id == 0 && at != 0; {
		p, err := tx.Plan(at)
		if err != nil {
			return a, err
		}
		id, at, a.Source = p.DefaultProfile, p.ParentPlan, plan.FromPlan
	}
	if id == 0 {
		id, a.Source = e.server.DefaultProfile, plan.FromServerDefault
	}
	p, err := tx.Profile(id)
	if err != nil {
		return a, err
	}
	a.Profile = p
	a.Capability, a.CapabilitySource = e.server.EffectiveCapability(p)
	return a, nil
}

// canRun checks a profile against its harness.
func (e *Engine) canRun(root *plan.Plan, p *plan.Profile) error {
	for _, f := range e.launcher.Found() {
		if f.Slug != p.Harness {
			continue
		}
		if f.Refused != "" {
			return plan.Errorf(plan.Unavailable, "agent %q cannot run: harness-%s was refused: %s", p.Name, p.Harness, f.Refused)
		}
		if err := canBeCosted(root, p, f.Info.Features); err != nil {
			return err
		}
		if f.Info.Features.Model && p.Model == "" && !(p.Harness == "claude") {
			return plan.Errorf(plan.Unavailable, "agent %q cannot run: its profile names no model; set model in the agent's settings", p.Name)
		}
		return nil
	}
	return plan.Errorf(plan.Unavailable, "agent %q cannot run: there is no harness %q here; put harness-%s into a harness directory "+
		"(--harness-dir) or give the step another agent", p.Name, p.Harness, p.Harness)
}

// fill completes the assignment of a step.
func (e *Engine) fill(a *assignment, n *plan.Node, agent plan.Agent) {
	e.cast(a, plan.RunStep, n.Ref(), agent)
	port, url := e.address()
	a.run.TokenRole = plan.Worker
	tools := url != nil && !e.opts.NoAgentMCP
	if tools {
		var token string
		token, a.run.TokenHash = newToken()
		a.task.MCPURL = url(token)
	}
	a.run.System = prompt.System(prompt.SystemInput{TestLevel: agent.Profile.TestLevel, TestInstructions: a.root.TestInstructions,
		Capability: agent.Capability, Port: port, Tools: tools, Append: agent.Profile.SystemAppend})
	a.task.Title, a.task.TaskType, a.task.System = n.Title, n.TaskType, a.run.System
	a.limitWrites(n)
}

// begin records that an agent is on a step.
func (e *Engine) begin(ctx context.Context, a *assignment) error {
	waits := e.desk.waits(a.run.Ref())
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, a.run.Ref())
		if err != nil {
			return err
		}
		if n.State != plan.Ready || !m.root.Started || !e.desk.mayBegin(n) {
			return plan.Errorf(plan.Conflict, "step %s is no longer ready", n.Ref())
		}
		if err := m.waited(n, waits); err != nil {
			return err
		}
		text := fmt.Sprintf("agent: %s (%s)", a.agent.Name, a.agent.Harness)
		if a.task.ResumeSession != "" {
			text += ", going on with the session of run " + strconv.Itoa(a.resumed.Number)
		}
		if !a.copying.IsZero() {
			a.run.BaseTook = max(0, float64(tx.Now()-plan.StampOf(a.copying)))
		}
		if err := m.begin(n, &a.run, plan.Builtin, text, a.agent); err != nil {
			return err
		}
		a.task.Attempt = a.run.Number
		return nil
	})
}

// cannotRun fails a step whose agent cannot run, with what to set. A fault of
// our own sends it back instead.
func (e *Engine) cannotRun(ctx context.Context, r plan.Ref, why error) {
	kind := plan.KindOf(why)
	if kind == plan.NotFound || kind == plan.Conflict {
		e.desk.giveBack(r) // it was removed or taken meanwhile
		return
	}
	if kind == plan.Internal {
		e.log.Error("prepare step", "step", r, "err", why)
	}
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		text := plan.MessageOf(why)
		if err := tx.Note(m.root.ID, r, "", plugin.KindError, textData{text}); err != nil {
			return err
		}
		return m.move(n, plan.CannotRun, func(n *plan.Node) { n.Error = &text })
	})
	if err != nil {
		e.desk.giveBack(r)
		e.log.Error("fail step", "step", r, "err", err)
	}
}
