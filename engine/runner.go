package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clearbox-go/clearbox/engine/internal/prompt"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// assignment is all that is needed to put a built-in agent on a step.
type assignment struct {
	run     plan.Run
	root    *plan.Plan
	harness string
	agent   agentData
	task    plugin.Task
}

// agentData is who runs a step, as its transcript says it.
type agentData struct {
	Name             string         `json:"name"`
	Harness          string         `json:"harness"`
	Model            *string        `json:"model"`
	ProfileID        plan.ProfileID `json:"profile_id"`
	Capability       string         `json:"capability"`
	CapabilitySource string         `json:"capability_source"`
}

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
	if err := e.begin(ctx, a); err != nil {
		e.desk.giveBack(r)
		if plan.KindOf(err) != plan.Conflict {
			e.log.Error("start step", "step", r, "err", err)
		}
		return
	}
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
		a.run.Prompt, err = taskPrompt(tx, n, a.root)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := e.canRun(agent.Profile); err != nil {
		return nil, err
	}
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
func (e *Engine) canRun(p *plan.Profile) error {
	for _, f := range e.launcher.Found() {
		if f.Slug != p.Harness {
			continue
		}
		if f.Refused != "" {
			return plan.Errorf(plan.Unavailable, "agent %q cannot run: harness-%s was refused: %s", p.Name, p.Harness, f.Refused)
		}
		if f.Info.Features.Model && p.Model == "" && !(p.Harness == "claude") {
			return plan.Errorf(plan.Unavailable, "agent %q cannot run: its profile names no model; set model in the agent's settings", p.Name)
		}
		return nil
	}
	return plan.Errorf(plan.Unavailable, "agent %q cannot run: there is no harness %q here; put harness-%s into a harness directory "+
		"(--harness-dir) or give the step another agent", p.Name, p.Harness, p.Harness)
}

// fill completes an assignment.
func (e *Engine) fill(a *assignment, n *plan.Node, agent plan.Agent) {
	p := agent.Profile
	port, url := e.address()
	a.harness = p.Harness
	a.agent = agentData{Name: p.Name, Harness: p.Harness, Model: orNil(a.task.Profile.Model), ProfileID: p.ID,
		Capability: agent.Capability, CapabilitySource: agent.CapabilitySource}
	tools := url != nil && !e.opts.NoAgentMCP
	a.run = plan.Run{ID: newRunID(), PlanID: n.PlanID, NodeID: n.ID, Kind: plan.RunStep, Profile: p.ID, AgentName: p.Name,
		Harness: p.Harness, Model: a.task.Profile.Model, Capability: agent.Capability, Prompt: a.run.Prompt, TokenRole: plan.Worker}
	if tools {
		var token string
		token, a.run.TokenHash = newToken()
		a.task.MCPURL = url(token)
	}
	a.run.System = prompt.System(prompt.SystemInput{TestLevel: p.TestLevel, TestInstructions: a.root.TestInstructions,
		Capability: agent.Capability, Port: port, Tools: tools, Append: p.SystemAppend})
	a.task.RunID, a.task.PlanID, a.task.NodeID = string(a.run.ID), int64(n.PlanID), int64(n.ID)
	a.task.Kind, a.task.Title, a.task.Prompt, a.task.System = string(plan.RunStep), n.Title, a.run.Prompt, a.run.System
	a.task.WorkDir = workDir(e.opts.WorkDir, a.root)
	a.task.Allowed, a.task.TaskType = plugin.Capability(agent.Capability), n.TaskType
	a.task.Limits = plugin.Limits{MaxTokens: p.MaxTokens, MaxCostUSD: p.MaxCostUSD}
	a.task.Speed = e.opts.MockSpeed
	a.limitWrites(n)
}

// limitWrites narrows what may be written where a task type says so.
func (a *assignment) limitWrites(n *plan.Node) {
	if n.TaskType == "" {
		return
	}
	a.task.LimitWrites, a.task.Writable = true, []string{}
	if n.TaskType != "review" {
		for _, f := range n.Files {
			a.task.Writable = append(a.task.Writable, f.Path)
		}
	}
}

func (a *assignment) checkFolder(n *plan.Node) error {
	dir := a.task.WorkDir
	if a.root.WorkDir == "" {
		return os.MkdirAll(dir, 0o755)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return plan.Errorf(plan.Unavailable, "step %s cannot run: the working directory %s is gone", n.Ref(), filepath.Clean(dir))
	}
	return nil
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// begin records that an agent is on a step.
func (e *Engine) begin(ctx context.Context, a *assignment) error {
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, a.run.Ref())
		if err != nil {
			return err
		}
		if n.State != plan.Ready || !m.root.Started {
			return plan.Errorf(plan.Conflict, "step %s is no longer ready", n.Ref())
		}
		if err := m.begin(n, &a.run, plan.Builtin, fmt.Sprintf("agent: %s (%s)", a.agent.Name, a.agent.Harness), a.agent); err != nil {
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
