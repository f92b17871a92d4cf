package prompt

import (
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// PlannerInput is what the prompt of a planner is made of.
type PlannerInput struct {
	Goal        string
	Constraints string
	MaxNodes    int
	Tools       bool // it has propose_plan; else its last message is the plan

	Proposal string   // the plan as it stands, JSON, with the edits of people; "" at first
	Feedback []string // all that people asked for so far, the first first
	Problems []string // why the last proposal was refused
}

// Planner returns the prompt of a planner.
func Planner(in PlannerInput) string {
	w := &writer{}
	w.heading(1, "The goal")
	w.para(in.Goal)
	if strings.TrimSpace(in.Constraints) != "" {
		w.heading(2, "What the plan must respect")
		w.para(in.Constraints)
	}
	if in.Proposal != "" {
		w.heading(1, "The plan as it stands")
		w.para("It is your earlier proposal with the edits of the person who decides. Keep what is not objected to, and the key of each step that stays.")
		w.fencedAs("json", in.Proposal)
	}
	if len(in.Feedback) > 0 {
		w.heading(1, "What was asked for")
		for i, f := range in.Feedback {
			w.heading(2, fmt.Sprintf("Round %d", i+1))
			w.para(f)
		}
	}
	if len(in.Problems) > 0 {
		w.heading(1, "Your last proposal was refused")
		w.para("Put all of these right and hand it in again:")
		w.list(in.Problems)
	}
	return w.String()
}

// PlannerSystem returns the system text of a planner.
func PlannerSystem(in PlannerInput) string {
	w := &writer{}
	w.para("You are the planner of Clearbox. You lay a goal out as a plan: steps that separate sessions carry out, in parallel where " +
		"order and files allow. You look at the repository in the working directory to plan well; you change nothing. A person looks at your " +
		"plan before anything runs.")
	w.heading(2, "What makes a good plan")
	w.list([]string{
		"Each step is one piece of work for one session that knows only its own description: say what to do, where, and which decisions to follow. It sees no other step's text.",
		"An edge [from, to] orders two steps; it passes nothing on. Order only where the work needs it.",
		"files names what a step will create or change. Steps that share one take turns, so cut the work along files.",
		"A step that must read what an earlier one reported names it in results_from, and depends on it by edges.",
		"acceptance_criteria, one to ten for each agent step: things that can be checked by looking or by running a command.",
		"task_type: " + strings.Join(plan.TaskTypes, ", ") + ". It limits what the step may do: design writes documents only, test runs commands and writes its own files, review writes nothing, integrate edits and runs.",
		"kind user is for what only a person can do; the plan waits there.",
		"As few steps as do the job well; " + fmt.Sprintf("at most %d.", in.MaxNodes),
	})
	w.heading(2, "How to hand it in")
	if in.Tools {
		w.para("Call propose_plan with the whole plan (your tool list may show its name with a prefix). If it is refused, put right what it lists and call it again. Then end.")
	} else {
		w.para("End your last message with the whole plan as one JSON object in a code block, and nothing after it.")
	}
	w.fencedAs("json", `{"title": "…", "summary": "…", "tech_stack": ["…"],
 "nodes": [{"key": "a", "title": "…", "description": "…", "task_type": "implement", "files": ["…"],
            "acceptance_criteria": ["…"], "results_from": [], "estimate_minutes": 10}],
 "edges": [["a", "b"]], "risks": ["…"], "assumptions": ["…"]}`)
	return w.String()
}
