package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Bounds of what people and models may write. They are far above what anyone
// needs and keep one request from making a plan that nothing can show.
const (
	maxTitle = 1000    // characters
	maxText  = 4 << 20 // bytes of a description or a result
	maxFiles = 5000    // per node
)

// AgentRef names an agent profile by name or id, as clients write it: a JSON
// string or number. Empty means none.
type AgentRef string

// UnmarshalJSON reads a string, a number or null.
func (a *AgentRef) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*a = ""
	case string:
		*a = AgentRef(v)
	case float64:
		*a = AgentRef(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		return fmt.Errorf("an agent is a name or an id, not %s", strings.TrimSpace(string(b)))
	}
	return nil
}

// NodeSpec is one node of a plan that is submitted whole.
type NodeSpec struct {
	Key                string   `json:"key" jsonschema:"Your own short name for this step, unique in this call; edges and results_from refer to it."`
	Title              string   `json:"title" jsonschema:"One line that says what the step does."`
	Description        string   `json:"description,omitempty" jsonschema:"Everything the step's agent has to know: what to change, where, and decisions it must follow. The agent sees no other step's text. For a user step: the instruction to the person."`
	Files              []string `json:"files,omitempty" jsonschema:"Files or folders, relative to the working directory, that the step will create or change. Steps that share one take turns. Reading needs no declaration."`
	ResultsFrom        []string `json:"results_from,omitempty" jsonschema:"Keys of earlier steps whose result text goes into this step's prompt. It must depend on them through edges."`
	Kind               string   `json:"kind,omitempty" jsonschema:"agent (default), or user for a step that a person does: the plan waits there."`
	Agent              AgentRef `json:"agent,omitempty" jsonschema:"Name or id of the agent profile that runs the step; see list_agents. Leave it out to use the plan's."`
	AcceptanceCriteria []string `json:"acceptance_criteria,omitempty" jsonschema:"What must be true when the step is done, each checkable by itself."`
	TaskType           string   `json:"task_type,omitempty" jsonschema:"design, implement, configure, test, review or integrate: narrows what the agent may do."`
	MaxAttempts        int      `json:"max_attempts,omitempty" jsonschema:"How often this step is tried in all if it fails, 1 to 20; default: the plan's."`
	Isolation          string   `json:"isolation,omitempty" jsonschema:"none or worktree, if stricter than the plan's."`
	CheckCommand       string   `json:"check_command,omitempty" jsonschema:"Shell command that has to succeed for this step to pass its gate; default: the plan's."`
}

// checkTitle collects what is wrong with a title.
func checkTitle(bad *plan.Problems, what, title string) {
	switch {
	case strings.TrimSpace(title) == "":
		bad.Addf("%s: title must not be empty", what)
	case utf8.RuneCountInString(title) > maxTitle:
		bad.Addf("%s: title has %d characters; the limit is %d", what, utf8.RuneCountInString(title), maxTitle)
	case !utf8.ValidString(title):
		bad.Addf("%s: title is not valid UTF-8", what)
	case strings.ContainsFunc(title, unicode.IsControl):
		bad.Addf("%s: title must be one line without control characters", what)
	}
}

// checkText collects what is wrong with a longer text.
func checkText(bad *plan.Problems, what, field, text string) {
	switch {
	case strings.ContainsRune(text, 0):
		bad.Addf("%s: %s must not have NUL characters", what, field)
	case !utf8.ValidString(text):
		bad.Addf("%s: %s is not valid UTF-8", what, field)
	case len(text) > maxText:
		bad.Addf("%s: %s has %d bytes; the limit is %d", what, field, len(text), maxText)
	}
}

func checkCriteria(bad *plan.Problems, what string, criteria []string) {
	for _, c := range criteria {
		if strings.TrimSpace(c) == "" {
			bad.Addf("%s: acceptance_criteria must not have empty entries", what)
		}
		checkText(bad, what, "acceptance_criteria", c)
	}
}

// checkEstimate collects what is wrong with a number of minutes.
func checkEstimate(bad *plan.Problems, what string, minutes float64) {
	if !(minutes >= 0) || math.IsInf(minutes, 0) {
		bad.Addf("%s: estimate_minutes must be a number of 0 or more", what)
	}
}

// topLevelSettings are the settings that subplans have from their root.
const topLevelSettings = "max_parallel, test_instructions, isolate_steps, isolation, on_failure, max_attempts, max_tokens, max_cost_usd, review_policy, check_command and stall_after"

// checkPolicies collects what is wrong with the settings of a plan.
func checkPolicies(bad *plan.Problems, what string, p plan.Policies) {
	bad.Add(plan.Choice(what+": on_failure", p.OnFailure, plan.FailurePolicies))
	bad.Add(plan.Choice(what+": review_policy", p.ReviewPolicy, plan.ReviewPolicies))
	checkText(bad, what, "check_command", p.CheckCommand)
	checkText(bad, what, "test_instructions", p.TestInstructions)
	checkAttempts(bad, what, p.MaxAttempts)
	if p.MaxParallel < 0 {
		bad.Addf("%s: max_parallel must be positive", what)
	}
	if p.MaxTokens < 0 {
		bad.Addf("%s: max_tokens must be positive", what)
	}
	if p.MaxCostUSD < 0 || math.IsNaN(p.MaxCostUSD) || math.IsInf(p.MaxCostUSD, 0) {
		bad.Addf("%s: max_cost_usd must be positive", what)
	}
	if p.StallAfter < 0 || p.StallAfter > 0 && p.StallAfter < minStall {
		bad.Addf("%s: stall_after must be at least %d seconds", what, minStall)
	}
}

// minStall is the least patience with a silent agent, in seconds: a model may
// think for a while.
const minStall = 10

// maxAttempts bounds how often a step can be tried by itself.
const maxAttempts = 20

func checkAttempts(bad *plan.Problems, what string, n int) {
	if n < 0 || n > maxAttempts {
		bad.Addf("%s: max_attempts must be between 1 and %d", what, maxAttempts)
	}
}

// notForAgents says which fields of a step its author decides alone: a command that
// the server runs must not come from an agent that may run none.
const notForAgents = "check_command and isolation are not accepted here: they are for the plan's author to set"

// isolationIn is the isolation that a plan asks for by either of its two fields.
func isolationIn(isolateSteps bool, isolation string) string {
	if isolateSteps && isolation == "" {
		return worktree
	}
	return isolation
}

// checkFolder makes sure that a working directory can be worked in, and returns
// it cleaned.
func checkFolder(dir string) (string, error) {
	switch {
	case strings.TrimSpace(dir) == "":
		return "", plan.Errorf(plan.Invalid, "working_directory is required for a top-level plan: an absolute path of an existing folder")
	case strings.ContainsRune(dir, 0) || !utf8.ValidString(dir):
		return "", plan.Errorf(plan.Invalid, "working_directory %q is not a path", dir)
	case !filepath.IsAbs(dir):
		return "", plan.Errorf(plan.Invalid, "working_directory %q must be an absolute path", dir)
	}
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return "", plan.Errorf(plan.Invalid, "working_directory %q does not exist", dir)
	case err != nil:
		return "", plan.Errorf(plan.Invalid, "working_directory %q cannot be opened: %s", dir, cause(err))
	case !info.IsDir():
		return "", plan.Errorf(plan.Invalid, "working_directory %q is not a directory", dir)
	}
	return filepath.Clean(dir), nil
}

// cause returns the system's reason without the path, which the message has.
func cause(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// folderKey is what working directories are compared by: resolved and folded.
func folderKey(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return strings.ToLower(filepath.Clean(dir))
}

// foldersOverlap reports whether two keys are the same folder or one is in the other.
func foldersOverlap(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	sep := string(filepath.Separator)
	return a == b || strings.HasPrefix(b, strings.TrimSuffix(a, sep)+sep)
}
