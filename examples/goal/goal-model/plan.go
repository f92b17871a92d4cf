package main

import (
	"strings"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
)

type (
	object = map[string]any
	script = scriptedmodel.Script
	turn   = scriptedmodel.Turn
	call   = scriptedmodel.Call
	asked  = scriptedmodel.Request
)

// scripts are all that the model says: as planner, as judge, and in each step.
func scripts(pace int) []script {
	list := append([]script{planner()}, judges()...)
	list = append(list, workers()...)
	for i := range list {
		for k := range list[i].Turns {
			list[i].Turns[k].DelayMS = pace
		}
	}
	return list
}

// planner looks at the service and hands in a plan. The first time it forgets what
// a step is judged by, and is told so.
func planner() script {
	return script{Name: "planner", When: is("You are the planner of Clearbox"), Turns: []turn{
		{Text: "I look at the service first.", Calls: []call{
			{Name: "list_dir", Args: object{}}, {Name: "read_file", Args: object{"path": "server.go"}}, {Name: "read_file", Args: object{"path": "server_test.go"}}}},
		{Text: "A handler, its route and its tests; the documents and a counter can follow beside them.", Calls: []call{{Name: "vc_propose_plan", Args: proposal(false)}}, Expect: "HandleFunc"},
		{Text: "One step had no acceptance criteria. I add them.", Calls: []call{{Name: "vc_propose_plan", Args: proposal(true)}}, Expect: "acceptance_criteria must not be empty"},
		{Text: "The plan is handed in.", Expect: "the plan is taken"},
	}}
}

// is is true for a role, which the system text names.
func is(words string) func(*asked) bool {
	return func(r *asked) bool { return strings.Contains(r.System(), words) }
}

func proposal(whole bool) object {
	docs := step("docs", "Describe it in the README", docsTask, "implement", 5, []string{"README.md"}, "The README says what GET /health answers.")
	if !whole {
		delete(docs, "acceptance_criteria")
	}
	tests := step("tests", "Test the endpoint", testsTask, "test", 10, []string{"health_test.go"}, "go test ./... passes.", "A request with another method is tested to be refused with 405.")
	tests["results_from"] = []string{"route"}
	return object{
		"title":      "A health endpoint with tests",
		"summary":    "A handler that says that the service is up and how many notes it holds, its **route**, and its tests. A counter of requests is built beside it.",
		"tech_stack": []string{"Go", "net/http"},
		"nodes": []object{
			step("handler", "Write the handler", handlerTask, "implement", 5, []string{"health.go"}, "health answers JSON with status and notes.", "It takes the store's lock."),
			step("route", "Route GET /health", routeTask, "integrate", 3, []string{"server.go"}, "GET /health leads to the handler."),
			tests, docs,
			step("metrics", "Count the requests", metricsTask, "implement", 10, []string{"metrics.go"}, "Counting is safe for concurrent requests."),
			step("dashboard", "Describe the counter", "Write docs/metrics.md: what the counter counts and where it is to be seen.", "design", 5, []string{"docs/metrics.md"}, "docs/metrics.md names the counter."),
		},
		"edges":       [][]string{{"handler", "route"}, {"route", "tests"}, {"route", "docs"}, {"handler", "metrics"}, {"metrics", "dashboard"}},
		"risks":       []string{"Something else may ask for /health already."},
		"assumptions": []string{"Nobody has to log in to see it."},
	}
}

func step(key, title, task, kind string, minutes int, files []string, criteria ...string) object {
	return object{"key": key, "title": title, "description": task, "task_type": kind, "estimate_minutes": minutes, "files": files, "acceptance_criteria": criteria}
}

// What the steps are told; the scripts of workers and judges are found by it.
const (
	handlerTask = "Write health.go: a method health of the store that answers with JSON, status ok and the number of notes."
	routeTask   = "In newServer, lead GET /health to the method health of the store."
	testsTask   = "Write health_test.go: what GET /health answers, and that other methods are refused."
	docsTask    = "Add to README.md what GET /health answers."
	metricsTask = "Write metrics.go: a handler around the others that counts requests, and a number that can be read."
)
