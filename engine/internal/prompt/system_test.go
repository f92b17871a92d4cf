package prompt

import (
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const howTo = "make test\n\n  with `-race`, never in parallel"

type systemCase struct {
	name string
	in   SystemInput
}

func systemCases() []systemCase {
	cases := []systemCase{
		{"system-default", SystemInput{Capability: "full", Port: 8765}},
		{"system-tools", SystemInput{Capability: "full", Port: 8765, Tools: true}},
		{"system-append", SystemInput{Capability: "full", Tools: true, Append: "Answer in French."}},
		{"system-read", SystemInput{Capability: "read", Port: 8765}},
		{"system-run", SystemInput{Capability: "run", Port: 8765}},
		{"system-edit", SystemInput{Capability: "edit", Port: 8765}},
	}
	for _, level := range plan.TestLevels {
		cases = append(cases,
			systemCase{"system-" + level, SystemInput{TestLevel: level, Capability: "full", Port: 8765}},
			systemCase{"system-" + level + "-tests", SystemInput{TestLevel: level, Capability: "full", Port: 8765, TestInstructions: howTo}})
	}
	return cases
}

func TestSystem(t *testing.T) {
	for _, c := range systemCases() {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, System(c.in)) })
	}
}

func TestInstructions(t *testing.T) {
	in := InstructionsInput{Port: 8765}
	golden(t, "instructions", Instructions(in))
	in.TestInstructions, in.Port = howTo, 0
	golden(t, "instructions-tests", Instructions(in))
}

func TestUnsetTestLevelIsStandard(t *testing.T) {
	unset, standard := System(SystemInput{TestInstructions: howTo}), System(SystemInput{TestInstructions: howTo, TestLevel: "standard"})
	if unset != standard {
		t.Errorf("without a level: %s\n\nstandard: %s", unset, standard)
	}
}

func TestOnlyStandardAndThoroughSayHowToTest(t *testing.T) {
	for _, level := range plan.TestLevels {
		given := System(SystemInput{TestLevel: level, TestInstructions: howTo})
		none := System(SystemInput{TestLevel: level, TestInstructions: " \n"})
		want := level == "standard" || level == "thorough"
		if got := strings.Contains(given, howTo); got != want {
			t.Errorf("level %s carries the test instructions: %v, want %v", level, got, want)
		}
		if got := strings.Contains(none, "work out from the repository"); got != want {
			t.Errorf("level %s without test instructions sends to the repository: %v, want %v", level, got, want)
		}
		if strings.Contains(given, "work out from the repository") {
			t.Errorf("level %s sends to the repository although the plan says how to test", level)
		}
	}
}

func TestOwnPortIsNamed(t *testing.T) {
	for _, level := range plan.TestLevels {
		if got := System(SystemInput{TestLevel: level, Port: 9123}); !strings.Contains(got, "free port, never 9123") {
			t.Errorf("level %s does not warn of port 9123", level)
		}
	}
	if got := Instructions(InstructionsInput{Port: 9123}); !strings.Contains(got, "free port, never 9123") {
		t.Error("the instructions of a claim do not warn of port 9123")
	}
}

func TestToolsAreTaughtOnlyToThoseWhoHaveThem(t *testing.T) {
	in := SystemInput{}
	if got := System(in); strings.Contains(got, "submit_plan") || strings.Contains(got, "report_progress") {
		t.Error("a worker without tools is told of them")
	}
	in.Tools = true
	for _, part := range []string{"submit_plan", "parent_plan_id", "parent_node_id", "report_progress"} {
		if !strings.Contains(System(in), part) {
			t.Errorf("a worker with tools is not told of %s", part)
		}
	}
}

func TestProfilesOwnTextComesLast(t *testing.T) {
	got := System(SystemInput{Capability: "read", Tools: true, Append: "  Be brief.\n"})
	if !strings.HasSuffix(got, "\n\n  Be brief.\n") {
		t.Errorf("the text ends with %q", got[len(got)-40:])
	}
}

func TestInstructionsHoldWhatABuiltinWorkerHears(t *testing.T) {
	claim := Instructions(InstructionsInput{TestInstructions: howTo, Port: 1})
	for _, part := range strings.Split(System(SystemInput{TestInstructions: howTo, Port: 1, Capability: "full"}), "\n\n")[1:] {
		if part == "## How to end" || strings.HasPrefix(part, "Your last message") || strings.HasPrefix(part, "If the step cannot") {
			continue // an external agent ends by complete_node and fail_node
		}
		if !strings.Contains(claim, strings.TrimSpace(part)) {
			t.Errorf("the instructions of a claim do not hold:\n%s", part)
		}
	}
}
