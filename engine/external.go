package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/prompt"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// ClaimOut is a step that an external agent has been given.
type ClaimOut struct {
	PlanID       plan.PlanID `json:"plan_id"`
	NodeID       plan.NodeID `json:"node_id"`
	Run          int         `json:"run"`
	Title        string      `json:"title"`
	Description  string      `json:"description"`
	WorkDir      string      `json:"workdir"`
	Instructions string      `json:"instructions"`
	Context      string      `json:"context"`
}

// Claim gives an external agent the lowest ready step that files do not hold
// back, of all started external plans or, with a plan, of that plan and those
// nested in it. The step is running from then on; no two claimers get the same.
// Nil means that nothing is ready.
func (e *Engine) Claim(ctx context.Context, agent string, within plan.PlanID) (*ClaimOut, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return nil, err
	}
	if err := e.checkClaim(ctx, agent, within); err != nil {
		return nil, err
	}
	for {
		r, ok := e.desk.claim(e.now(), within)
		if !ok {
			return nil, nil
		}
		out, err := e.claim(ctx, r, agent)
		if err == nil {
			return out, nil
		}
		e.desk.giveBack(r)
		if kind := plan.KindOf(err); kind != plan.Conflict && kind != plan.NotFound {
			return nil, err
		}
	}
}

func (e *Engine) checkClaim(ctx context.Context, agent string, within plan.PlanID) error {
	var bad plan.Problems
	if strings.TrimSpace(agent) == "" {
		bad.Addf("agent_name must not be empty: say who claims")
	}
	if len([]rune(agent)) > 200 {
		bad.Addf("agent_name has more than 200 characters")
	}
	checkText(&bad, "claim", "agent_name", agent)
	if err := bad.Err("nothing was claimed:"); err != nil || within == 0 {
		return err
	}
	return e.store.Read(ctx, func(tx *store.Tx) error {
		_, err := tx.Plan(within)
		return err
	})
}

// claim puts an external agent on a step that the board gave out. The prompt is
// read in the change itself: the writer has in memory what a reader would have to
// read anew after each commit.
func (e *Engine) claim(ctx context.Context, r plan.Ref, agent string) (*ClaimOut, error) {
	run := &plan.Run{ID: newRunID(), PlanID: r.Plan, NodeID: r.Node, Kind: plan.RunExternal, AgentName: agent}
	port, _ := e.address()
	if err := e.beforeClaim(ctx, run); err != nil {
		return nil, err
	}
	waits := e.desk.waits(r)
	var n *plan.Node
	var root *plan.Plan
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		m, at, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		if at.State != plan.Ready || m.root.Executor != plan.External || !e.desk.mayBegin(at) {
			return plan.Errorf(plan.Conflict, "step %s is no longer ready", r)
		}
		n, root = at, m.root
		if err := m.waited(n, waits); err != nil {
			return err
		}
		if run.Prompt, err = e.taskPrompt(tx, n, root); err != nil {
			return err
		}
		run.System = prompt.Instructions(prompt.InstructionsInput{TestInstructions: root.TestInstructions, Port: port})
		return m.begin(n, run, plan.External, "claimed by "+agent, nil)
	})
	if err != nil {
		return nil, err
	}
	return &ClaimOut{PlanID: r.Plan, NodeID: r.Node, Run: run.Number, Title: n.Title, Description: n.Description,
		WorkDir: workDir(e.opts.WorkDir, root), Instructions: run.System, Context: run.Prompt}, nil
}

// begin puts an agent on a ready node: one change that holds the run, the new
// state and the line that says who it is.
func (m *mover) begin(n *plan.Node, run *plan.Run, by plan.Executor, text string, agent any) error {
	if err := m.started(n, run); err != nil {
		return err
	}
	if err := m.tx.InsertRun(run); err != nil {
		return err
	}
	err := m.move(n, plan.Started, func(n *plan.Node) {
		n.Phase, n.AgentKind, n.AgentName, n.AgentDone = plan.PhaseWorking, string(by), run.AgentName, false
		n.RunID, n.SessionID, n.Result, n.Agent = run.ID, "", nil, run.Profile
		n.TokensIn, n.TokensOut, n.CostUSD = nil, nil, nil
		n.Undeclared, n.UndeclaredMore, n.UndeclaredShared = nil, 0, false
	})
	if err != nil {
		return err
	}
	return m.tx.Note(m.root.ID, n.Ref(), run.ID, plan.EventSystem, startData{Text: text, Agent: agent})
}

type startData struct {
	Text  string `json:"text"`
	Agent any    `json:"agent,omitempty"`
}

// progressKinds are what an agent may report under.
var progressKinds = []string{plugin.KindText, plugin.KindThinking, plugin.KindToolUse, plugin.KindToolResult, plugin.KindLog}

// Report adds a line to the transcript of a step that an agent works on. A
// worker reports for its own step, whatever the step named.
func (e *Engine) Report(ctx context.Context, r plan.Ref, message, kind string) error {
	actor := plan.ActorFrom(ctx)
	if kind == "" {
		kind = plugin.KindText
	}
	var bad plan.Problems
	if !slices.Contains(progressKinds, kind) {
		bad.Addf("kind: unknown kind %q; it is one of %s", kind, strings.Join(progressKinds, ", "))
	}
	if strings.TrimSpace(message) == "" {
		bad.Addf("message must not be empty")
	}
	if len(message) > plugin.MaxEventSize/2 {
		bad.Addf("message has %d bytes; the limit is %d", len(message), plugin.MaxEventSize/2)
	}
	checkText(&bad, "report", "message", message)
	if err := bad.Err("nothing was reported:"); err != nil {
		return err
	}
	if actor.Role != plan.Trusted {
		r = actor.Ref
	}
	return e.store.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(r)
		if err != nil {
			return err
		}
		if _, err := claimOf(tx, n, 0); err != nil {
			return err
		}
		root, err := tx.RootOf(r.Plan)
		if err != nil {
			return err
		}
		return tx.Note(root, r, n.RunID, kind, reportData(kind, message))
	})
}

// reportData gives a reported line the keys that its kind has everywhere.
func reportData(kind, message string) any {
	var e plugin.Event
	switch kind {
	case plugin.KindThinking:
		e = plugin.Thinking(message, "")
	case plugin.KindToolUse:
		input, _ := json.Marshal(textData{message})
		e = plugin.ToolUse(randomHex(6), "report", input, "")
	case plugin.KindToolResult:
		e = plugin.ToolResult("", message, false, "")
	case plugin.KindLog:
		e = plugin.Log(message, "")
	default:
		e = plugin.Text(message, "")
	}
	return e.Data
}

// claimOf returns the run of the agent that has a node. With a run number a stale
// one is refused.
func claimOf(tx *store.Tx, n *plan.Node, number int) (*plan.Run, error) {
	if !n.Working() {
		return nil, plan.Errorf(plan.Invalid, "step %s is not claimed by anyone: it is %s", n.Ref(), describe(n))
	}
	run, err := tx.Run(n.RunID)
	if err != nil {
		return nil, err
	}
	if number != 0 && run.Number != number {
		return nil, plan.Errorf(plan.Invalid, "run %d of step %s has ended; run %d works on it now", number, n.Ref(), run.Number)
	}
	return run, nil
}

func describe(n *plan.Node) string {
	if n.State == plan.Running && n.AgentDone {
		return "working through its subplan"
	}
	return string(n.State)
}

// CompleteIn ends a claimed step, or a user step that waits.
type CompleteIn struct {
	Ref    plan.Ref
	Run    int    // of the claim; 0: whichever is open
	Result string // what later steps may read
}

// Complete records the result of a claimed step; its dependants become ready. A
// step that has a subplan is done when that is. It also ends a user step that
// waits.
func (e *Engine) Complete(ctx context.Context, in CompleteIn) error {
	return e.endClaim(ctx, in.Ref, in.Run, in.Result, "result", func(m *mover, n *plan.Node, run *plan.Run) error {
		if run == nil {
			return m.move(n, plan.PersonDid, func(n *plan.Node) { n.Result, n.Error = &in.Result, nil })
		}
		run.Profile = cmp.Or(run.Profile, e.server.DefaultProfile) // who judges it, where nobody else is named
		return m.finishOwn(n, in.Result, run)
	})
}

// FailClaimed records that a claimed step, or a user step that waits, has failed.
func (e *Engine) FailClaimed(ctx context.Context, r plan.Ref, number int, why string) error {
	return e.endClaim(ctx, r, number, why, "error", func(m *mover, n *plan.Node, run *plan.Run) error {
		c := plan.Broke
		if run == nil {
			c = plan.PersonStopped
		}
		return m.move(n, c, func(n *plan.Node) { n.Error, n.Attempts = &why, n.Attempts+1 })
	})
}

func (e *Engine) endClaim(ctx context.Context, r plan.Ref, number int, text, field string, end func(*mover, *plan.Node, *plan.Run) error) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	var bad plan.Problems
	checkText(&bad, "step", field, text)
	if err := bad.Err("nothing was recorded:"); err != nil {
		return err
	}
	after := e.afterClaim(ctx, r)
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		if n.WaitingForUser() {
			return end(m, n, nil)
		}
		run, err := claimOf(tx, n, number)
		if err != nil {
			return err
		}
		if run.Kind != plan.RunExternal {
			return plan.Errorf(plan.Invalid, "step %s is run by a built-in agent (%s): only a claimed step is ended this way", r, run.AgentName)
		}
		outcome := plan.OutcomeDone
		kind, data := plugin.KindResult, any(resultData{Text: text})
		if field == "error" {
			outcome, kind, data = plan.OutcomeFailed, plugin.KindError, textData{text}
		}
		run.Result = &text
		if err := after.keep(tx, m.root.ID, n, run); err != nil {
			return err
		}
		if err := endRun(tx, m.root.ID, run, outcome, ""); err != nil {
			return err
		}
		if err := tx.Note(m.root.ID, r, run.ID, kind, data); err != nil {
			return err
		}
		return end(m, n, run)
	})
}

type resultData struct {
	Text    string `json:"text"`
	IsError bool   `json:"is_error"`
}

// finishOwn records that a node's own agent has done its work: the node is done,
// is judged first where its plan has gates, is brought back first where it was
// isolated, or goes on with its subplan. run is what did it.
func (m *mover) finishOwn(n *plan.Node, result string, run *plan.Run) error {
	if m.hasGate(n) {
		return m.atGate(n, result, run.Profile)
	}
	if run.Worktree != "" {
		return m.setPhase(n, plan.PhaseApplying, func(n *plan.Node) { n.Result, n.AgentDone = &result, true })
	}
	return m.conclude(n, result)
}

// conclude takes a node on whose own agent has done all that it had to: it is done, or
// goes on with its subplan.
func (m *mover) conclude(n *plan.Node, result string) error {
	if n.Subplan == 0 {
		return m.move(n, plan.Finished, func(n *plan.Node) {
			n.Result, n.AgentDone, n.Attempts = &result, true, n.Attempts+1
		})
	}
	if !m.root.Started { // its subplan is worked through once the plan is started again
		kind := n.AgentKind
		return m.move(n, plan.PlanStopped, func(n *plan.Node) {
			n.Result, n.AgentDone, n.AgentKind, n.Attempts = &result, true, kind, n.Attempts+1
		})
	}
	if err := m.setPhase(n, plan.PhaseSubplan, func(n *plan.Node) {
		n.Result, n.AgentDone, n.Attempts = &result, true, n.Attempts+1
	}); err != nil {
		return err
	}
	if err := m.say(n.Ref(), fmt.Sprintf("its own agent is done; working through subplan %d", n.Subplan)); err != nil {
		return err
	}
	return m.activate(n.Subplan)
}

// Release gives a claimed step back: it is ready for another agent.
func (e *Engine) Release(ctx context.Context, r plan.Ref, number int) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	after := e.afterClaim(ctx, r)
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		run, err := claimOf(tx, n, number)
		if err != nil {
			return err
		}
		if run.Kind != plan.RunExternal {
			return plan.Errorf(plan.Invalid, "step %s is run by a built-in agent: stop it instead", r)
		}
		if err := after.keep(tx, m.root.ID, n, run); err != nil {
			return err
		}
		if err := endRun(tx, m.root.ID, run, plan.OutcomeStopped, "given back"); err != nil {
			return err
		}
		if err := tx.SetStartCause(r, plan.StartRelease); err != nil {
			return err
		}
		if err := m.move(n, plan.Interrupted, nil); err != nil {
			return err
		}
		return m.restart(r.Plan)
	})
}
