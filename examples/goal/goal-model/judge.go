package main

import (
	"encoding/json"
	"regexp"
	"strings"
)

// told is true when a prompt has words, as the brief of a further attempt.
func told(words string) func(*asked) bool {
	return func(r *asked) bool { return strings.Contains(r.User(), words) }
}

// finding is a criterion that a judge knows to look for.
type finding struct {
	wants string // expression that what it read must match
	unmet string // said where it does not; the reason
}

// judges read the file that a step was about, and judge by what is in it and by how
// the check command ended.
func judges() []script {
	judge := func(name, task, file string, criteria ...finding) script {
		return script{Name: "judge of " + name, Match: task, When: is("You judge one attempt"), Turns: []turn{
			{Calls: []call{{Name: "read_file", Args: object{"path": file}}}},
			{Make: func(r *asked) turn { return verdict(r, criteria) }},
		}}
	}
	return []script{
		judge("the handler", handlerTask, "health.go", finding{`"ok"`, "it does not say that it is ok"}, finding{`mu\.Lock`, "the notes are counted without the lock"}),
		judge("the route", routeTask, "server.go", finding{"GET /health", "the route is missing"}),
		judge("the tests", testsTask, "health_test.go", finding{"func TestHealth", "nothing tests the endpoint"}, finding{"MethodNotAllowed", "405 is not tested"}),
		judge("the documents", docsTask, "README.md", finding{"GET /health", "the README does not name it"}),
		judge("the counter", metricsTask, "metrics.go", finding{`atomic|mu\.Lock`, "two requests at once can count as one: requests++ is not atomic"}),
	}
}

var checkEnd = regexp.MustCompile(`It ended with exit code (\d+)`)

func verdict(r *asked, criteria []finding) turn {
	read := strings.Join(r.Results(), "\n")
	reason := "All criteria are met."
	list := []object{}
	pass := true
	for i, c := range criteria {
		one := object{"number": i + 1, "verdict": "met", "evidence": "read in the file"}
		if !regexp.MustCompile(c.wants).MatchString(read) {
			one["verdict"], one["evidence"] = "unmet", c.unmet
			pass, reason = false, c.unmet
		}
		list = append(list, one)
	}
	if m := checkEnd.FindStringSubmatch(r.User()); m != nil && m[1] != "0" {
		list[0]["verdict"], list[0]["evidence"] = "unmet", "the check command ended with exit code "+m[1]
		pass, reason = false, "The tests do not pass."
	}
	word := map[bool]string{true: "pass", false: "fail"}[pass]
	text, _ := json.Marshal(object{"criteria": list, "verdict": word, "reason": reason}) // it is plain data
	return turn{Text: "```json\n" + string(text) + "\n```"}
}
