package handlers

import "strings"

// The instructions that MCP servers give to the models that connect. They are
// part of what makes models use the tools well, so they say what the tools'
// descriptions do not: the way of working.

// planWriting is how a good plan is written, for whoever writes one.
const planWriting = `Writing a plan
- Post it in one submit_plan call: every step with a key of your own, and edges as [from, to] pairs of keys. If anything is wrong nothing is created and the answer lists every fault; correct them all and call again.
- Each step is done by a fresh agent that sees the overall goal, its own description and the titles of the other steps; nothing else. So make every description self-contained: what to change and where, names and formats that other steps rely on, decisions already made, how to tell that it is done.
- An edge only orders; it passes nothing on. A step that needs to read what an earlier one reported names it in results_from (and depends on it through edges). Code and files need no passing: all steps work in the same folder.
- Declare in files every file or folder that a step will create or change. Steps that share one never run at once; steps that share none can. Reading needs no declaration.
- Prefer several independent steps over one long chain: what is not ordered runs in parallel. Cut steps so that each can be checked by itself, and no smaller.
- What only a person can do (a decision, a password, a look at the result, a deployment) is a step of kind "user": the plan waits there, and its description is what the person reads.
`

const fullInstructions = `Clearbox runs a plan of steps with coding agents, in parallel where the plan allows, and shows everything live in the browser.

You plan; agents do the work. The usual way: look at the project, write the whole plan, submit_plan, give the user its link, and start_plan when the user agrees (or asked for it). Then get_plan tells how it goes.

` + planWriting + `
Running it
- start_plan lets Clearbox's own agents run it. With executor "external" steps are handed out instead: call claim_next_node, do the step, report_progress as you go, complete_node (or fail_node), and claim the next one.
- A plan can be corrected while it runs: add_node, update_node, add_edge and so on take effect at once. What has started keeps what it was told.
- A failed step holds back what depends on it. Read its error in get_plan, correct the step with update_node if its description was at fault, then retry_node. retry_failed retries all of them. max_attempts has failed steps tried again by themselves.
- A step whose result is not right: rework_node with instructions that say what to change. One that is no longer needed: skip_node, and what depends on it goes on.
- A budget (max_tokens, max_cost_usd) bounds what a plan may spend: at it nothing new starts. get_plan says so in budget.exhausted; raise it with update_plan when the user agrees.
- Which agent runs a step: its own, else its plan's, else that of the plan above, else the server's default. list_agents shows who there is; give strong agents the hard steps and cheap ones the rest, with agent on a step or set_plan_agent.
- A plan's page is {base}/#/plan/<plan_id>: give the user that link when you have made a plan.
`

const observeInstructions = `Clearbox shows the user, live in the browser, what you plan and where you are. You do the work yourself; Clearbox runs no agent for you here. Use it for every task of more than a couple of steps.

How to work
1. Plan first. Look around as far as you need to know what is to be done, then post the whole plan with one submit_plan call: your steps, in order, with edges. It is started at once. Tell the user its link: {base}/#/plan/<plan_id>
2. claim_next_node gives you one step. Do that step and no other: one claim at a time, and nothing that is not claimed. Its context has what the step is about; null means that nothing is ready now.
3. While you work, report_progress with a line whenever something worth knowing happens.
4. The moment a step is finished, complete_node with a result: what you did, what you found, what later steps need to know. Do not gather several steps and complete them together; the user is watching. If it cannot be done, fail_node and say why.
5. Claim the next one, until claim_next_node has nothing left. Then say so, with the link.

Keep the graph true
- When you learn that more, less or something else is needed, change the plan before you act on it: add_node and add_edge, remove_node, remove_edge. Steps that are done stay as they are.
- A step that turns out to be large can get a plan of its own: submit_plan with parent_plan_id and parent_node_id. Claim and complete its steps, then complete the parent.
- When only the user can go on (a decision, a secret, something to try by hand), do not wait and do not guess: add_node with kind "user" and a description that says exactly what you need, add_edge from it to the steps that wait for it, and go on with whatever else is ready. The user marks it done, and its result tells you the answer.
- After a break, get_plan shows where things stand, and claim_next_node goes on from there.

` + planWriting

const workerInstructions = `You are the agent of one step of a Clearbox plan. These tools let you break your own step down, if it is too large or has parts that can go in parallel.

- Normally you need none of this: do your step and end with a summary.
- To break it down, submit_plan once with parent_plan_id and parent_node_id of your own step (they are in your instructions), then finish your own session with a short summary. The steps of your subplan start when your session has ended, each with a fresh agent, on the same agent profile as yours; your step is done when they are. Do not wait for them.
- Until then you can correct it: add_node, update_node, remove_node, add_edge, remove_edge. You can change your own subplan and plans nested in it, nothing else.
- report_progress tells whoever watches what you are doing.

` + planWriting

// withBase fills in where the server is reached.
func withBase(text, base string) string {
	return strings.ReplaceAll(text, "{base}", strings.TrimSuffix(base, "/"))
}
