package engine

import (
	"os"
	"path/filepath"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// assignment is all that is needed to put a built-in agent to work.
type assignment struct {
	run     plan.Run
	node    *plan.Node // as it was when the run was prepared; nil when it is no attempt at a step
	root    *plan.Plan
	harness string
	profile *plan.Profile
	agent   agentData
	task    plugin.Task
	resumed *plan.Run // whose session this one goes on with; nil for none
	copying time.Time // when the copying of the folder began that the run works in a copy of; zero: it has none, or an earlier one
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

// cast fills in what the runs of all kinds have: who does it, where, and within
// which limits. The prompt must be there.
func (e *Engine) cast(a *assignment, kind plan.RunKind, r plan.Ref, agent plan.Agent) {
	p := agent.Profile
	a.harness, a.profile = p.Harness, p
	a.agent = agentData{Name: p.Name, Harness: p.Harness, Model: orNil(a.task.Profile.Model), ProfileID: p.ID,
		Capability: agent.Capability, CapabilitySource: agent.CapabilitySource}
	a.run.ID, a.run.PlanID, a.run.NodeID, a.run.Kind = newRunID(), r.Plan, r.Node, kind
	a.run.Profile, a.run.AgentName, a.run.Harness, a.run.Model = p.ID, p.Name, p.Harness, a.task.Profile.Model
	a.run.Capability, a.run.MaxTokens = agent.Capability, p.MaxTokens
	a.task.RunID, a.task.PlanID, a.task.NodeID, a.task.Kind = string(a.run.ID), int64(r.Plan), int64(r.Node), string(kind)
	a.task.Prompt, a.task.WorkDir = a.run.Prompt, workDir(e.opts.WorkDir, a.root)
	a.task.Allowed = plugin.Capability(agent.Capability)
	a.task.Limits = plugin.Limits{MaxTokens: p.MaxTokens, MaxCostUSD: p.MaxCostUSD}
	a.task.Speed = e.opts.MockSpeed
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
