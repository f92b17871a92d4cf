package main

import (
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// scriptOf returns the script of a run: the block in its prompt, else the
// profile's. scripted is false when there is neither.
func scriptOf(t plugin.Task, set params) (script []directive, scripted bool, err error) {
	body, found, err := block(t.Prompt, t.Kind)
	if err != nil {
		return nil, false, err
	}
	where := "mock block"
	if !found {
		body, found, where = set.Script, strings.TrimSpace(set.Script) != "", "params.script"
	}
	if !found {
		return nil, false, nil
	}
	script, err = parse(body)
	if err != nil {
		return nil, true, fmt.Errorf("%s: %w", where, err)
	}
	return script, true, nil
}

// block returns the last mock block that is meant for runs of this kind.
func block(prompt, kind string) (body string, found bool, err error) {
	lines := strings.Split(strings.ReplaceAll(prompt, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		fence, ours := opens(lines[i], kind)
		if !ours {
			continue
		}
		end := i + 1
		for end < len(lines) && !closes(lines[end], fence) {
			end++
		}
		if end == len(lines) {
			return "", true, fmt.Errorf("the mock block that starts at line %d of the prompt has no end: close it with %s", i+1, fence)
		}
		body, found = strings.Join(lines[i+1:end], "\n"), true
		i = end
	}
	return body, found, nil
}

// opens says whether a line opens a block for this kind of run, and returns its
// fence.
func opens(line, kind string) (fence string, ours bool) {
	line = strings.TrimSpace(line)
	info := strings.TrimLeft(line, "`")
	fence = line[:len(line)-len(info)]
	words := strings.Fields(info)
	if len(fence) < 3 || len(words) == 0 || words[0] != "mock" {
		return "", false
	}
	if kind == "" {
		kind = "step"
	}
	switch len(words) {
	case 1:
		return fence, kind == "step"
	case 2:
		return fence, kind == words[1]
	}
	return "", false
}

// closes says whether a line is the end of a block with this fence.
func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, "`") == ""
}
