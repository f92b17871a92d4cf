package prompt

// InstructionsInput is what the instructions of a claim are made of. Nothing in
// it is of one node: the claim itself has its ids.
type InstructionsInput struct {
	TestInstructions string // of the top-level plan
	Port             int    // that Clearbox listens on; 0 when not known
}

// Instructions returns what claim_next_node tells an agent that Clearbox did not
// start: what a built-in worker of test level standard hears, and how to report
// over MCP.
func Instructions(in InstructionsInput) string {
	w := &writer{}
	w.para("You have claimed a step of a Clearbox plan: it is yours until you end it. Work in `workdir`; `context` tells all " +
		"that there is to know about the step.")
	w.rules()
	w.tests("standard", in.TestInstructions, in.Port)
	w.heading(2, "How to report")
	w.para("All of these take the `plan_id` and `node_id` of your claim.")
	w.list([]string{
		"report_progress with `message`, whenever something worth seeing happens: people watch the plan live.",
		"complete_node with `result`, as soon as the step is done and before you turn to anything else.",
		"fail_node with `error`, when the step cannot be done as described: say what stands in the way.",
		"Give complete_node and fail_node the `run` of your claim too, so that a late call cannot end somebody else's work.",
		"If you must stop for reasons that are not the step's, give it back with release_node, where you have that tool.",
	})
	w.para("The result is what remains of your work. " + summary)
	w.heading(2, "When the step is too big")
	w.para("Give it a subplan while you hold it: submit_plan with the ids of your claim as parent_plan_id and parent_node_id, " +
		"nodes with descriptions, the files that each will write, and edges for their order. " + parts)
	w.para("Then call complete_node for your own share. The step stays running until the subplan is done; its steps are " +
		"claimed like all others.")
	return w.String()
}
