package handlers

import (
	"context"
	"fmt"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

type claimIn struct {
	AgentName string      `json:"agent_name" jsonschema:"Who you are; shown to the user."`
	PlanID    plan.PlanID `json:"plan_id,omitempty" jsonschema:"Only steps of this plan and the plans nested in it."`
}

func claim(e *engine.Engine, ctx context.Context, in claimIn) (*engine.ClaimOut, error) {
	return e.Claim(ctx, in.AgentName, in.PlanID)
}

// progressIn is a line for a transcript.
type progressIn struct {
	Message string `json:"message" jsonschema:"What you are doing or found out, in a line or two."`
	Kind    string `json:"kind,omitempty" jsonschema:"How it is shown: text (default), thinking, tool_use, tool_result or log."`
}

type reportIn struct {
	nodeIn
	progressIn
}

func report(e *engine.Engine, ctx context.Context, in reportIn) (string, error) {
	return "ok", e.Report(ctx, in.ref(), in.Message, in.Kind)
}

// reportOwn reports for the caller's own step, which the engine knows.
func reportOwn(e *engine.Engine, ctx context.Context, in progressIn) (string, error) {
	return "ok", e.Report(ctx, plan.Ref{}, in.Message, in.Kind)
}

// runIn names the run of a claim.
type runIn struct {
	Run int `json:"run,omitempty" jsonschema:"The run's number, from the claim: refuses the call when someone else has the step by now."`
}

type completeIn struct {
	nodeIn
	Result string `json:"result" jsonschema:"What you did and found: later steps and the user read it."`
	runIn
}

func complete(e *engine.Engine, ctx context.Context, in completeIn) (string, error) {
	return "ok", e.Complete(ctx, engine.CompleteIn{Ref: in.ref(), Run: in.Run, Result: in.Result})
}

type failIn struct {
	nodeIn
	Error string `json:"error" jsonschema:"Why it cannot be done."`
	runIn
}

func fail(e *engine.Engine, ctx context.Context, in failIn) (string, error) {
	return "ok", e.FailClaimed(ctx, in.ref(), in.Run, in.Error)
}

type releaseIn struct {
	nodeIn
	runIn
}

func release(e *engine.Engine, ctx context.Context, in releaseIn) (said, error) {
	return said{"released", fmt.Sprintf("step %s is ready for someone else", in.ref())}, e.Release(ctx, in.ref(), in.Run)
}
