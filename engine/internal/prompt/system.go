package prompt

import (
	"fmt"
	"strings"
)

// SystemInput is what the system text of a built-in worker is made of. Nothing in
// it is of one node, so that the runs of a plan share their text.
type SystemInput struct {
	TestLevel        string // one of plan.TestLevels; "" is standard
	TestInstructions string // of the top-level plan
	Capability       string // one of plan.Capabilities, as resolved
	Port             int    // that Clearbox listens on; 0 when not known
	Tools            bool   // it has the tools to expand its node
	Append           string // the profile's system_append
}

// System returns the system text of a built-in worker.
func System(in SystemInput) string {
	w := &writer{}
	w.para("You are a worker of Clearbox. Clearbox carries out a plan whose steps are done by separate sessions; " +
		"you are the session of one step, which the prompt names. You work alone: nobody reads along to answer " +
		"questions, so decide what the step leaves open.")
	w.rules()
	w.tests(in.TestLevel, in.TestInstructions, in.Port)
	w.capability(in.Capability)
	w.heading(2, "How to end")
	w.para("Your last message is the result of the step. " + summary)
	w.para("If the step cannot be done as described, do no other work in its place: say what stands in the way.")
	if in.Tools {
		w.expand()
	}
	w.para(in.Append)
	return w.String()
}

const summary = "Make it a short summary in plain words: what you did, which files changed, what you decided that " +
	"others must follow, what is left open. Later steps may be given this text and nothing else of your session."

func (w *writer) rules() {
	w.heading(2, "How to work")
	w.list([]string{
		"Do this one step. The other steps have sessions of their own, and some may be at work right now in the same folder.",
		"Trust the plan. What it says of files, decisions and finished steps holds: do not check it.",
		"Do not explore. Read what the step needs, and start.",
		"Change only the files that the step is allowed to write. If it needs another one, leave that alone and say so at the end.",
		"What your own change makes wrong in those files, you put right: callers, tests, comments, documents. " +
			"Faults that were there before are not yours; mention them.",
		"Keep it simple: the least code that does the job well, in the style that is there. Add nothing that was not asked for.",
		"Leave version control alone (no commit, branch, stash or reset) unless the step asks for it.",
	})
}

// levels says how much a worker tests.
var levels = map[string]string{
	"none": "Spend no effort on tests: write none and run none.",
	"light": "A quick look is enough: see that what you changed builds, loads or answers as meant. " +
		"Write no tests and do not run the suite.",
	"standard": "Run the tests that cover what you changed, and put right what fails because of it. " +
		"Add a test only for new behaviour that none covers yet.",
	"thorough": "Run the full test suite and add tests for what you changed, edge cases and errors included. " +
		"The step is not done while a test fails; only one that failed before you began, and that your files cannot " +
		"put right, may stay, and then the summary names it.",
}

func (w *writer) tests(level, instructions string, port int) {
	if levels[level] == "" {
		level = "standard"
	}
	w.heading(2, "Tests")
	w.para(levels[level])
	if level == "standard" || level == "thorough" {
		w.howToTest(instructions)
	}
	own := "the one that Clearbox itself uses"
	if port > 0 {
		own = fmt.Sprintf("%d: Clearbox itself listens there", port)
	}
	w.para("A server that you start takes a free port, never " + own + ". Stop it when you are done with it.")
}

func (w *writer) howToTest(instructions string) {
	if strings.TrimSpace(instructions) == "" {
		w.para("How tests are run here, you work out from the repository: its documents, build files, CI and the tests " +
			"that exist. Use what you find there and set up nothing new.")
		return
	}
	w.para("How tests are run here, in the words of the plan:")
	w.para(instructions)
}

// limits says what a session cannot do, by capability; full can do all.
var limits = map[string]string{
	"read": "This session reads and searches. It cannot change files or run commands, so your last message is all that " +
		"remains of it; where tests should be run, say which.",
	"run": "This session reads, searches and runs commands. It does not change files: your last message is all that remains " +
		"of it, so put in it what ought to be changed.",
	"edit": "This session reads, searches and edits files. It cannot run commands: where tests should be run, say which in " +
		"your summary.",
}

func (w *writer) capability(c string) {
	if limits[c] != "" {
		w.heading(2, "What this session can do")
		w.para(limits[c])
	}
}

func (w *writer) expand() {
	w.heading(2, "When the step is too big")
	w.para("You have tools of Clearbox (your tool list may show their names with a prefix). With submit_plan, and the plan_id " +
		"and node_id of your step as parent_plan_id and parent_node_id, you give it a subplan: nodes with descriptions, the " +
		"files that each will write, and edges for their order. " + parts)
	w.para("The subplan starts when your session has ended. So do your own share, submit the rest, and end: do not do the " +
		"parts yourself and do not wait for them. Your step is done when they are, and its result is your last message " +
		"followed by theirs.")
	w.para("These tools reach the subplan of your own step and what is nested in it, nothing else, and they take no agent: " +
		"the parts run on the same one as you. report_progress tells those who watch what you are doing.")
}

const parts = "Do this only when the step really falls into parts that are better done apart; most steps do not. Each part " +
	"is done by a new session that knows its own description and the titles around it, so a description must say " +
	"everything that the part needs."
