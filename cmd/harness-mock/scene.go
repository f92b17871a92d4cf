package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// Lengths of a scene at speed 1.
const (
	sceneMin  = 3200 * time.Millisecond
	sceneMax  = 13500 * time.Millisecond
	firstMin  = 600 * time.Millisecond
	firstMax  = 1200 * time.Millisecond
	maxRounds = 3
)

// act is one tool call of a scene.
type act struct {
	tool   string
	input  json.RawMessage
	result string
}

// scene plays a run that nobody wrote. The same run is always the same.
func (p *player) scene(ctx context.Context) (plugin.Result, error) {
	rng := p.rng()
	acts := p.acts(rng)
	waits := waits(rng, 2*len(acts)+2)
	emit := p.host.Emit
	if err := p.wait(ctx, waits[0]); err != nil {
		return plugin.Result{}, err
	}
	emit(plugin.Thinking(p.pick(rng, thoughts), ""))
	emit(plugin.Text(p.pick(rng, openings), ""))
	for i, a := range acts {
		if err := p.wait(ctx, waits[1+2*i]); err != nil {
			return plugin.Result{}, err
		}
		emit(plugin.Usage(1000+rng.Int64N(4000), 50+rng.Int64N(400)))
		id := p.call(a.tool, a.input)
		if err := p.wait(ctx, waits[2+2*i]); err != nil {
			return plugin.Result{}, err
		}
		emit(plugin.ToolResult(id, a.result, false, ""))
	}
	if err := p.wait(ctx, waits[len(waits)-1]); err != nil {
		return plugin.Result{}, err
	}
	text := p.ending(rng)
	emit(plugin.Text(text, ""))
	emit(plugin.Usage(1000+rng.Int64N(4000), 100+rng.Int64N(600)))
	return p.done(text), nil
}

func (p *player) rng() *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%s", p.task.RunID, p.task.Title)
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// waits draws n delays: the first within its own bounds, all of them together
// within those of a scene.
func waits(rng *rand.Rand, n int) []time.Duration {
	out := make([]time.Duration, n)
	out[0] = firstMin + time.Duration(rng.Int64N(int64(firstMax-firstMin)))
	rest := sceneMin + time.Duration(rng.Int64N(int64(sceneMax-sceneMin))) - out[0]
	weights, sum := make([]float64, n), 0.0
	for i := 1; i < n; i++ {
		weights[i] = 0.5 + rng.Float64()
		sum += weights[i]
	}
	for i := 1; i < n; i++ {
		out[i] = time.Duration(float64(rest) * weights[i] / sum)
	}
	return out
}

// What is said; %s is the title.
var (
	thoughts = []string{
		"The task is “%s”. I look at what is there before I change anything.",
		"“%s”: I need the current state first, then the smallest change that does it.",
		"For “%s” the surrounding code should show the conventions to follow.",
	}
	openings = []string{
		"I start with “%s”.",
		"Let me have a look at what “%s” touches.",
		"I will take “%s” step by step.",
	}
	endings = []string{
		"“%s” is done. I kept the change small and the checks pass.",
		"Done: “%s”. Nothing else had to change.",
		"“%s” is finished; I ran what covers it and it is fine.",
	}
	reviewThoughts = []string{
		"I compare the change for “%s” with its task.",
		"“%s”: does the change do what was asked, and nothing else?",
	}
	reviewEndings = []string{
		"I read the change for “%s”. It does what the task asks, in the style of the code around it.",
		"The change for “%s” is small and easy to follow. I have no objection.",
	}
)

func (p *player) reviews() bool {
	return p.task.Kind == "review" || p.task.Kind == "plan_review" || p.task.Kind == "judge"
}

// pick chooses one of the texts and names the step in it.
func (p *player) pick(rng *rand.Rand, texts []string) string {
	if p.reviews() && texts[0] == thoughts[0] {
		texts = reviewThoughts
	}
	return fmt.Sprintf(texts[rng.IntN(len(texts))], or(p.task.Title, "this step"))
}

func (p *player) ending(rng *rand.Rand) string {
	switch {
	case p.reviews():
		return p.pick(rng, reviewEndings)
	case p.task.Kind == "planner":
		return proposal(p.task.Title)
	}
	return p.pick(rng, endings)
}

// acts chooses one to three tool calls that the run would be allowed to make.
func (p *player) acts(rng *rand.Rand) []act {
	file := "README.md"
	if len(p.task.Writable) > 0 {
		file = p.task.Writable[rng.IntN(len(p.task.Writable))]
	}
	pool := []act{
		{"Read", object("file_path", file), fmt.Sprintf("%6d\t# %s\n%6d\t\n%6d\tThis is what the mock pretends to read.", 1, or(p.task.Title, "A step"), 2, 3)},
		{"Grep", object("pattern", "TODO", "path", "."), "No matches found."},
		{"Glob", object("pattern", "**/*.md"), "README.md\ndocs/guide.md"},
	}
	if mayRun(p.task) == nil {
		pool = append(pool, act{"Bash", object("command", "make test"), "ok\t12 tests passed"})
	}
	if (p.task.Kind == "step" || p.task.Kind == "") && mayWrite(p.task, file) == nil {
		pool = append(pool, act{"Edit", object("file_path", file, "old_string", "before", "new_string", "after"), "The mock pretends that it changed " + file + "."})
	}
	rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	return pool[:1+rng.IntN(maxRounds)]
}

// proposal is the plan that the mock makes of a goal, as a planner hands it in
// when it has no tools: the last JSON block of its reply.
func proposal(goal string) string {
	goal = or(goal, "the goal")
	b, err := json.MarshalIndent(map[string]any{
		"title":      goal,
		"summary":    "A plan of the mock: look, change, check.",
		"tech_stack": []string{},
		"nodes": []map[string]any{
			{"key": "look", "title": "Look at what is there", "description": "Find out what " + goal + " touches.",
				"task_type": "review", "acceptance_criteria": []string{"The affected places are named."}, "estimate_minutes": 5},
			{"key": "change", "title": "Make the change", "description": "Do " + goal + ".", "results_from": []string{"look"},
				"task_type": "implement", "files": []string{"README.md"}, "acceptance_criteria": []string{"The goal is reached."}, "estimate_minutes": 20},
			{"key": "check", "title": "Check the result", "description": "Run what covers the change.",
				"task_type": "test", "acceptance_criteria": []string{"The checks pass."}, "estimate_minutes": 10},
		},
		"edges":       [][]string{{"look", "change"}, {"change", "check"}},
		"risks":       []string{"The mock understands nothing of the goal."},
		"assumptions": []string{},
	}, "", "  ")
	if err != nil {
		return err.Error() // texts always can be written
	}
	return fmt.Sprintf("Here is a plan for “%s”.\n\n```json\n%s\n```", goal, b)
}
