package handlers

import "github.com/clearbox-go/clearbox/engine"

// operations is the table of everything that clients may ask for. A row names
// what it is called, what it does, the doors that lead to it and the function
// behind them. To add one is to add a row: routes, tools, their schemas and
// their refusals follow from it.
//
// Where REST and MCP answer in different shapes there are two rows. base is
// where people reach the server, mayApprove whether a planning session may approve
// plans.
func operations(base string, mayApprove bool) []operation {
	var all []operation
	for _, part := range [][]operation{planRows(base), controlRows(), nodeRows(), stepRows(), claimRows(), agentRows(), runRows(), reviewRows(), approvalRows(mayApprove), settingsRows()} {
		all = append(all, part...)
	}
	return all
}

func planRows(base string) []operation {
	return []operation{
		op("submit_plan", submitDoc, doors{rest: post("/plans").ours(), mcp: full}, (*engine.Engine).SubmitPlan),
		op("submit_plan", submitObservedDoc, doors{mcp: observe}, submitObserved(base)),
		op("submit_plan", submitOwnDoc, doors{mcp: worker}, submitOwn),
		op("create_plan", "Create an empty plan, to be filled with add_node and add_edge. Answers its id. Prefer submit_plan, "+
			"which posts a whole plan in one call. A top-level plan needs working_directory; a subplan needs parent_plan_id and parent_node_id.",
			doors{mcp: full}, createPlan),
		op("create_plan", "Create an empty subplan for your own step, or for one inside your subplan. Answers its id. Prefer submit_plan.",
			doors{mcp: worker}, createOwnPlan),
		op("update_plan", "Change a plan's title, description or, on a top-level plan, its settings. What is left out stays as it is; "+
			"0 and \"\" clear a setting. All or nothing.", doors{mcp: full}, updatePlan),
		op("patch_plan", "Change a plan's settings; null clears one.", doors{rest: patch("/plans/:plan_id")}, patchPlan),
		op("set_plan_workdir", "Set the folder that a top-level plan works in, or null for the server's own folder for the plan. "+
			"Only before the plan is started for the first time.", doors{mcp: full}, setWorkdir),
		op("put_workdir", "Set the folder that a top-level plan works in.", doors{rest: put("/plans/:plan_id/workdir")}, putWorkdir),
		op("get_plan", getPlanDoc, doors{mcp: full | observe | worker | planner}, getPlan),
		op("view_plan", "Read a plan with its nodes and edges.", doors{rest: get("/plans/:plan_id")}, viewPlan),
		op("list_plans", "List the top-level plans, the newest first, with status and progress.", doors{mcp: full}, listPlans),
		op("view_plans", "List the top-level plans, the newest first.", doors{rest: get("/plans")}, viewPlans),
		op("delete_plan", "Stop a top-level plan and remove it with everything in it.", doors{rest: remove("/plans/:plan_id")}, deletePlan),
		op("set_plan_agent", "Set the agent profile (name or id) that runs the steps of a plan and of the plans nested in it, where "+
			"a step names none of its own; null inherits again. It applies to steps that start from then on. See list_agents.",
			doors{rest: put("/plans/:plan_id/agent"), mcp: full}, setPlanAgent),
	}
}

func controlRows() []operation {
	return []operation{
		op("start_plan", "Start a top-level plan, or go on with a stopped one. With executor builtin (the default) Clearbox's own agents "+
			"run it; with external its steps wait to be claimed with claim_next_node. Two started plans cannot work in the same folder.",
			doors{rest: post("/plans/:plan_id/start"), mcp: full}, startPlan),
		op("stop_plan", "Stop a top-level plan: running agents are ended and their steps go back to pending. start_plan goes on with it.",
			doors{rest: post("/plans/:plan_id/stop"), mcp: full}, stopPlan),
		op("reset_plan", "Stop a top-level plan and forget what its runs did: every step is pending, without result or transcript. "+
			"Files in the working directory stay as they are. This cannot be undone: ask the user first.",
			doors{rest: post("/plans/:plan_id/reset"), mcp: full}, resetPlan),
		op("retry_failed", "Run every failed step of a plan, and of the plans nested in it, again.",
			doors{rest: post("/plans/:plan_id/retry-failed"), mcp: full}, retryFailed),
		op("retry_node", "Run a failed step again; what its failure stopped goes on. Correct its description first, with update_node, "+
			"if that was at fault.", doors{rest: post("/plans/:plan_id/nodes/:node_id/retry"), mcp: full}, retryNode),
		op("rework_node", reworkDoc, doors{rest: post("/plans/:plan_id/nodes/:node_id/rework"), mcp: full}, reworkNode),
		op("skip_node", "Leave out a step that has not started: what depends on it goes on as if it were done. unskip_node brings it back.",
			doors{rest: post("/plans/:plan_id/nodes/:node_id/skip").ours(), mcp: full}, skipNode),
		op("unskip_node", "Bring back a step that skip_node left out. Steps that depend on it and have started meanwhile are left as they are.",
			doors{rest: post("/plans/:plan_id/nodes/:node_id/unskip").ours(), mcp: full}, unskipNode),
	}
}

func nodeRows() []operation {
	return []operation{
		op("add_node", addNodeDoc, doors{mcp: full | observe}, addNode),
		op("add_node", "Add a step to your own subplan, or to a plan nested in it. Answers [plan_id, node_id]; order it with add_edge. "+
			"It runs on your own agent profile.", doors{mcp: worker}, addNode),
		op("post_node", "Add a node to a plan.", doors{rest: post("/plans/:plan_id/nodes").ours().nullable()}, postNode),
		op("update_node", updateNodeDoc, doors{mcp: full}, updateNode),
		op("update_node", "Change a step of your own subplan: only what is given. [] clears a list. All or nothing.",
			doors{mcp: worker}, updateNode),
		op("patch_node", "Change a node: only what is given; null clears.",
			doors{rest: patch("/plans/:plan_id/nodes/:node_id").ours()}, patchNode),
		op("remove_node", "Remove a step that has not started, with its edges and its subplan.",
			doors{rest: remove("/plans/:plan_id/nodes/:node_id").ours(), mcp: full | observe | worker}, removeNode),
		op("add_edge", "Order two steps of one plan: the first must be done before the second starts. It passes nothing on. "+
			"A cycle is refused, and so is an edge into a step that has started.",
			doors{rest: put("/plans/:plan_id/edges/:from/:to").ours(), mcp: full | observe | worker}, addEdge),
		op("remove_edge", "Remove an edge.",
			doors{rest: remove("/plans/:plan_id/edges/:from/:to").ours(), mcp: full | observe | worker}, removeEdge),
	}
}

func stepRows() []operation {
	return []operation{
		op("view_node", "Read a node with its transcript, after an event id.", doors{rest: get("/plans/:plan_id/nodes/:node_id")}, viewNode),
		op("node_context", "Read the exact prompt of a node.", doors{rest: get("/plans/:plan_id/nodes/:node_id/context")}, nodeContext),
		op("mark_done", "Mark a node done, as a person.", doors{rest: post("/plans/:plan_id/nodes/:node_id/complete")}, markDone),
		op("stop_node", "End a node's agent; the node is failed.", doors{rest: post("/plans/:plan_id/nodes/:node_id/stop")}, stopNode),
		op("put_node_agent", "Set a node's own agent; null inherits.", doors{rest: put("/plans/:plan_id/nodes/:node_id/agent")}, putNodeAgent),
		op("put_kind", "Say who does a node: agent or user.", doors{rest: put("/plans/:plan_id/nodes/:node_id/kind")}, putKind),
		op("put_files", "Set what a node will create or change.", doors{rest: put("/plans/:plan_id/nodes/:node_id/files")}, putFiles),
		op("put_results_from", "Set whose results go into a node's prompt.",
			doors{rest: put("/plans/:plan_id/nodes/:node_id/results-from")}, putResultsFrom),
	}
}

func claimRows() []operation {
	return []operation{
		op("claim_next_node", "Get the next step to do: the lowest one that is ready and that no files hold back. From then on it is yours "+
			"and running. The answer has its title, description, working directory, instructions and context (the whole prompt), and the "+
			"number of the run; null means that nothing is ready now. Do one step at a time.", doors{mcp: full | observe}, claim),
		op("report_progress", "Add a line to the transcript of a step that you claimed; the user sees it at once.",
			doors{mcp: full | observe}, report),
		op("report_progress", "Tell whoever watches what you are doing, as a line in your own step's transcript.",
			doors{mcp: worker}, reportOwn),
		op("complete_node", "Report that a step that you claimed is done, at once when it is. What depends on it becomes ready.",
			doors{mcp: full | observe}, complete),
		op("fail_node", "Report that a step that you claimed cannot be done, and why. What depends on it waits for a retry.",
			doors{mcp: full | observe}, fail),
		op("release_node", "Give a claimed step back without a result: it is ready for someone else.",
			doors{rest: post("/plans/:plan_id/nodes/:node_id/release").ours(), mcp: full}, release),
	}
}

func agentRows() []operation {
	return []operation{
		op("list_agents", listAgentsDoc, doors{rest: get("/agents"), mcp: full | worker}, listAgents),
		op("create_agent", "Make an agent profile.", doors{rest: post("/agents").nullable()}, createAgent),
		op("update_agent", "Change an agent profile: only what is given; null clears.", doors{rest: patch("/agents/:agent_id")}, updateAgent),
		op("delete_agent", "Remove an agent profile; who used it inherits.", doors{rest: remove("/agents/:agent_id")}, deleteAgent),
		op("test_agent", "Ask an agent's harness whether it would work; spends no tokens. With fields it is asked about the agent with these "+
			"changed, and nothing is saved.", doors{rest: post("/agents/:agent_id/test").nullable()}, testAgent),
		op("test_new_agent", "Ask a harness whether an agent would work that is not made yet; spends no tokens and saves nothing.",
			doors{rest: post("/agents/test").ours().nullable()}, testDraft),
		op("agent_uses", "List the plans and steps that name an agent, and who runs them when it is deleted.",
			doors{rest: get("/agents/:agent_id/uses")}, listAgentUses),
		op("agent_spend", "Add up what the runs of each agent have used.", doors{rest: get("/agents/spend")}, listAgentSpend),
		op("list_harnesses", "List the harnesses found, usable or refused.", doors{rest: get("/harnesses")}, listHarnesses),
		op("rescan_harnesses", "Look for harnesses again.", doors{rest: post("/harnesses/rescan").ours()}, rescanHarnesses),
	}
}

func runRows() []operation {
	return []operation{
		op("list_runs", "List the runs of a node, the first first.", doors{rest: get("/plans/:plan_id/nodes/:node_id/runs")}, listRuns),
		op("get_run", "Read one run with its exact prompt.", doors{rest: get("/plans/:plan_id/nodes/:node_id/runs/:run")}, getRun),
		op("run_events", "Read part of what a run told: the newest, or those after or before an event id.",
			doors{rest: get("/plans/:plan_id/nodes/:node_id/runs/:run/events")}, runEvents),
		op("list_questions", "List what agents ask and nobody has answered.", doors{rest: get("/questions")}, listQuestions),
		op("answer_question", "Answer a question: allow or deny. The first answer wins.",
			doors{rest: post("/questions/:question_id").ours()}, answerQuestion),
	}
}

const (
	submitDoc = "Post a whole plan in one call: steps under keys of your own, and edges between them. All or nothing: if anything is wrong, " +
		"nothing is created and the answer lists every fault. A top-level plan needs working_directory; with parent_plan_id and parent_node_id " +
		"it becomes the subplan of that step. Each step's agent sees only the goal, its own description and the other steps' titles, so make " +
		"descriptions self-contained. Edges order and pass nothing on; a step that needs another's result names it in results_from. Declare in " +
		"files what a step will change. The plan is not started: see start_plan. Answers plan_id and the number of each key."

	submitObservedDoc = "Post the plan of your own work in one call; a top-level plan is started at once, and its steps wait for you to claim " +
		"them with claim_next_node. All or nothing: if anything is wrong, nothing is created and the answer lists every fault. With " +
		"parent_plan_id and parent_node_id it becomes the subplan of a step, and runs when that is reached. Answers plan_id, the number of " +
		"each key, and how it is started."

	submitOwnDoc = "Break your own step down into a subplan, in one call: steps under keys of your own, and edges between them. All or nothing: " +
		"if anything is wrong, nothing is created and the answer lists every fault. parent_plan_id and parent_node_id name your own step, or one " +
		"inside your subplan. Its steps start when your own session has ended, each with a fresh agent that sees only its own description, and " +
		"run on your own agent profile: agent is not accepted. Answers plan_id and the number of each key."

	getPlanDoc = "Read a plan as it is now: its settings and budget, each step with status, agent, files, result or error, and the edges. " +
		"conflicts lists the steps ([plan_id, node_id]) that share files and so take turns; hold says what a ready step waits for (a limit, the " +
		"budget, files, a free agent); undeclared_files what a step changed beyond its files. A step with subplan_id is broken down in that " +
		"plan: read it with another call."

	addNodeDoc = "Add a step to a plan, also to a running one, where it can start at once unless it is ordered with add_edge. Answers " +
		"[plan_id, node_id]. Make the description self-contained; declare in files what it will change. results_from names steps whose result " +
		"goes into its prompt; order it after them with add_edge."

	updateNodeDoc = "Change a step: only what is given. [] clears a list, \"\" clears agent. All or nothing. files, kind and results_from can " +
		"change only before it starts; the rest at any time, for its next start."

	reworkDoc = "Have a done or failed step done again, with instructions that say what to change; without them, what its review found. " +
		"Its agent gets the same task and builds on the work that is there. Steps that depend on it and have started already are left as they " +
		"are; the answer names them. A step that is running, or has a subplan, is refused: rework the steps inside."

	listAgentsDoc = "List the agent profiles that steps can run on, with harness, model, description and what each may do " +
		"(effective_capability: read, run, edit or full). Keys are never shown. default marks the one that runs what names no agent; limit says " +
		"until when an agent's provider refuses work."
)
