package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScriptsAreRead(t *testing.T) {
	none := json.RawMessage(`{}`)
	for _, tt := range []struct {
		line string
		want directive
	}{
		{"text hello world", directive{verb: "text", text: "hello world"}},
		{"  text\t hello ", directive{verb: "text", text: "hello"}},
		{`text "two\nlines"`, directive{verb: "text", text: "two\nlines"}},
		{`thinking hm`, directive{verb: "thinking", text: "hm"}},
		{`tool Read`, directive{verb: "tool", name: "Read", input: none}},
		{`tool Read => the content`, directive{verb: "tool", name: "Read", input: none, text: "the content"}},
		{`tool Bash {"command": "a => b"} =! exit 1`, directive{verb: "tool", name: "Bash", input: json.RawMessage(`{"command": "a => b"}`), failed: true, text: "exit 1"}},
		{`tool Bash {"a":{}}=>`, directive{verb: "tool", name: "Bash", input: json.RawMessage(`{"a":{}}`)}},
		{`write a/b.txt some content`, directive{verb: "write", name: "a/b.txt", text: "some content"}},
		{`write a.txt`, directive{verb: "write", name: "a.txt"}},
		{`read a.txt`, directive{verb: "read", name: "a.txt"}},
		{`run echo "hi" && ls`, directive{verb: "run", text: `echo "hi" && ls`}},
		{`mcp report_progress {"message":"x"}`, directive{verb: "mcp", name: "report_progress", input: json.RawMessage(`{"message":"x"}`)}},
		{`sleep 500ms`, directive{verb: "sleep", wait: 500 * time.Millisecond}},
		{`sleep! 2s`, directive{verb: "sleep!", wait: 2 * time.Second}},
		{`usage 10 2`, directive{verb: "usage", n: 10, m: 2}},
		{`cost 0.25`, directive{verb: "cost", usd: 0.25}},
		{`limit`, directive{verb: "limit"}},
		{`limit 30s`, directive{verb: "limit", wait: 30 * time.Second}},
		{`limit 2030-01-02T15:04:05Z`, directive{verb: "limit", until: time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)}},
		{`fail`, directive{verb: "fail"}},
		{`die`, directive{verb: "die", n: 3}},
		{`die 0`, directive{verb: "die"}},
		{`flood 1000`, directive{verb: "flood", n: 1000}},
		{`orphan`, directive{verb: "orphan", n: 600}},
		{`@2 die 1`, directive{verb: "die", n: 1, attempt: 2}},
	} {
		t.Run(tt.line, func(t *testing.T) {
			got, err := parse("# a comment\n\n" + tt.line + "\r\n")
			if err != nil {
				t.Fatal(err)
			}
			tt.want.line = 3
			if diff := cmp.Diff([]directive{tt.want}, got, cmp.AllowUnexported(directive{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBadScriptsNameTheLineAndTheRule(t *testing.T) {
	for line, want := range map[string]string{
		"dance":                  `line 2: "dance" is no directive; there are append, ask, big, cost,`,
		"text":                   "line 2: text: a text must follow",
		`text "open`:             `line 2: text: a text that starts with " must be a whole Go string`,
		"tool":                   "line 2: tool: the name of a tool must follow",
		"tool => x":              "line 2: tool: the name of a tool must follow",
		`tool Read {"a"`:         "line 2: tool: the input must be a JSON object on this line: it has no end",
		`tool Read {"a":1} then`: `line 2: tool: after name and input must come => or =! and the result, not "then"`,
		"write":                  "line 2: write: a path relative to the working directory and a content must follow",
		"read a b":               `line 2: read: nothing may follow, not "b"`,
		"sleep soon":             `line 2: sleep: a duration such as 500ms or 2s must follow, at most 720h0m0s, not "soon"`,
		"sleep -1s":              "line 2: sleep: a duration such as",
		"usage 1":                `line 2: usage: two numbers of tokens must follow, in and out, not "1"`,
		"cost -1":                `line 2: cost: an amount in dollars such as 0.25 must follow, not "-1"`,
		"cost NaN":               "line 2: cost: an amount in dollars",
		"limit tomorrow":         `line 2: limit: a duration such as 30s or a time such as 2030-01-02T15:04:05Z must follow, not "tomorrow"`,
		"die 256":                `line 2: die: a number from 0 to 255 must follow, not "256"`,
		"flood":                  `line 2: flood: a number from 0 to 10000000 must follow, not ""`,
		"kill now":               `line 2: kill: nothing may follow, not "now"`,
		"@x die":                 "line 2: @x must be @ and the number of an attempt, such as @1",
		"@0 die":                 "line 2: @0 must be @ and the number of an attempt",
		"@1":                     `line 2: "" is no directive`,
	} {
		t.Run(line, func(t *testing.T) {
			_, err := parse("text fine\n" + line)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestTheLastBlockForThisKindOfRunCounts(t *testing.T) {
	const review = "```mock\nfail\n```\n"
	for _, tt := range []struct {
		name, prompt, kind string
		want               string
		found              bool
	}{
		{"none", "Do it.\n```sh\nls\n```", "step", "", false},
		{"one", "Do it.\n```mock\ntext a\ntext b\n```\nThanks.", "step", "text a\ntext b", true},
		{"of two the last", "```mock\ntext a\n```\n~\n```mock\ntext b\n```", "", "text b", true},
		{"an empty one counts", "```mock\ntext a\n```\n```mock\n```", "step", "", true},
		{"indented, longer fence, CRLF", "  ````mock\r\n  text a\r\n  ```\r\n  ````\r\n", "step", "  text a\n  ```", true},
		{"inside another fence", "````md\n```mock\ntext a\n```\n````", "step", "text a", true},
		{"another language", "```mocking\ntext a\n```", "step", "", false},
		{"a step's is not for its review", review, "review", "", false},
		{"a review's own", review + "```mock review\ntext r\n```", "review", "text r", true},
		{"a review's is not for the step", review + "```mock review\ntext r\n```", "step", "fail", true},
		{"named step", "```mock step\ntext a\n```", "step", "text a", true},
		{"too many words", "```mock review now\ntext r\n```", "review", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := block(tt.prompt, tt.kind)
			if err != nil || got != tt.want || found != tt.found {
				t.Errorf("got %q, %t, %v, want %q, %t", got, found, err, tt.want, tt.found)
			}
		})
	}
	if _, _, err := block("a\n```mock\ntext a", "step"); err == nil || !strings.Contains(err.Error(), "starts at line 2 of the prompt has no end: close it with ```") {
		t.Errorf("a block without end: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("text a\n@2 die 1\ntool X {\"a\":1} => b\nwrite a \"x\\ny\"\nlimit 3s")
	for verb := range verbs {
		f.Add(verb + " 1 2")
	}
	f.Fuzz(func(t *testing.T, script string) {
		got, err := parse(script)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("the error names no line: %v", err)
			}
			return
		}
		lines := strings.Count(script, "\n") + 1
		last := 0
		for _, d := range got {
			if d.line <= last || d.line > lines || verbs[d.verb] == nil || d.n < 0 || d.wait < 0 {
				t.Errorf("%+v after line %d of %d", d, last, lines)
			}
			if len(d.input) > 0 && !json.Valid(d.input) {
				t.Errorf("input %q", d.input)
			}
			last = d.line
		}
	})
}

func FuzzBlock(f *testing.F) {
	f.Add("a\n```mock\ntext a\n```", "step")
	f.Add("```mock review\n```", "review")
	f.Fuzz(func(t *testing.T, prompt, kind string) {
		body, found, err := block(prompt, kind)
		if body != "" && (!found || err != nil) {
			t.Errorf("a body %q without a block: %t, %v", body, found, err)
		}
	})
}
