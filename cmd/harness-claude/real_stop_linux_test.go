package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
)

const stopMark = "TEST_STOP_MARK"

// survivors are the processes that run with the test's mark, apart from the test
// itself, as command lines by number.
func survivors(mark string) map[int]string {
	out := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		b, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && pid != os.Getpid() && bytes.Contains(b, []byte(stopMark+"="+mark+"\x00")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			out[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return out
}

// A stop ends the program and everything that it started, whatever it is at.
func TestRealStops(t *testing.T) {
	stop := func(s plugin.Session) { _ = s.Stop(context.Background()) }
	onKind := func(kind string) func(plugin.Session, plugin.Event) {
		return func(s plugin.Session, e plugin.Event) {
			if e.Kind == kind {
				stop(s)
			}
		}
	}
	command := m{"command": "touch started; sleep 300 & setsid sleep 300 & (trap '' TERM; sleep 300)", "description": "wait"}
	tests := []struct {
		name  string
		scene scene
	}{
		{"while it says its version", scene{scripts: one(turn{Text: "x", HoldMS: 300_000}), started: func(_ string, s plugin.Session) {
			until(t, "any process", func() bool { return len(survivors(os.Getenv(stopMark))) > 0 })
			stop(s)
		}}},
		{"while it starts", scene{scripts: one(turn{Text: "x", HoldMS: 300_000}), started: func(_ string, s plugin.Session) {
			until(t, "the program", func() bool {
				return strings.Contains(fmt.Sprint(survivors(os.Getenv(stopMark))), "--input-format=stream-json")
			})
			stop(s)
		}}},
		{"while the model thinks", scene{scripts: one(turn{Text: "x", HoldMS: 300_000}), during: onKind(plugin.KindSystem)}},
		{"in a command", scene{scripts: one(use("Bash", command)), started: func(dir string, s plugin.Session) {
			until(t, "the command", exists(dir, "started"))
			stop(s)
		}}},
		{"while a question waits", scene{scripts: one(use("Bash", command)), params: m{"ask": true}, task: func(t *plugin.Task) { t.Allowed = plugin.Read }, asked: stop}},
		{"between two tries", scene{scripts: one(turn{Status: 500, Kind: "api_error"}), params: m{"max_retries": 15}, during: onKind(plugin.KindLog)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mark := t.TempDir()
			t.Setenv(stopMark, mark)
			p := play(t, tt.scene)
			if !p.result.IsError || p.result.Subtype != plugin.SubtypeStopped {
				t.Errorf("result %+v", p.result)
			}
			if left := survivors(mark); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func exists(dir, name string) func() bool {
	return func() bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
}

// The program is killed in the middle of a command: that may pass, and nothing is left.
func TestRealProgramKilled(t *testing.T) {
	mark := t.TempDir()
	t.Setenv(stopMark, mark)
	p := play(t, scene{
		scripts: one(use("Bash", m{"command": "touch started; sleep 300 & setsid sleep 300 & sleep 300", "description": "wait"})),
		started: func(dir string, _ plugin.Session) {
			until(t, "the command", exists(dir, "started"))
			for pid, line := range survivors(mark) {
				if strings.Contains(line, "--input-format=stream-json") {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		},
	})
	if !p.result.IsError || !p.result.Transient || p.result.SessionID == "" {
		t.Errorf("result %+v", p.result)
	}
	wantIn(t, p.result.Text, "ended by signal 9")
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What a command leaves in the background ends with the run, and huge output is cut.
func TestRealLeftoversAndHugeOutput(t *testing.T) {
	mark := t.TempDir()
	t.Setenv(stopMark, mark)
	p := play(t, scene{scripts: []script{{Turns: []turn{
		{Calls: []scriptedmessages.Call{
			{Name: "Bash", Input: m{"command": "sleep 300 & setsid sleep 300 & nohup sleep 300 >/dev/null 2>&1 & echo begun"}},
			{Name: "Bash", Input: m{"command": "head -c 100000000 /dev/zero | tr '\\0' x"}},
		}},
		{Text: strings.Repeat("a long answer ", 20_000)},
	}}}})
	if p.result.IsError || len(p.results()) != 2 || p.results()[0] != "begun" {
		t.Errorf("result %.300s, results %.300q", p.result.Text, p.results())
	}
	if len(p.results()[1]) > plugin.MaxToolResult+100 {
		t.Errorf("a result has %d bytes", len(p.results()[1]))
	}
	if len(p.result.Text) < 200_000 {
		t.Errorf("the answer has only %d bytes", len(p.result.Text))
	}
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
