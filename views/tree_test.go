package views

import (
	"github.com/clearbox-go/clearbox/engine/plan"
)

// tree is a plan tree for tests: plan 1 with a chain of steps, one of which has
// the subplan 2.
func tree(edit func(nodes map[string]*plan.Node)) *plan.Snapshot {
	nodes := []plan.Node{
		{PlanID: 1, ID: 1, Title: "First", State: plan.Done, AgentName: "claude", AgentKind: "builtin", AgentDone: true, StartedAt: 1000, FinishedAt: 1130,
			Result: ptr("It is **done**."), TokensIn: ptr(int64(12_400)), TokensOut: ptr(int64(3_100))},
		{PlanID: 1, ID: 2, Title: "Second", State: plan.Running, Phase: plan.PhaseWorking, AgentName: "claude", AgentKind: "builtin", StartedAt: 1200,
			Files: []plan.File{{Path: "a.go", Key: "a.go"}}, ResultsFrom: []plan.NodeID{1, 4}},
		{PlanID: 1, ID: 3, Title: "Third", State: plan.Running, Phase: plan.PhaseSubplan, Subplan: 2},
		{PlanID: 1, ID: 4, Title: "Fourth", State: plan.Ready, Files: []plan.File{{Path: "a.go", Key: "a.go"}}},
		{PlanID: 1, ID: 5, Title: "Fifth", State: plan.Pending},
		{PlanID: 1, ID: 6, Title: "Yours", State: plan.Ready, Kind: plan.KindUser, PhaseSince: 1300},
		{PlanID: 2, ID: 1, Title: "Inside", State: plan.Done},
		{PlanID: 2, ID: 2, Title: "Inside too", State: plan.Pending},
	}
	byRef := map[string]*plan.Node{}
	for i := range nodes {
		byRef[nodes[i].Ref().String()] = &nodes[i]
	}
	if edit != nil {
		edit(byRef)
	}
	s := plan.NewSnapshot([]plan.Plan{
		{ID: 1, Root: 1, Title: "Whole", Started: true, FirstStart: 900, Executor: plan.Builtin, WorkDir: "/src/importer"},
		{ID: 2, Root: 1, Title: "Part", ParentPlan: 1, ParentNode: 3}},
		nodes, []plan.Edge{{Plan: 1, From: 1, To: 2}, {Plan: 1, From: 1, To: 3}, {Plan: 1, From: 2, To: 5}, {Plan: 1, From: 3, To: 5}, {Plan: 2, From: 1, To: 2}})
	s.Seq = 42
	s.Server = plan.Server{DefaultProfile: 1, DefaultCapability: "full"}
	s.Profiles = map[plan.ProfileID]*plan.Profile{1: {ID: 1, Name: "claude", Harness: "claude", Model: "big"},
		2: {ID: 2, Name: "cheap", Harness: "openai", Capability: "read"}}
	s.Holds = map[plan.Ref]plan.Hold{{Plan: 1, Node: 4}: {Phase: plan.PhaseFiles, By: plan.Ref{Plan: 1, Node: 2}, Reason: plan.HeldRunning}}
	return s
}
