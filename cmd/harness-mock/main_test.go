package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// mainEnv makes the test binary the harness itself.
const mainEnv = "HARNESS_MOCK_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainEnv) != "" || os.Getenv(orphanEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// recorder is a sink that allows everything.
type recorder struct {
	push func(plugin.Event)

	mu     sync.Mutex
	events []plugin.Event
}

func (r *recorder) Push(_ context.Context, batch []plugin.Event) error {
	for _, e := range batch {
		if r.push != nil {
			r.push(e)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, batch...)
	return nil
}

func (r *recorder) Answer(_ context.Context, q plugin.Question) (plugin.Answer, error) {
	return plugin.Answer{Allow: !strings.Contains(q.Text, "never"), Message: q.Text}, nil
}

// said are the events in short form.
func (r *recorder) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		out = append(out, short(e))
	}
	return out
}

func short(e plugin.Event) string {
	switch e.Kind {
	case plugin.KindToolUse:
		id, name, input, _ := plugin.DecodeToolUse(e)
		return fmt.Sprintf("tool_use %s %s %s", id, name, input)
	case plugin.KindToolResult:
		id, content, isErr, _ := plugin.DecodeToolResult(e)
		return fmt.Sprintf("tool_result %s %t %s", id, isErr, content)
	case plugin.KindUsage:
		in, out, _ := plugin.DecodeUsage(e)
		return fmt.Sprintf("usage %d %d", in, out)
	}
	text, _ := plugin.DecodeText(e)
	return e.Kind + " " + text
}

// played runs t in this process to its end.
func played(t *testing.T, task plugin.Task) (*recorder, plugin.Result) {
	t.Helper()
	if task.RunID == "" {
		task.RunID = "run-1"
	}
	if task.WorkDir == "" {
		task.WorkDir = "/"
	}
	s := plugin.Local(mock{}, task)
	defer s.Close()
	rec := &recorder{}
	res, err := s.Follow(t.Context(), 0, rec)
	if err != nil {
		t.Fatal(err)
	}
	return rec, res
}

// scripted is a task whose description has a script.
func scripted(script string) plugin.Task {
	return plugin.Task{Title: "a step", Kind: "step", Prompt: "Do it.\n\n```mock\n" + script + "\n```\n\nThank you."}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// alive says whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
