package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/plugintest"
)

func TestTheMockIsAGoodHarness(t *testing.T) {
	plugintest.Run(t, os.Args[0], plugintest.Options{
		Env:     []string{mainEnv + "=1"},
		Profile: plugin.Profile{Secret: "sk-never-to-be-seen"},
		Quick:   plugin.Task{Title: "a quick one", Prompt: "Do it.", Speed: 20},
		Long:    plugin.Task{Title: "a long one", Prompt: "Do it.", Speed: 0.02},
		Tools:   scripted("tool Read => a\nrun echo hello\nwrite a.txt b\nread none"),
		Big:     scripted("line 5000000\nrun yes | head -c 20000000\nbig 2000000\nflood 1500\nresult done"),
		Ask:     scripted("ask may I?\nask and that?"),
	})
}

// harness is a real process of the mock.
type harness struct {
	client *plugin.Client
	gp     *goplugin.Client
	cmd    *exec.Cmd
	stderr *buffer
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func launch(t *testing.T, env ...string) (*harness, error) {
	t.Helper()
	h := &harness{cmd: exec.Command(os.Args[0]), stderr: &buffer{}}
	h.cmd.Env = append([]string{mainEnv + "=1", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}, env...)
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.gp = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: plugin.Handshake(), Plugins: plugin.PluginMap(), Cmd: h.cmd,
		SkipHostEnv: true, Stderr: h.stderr, StartTimeout: 2 * time.Second, Logger: hclog.NewNullLogger(),
	})
	t.Cleanup(func() {
		if h.cmd.Process != nil {
			syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL)
		}
		h.gp.Kill()
	})
	p, err := h.gp.Client()
	if err != nil {
		return h, err
	}
	h.client, err = plugin.NewClient(p)
	return h, err
}

// run plays a script in a real process until it ends or dies.
func run(t *testing.T, script string) (*harness, *recorder, plugin.Result, error) {
	t.Helper()
	h, err := launch(t)
	if err != nil {
		t.Fatal(err)
	}
	task := scripted(script)
	task.RunID, task.WorkDir = "r1", t.TempDir()
	s, err := h.client.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	res, err := s.Follow(t.Context(), 0, rec)
	return h, rec, res, err
}

func TestSuddenDeaths(t *testing.T) {
	for _, tt := range []struct {
		script string
		code   int
		signal syscall.Signal
	}{
		{"die", 3, 0}, {"die 0", 0, 0}, {"die 77", 77, 0}, {"kill", -1, syscall.SIGKILL},
	} {
		t.Run(tt.script, func(t *testing.T) {
			// The pause lets the last words get out: what a process has not handed
			// over when it dies is lost.
			h, rec, _, err := run(t, "text last words\nsleep! 300ms\nstderr oh no\n"+tt.script)
			if !errors.Is(err, plugin.ErrLost) || len(rec.events) != 2 {
				t.Errorf("got %q, %v", rec.said(), err)
			}
			until(t, "its end", h.gp.Exited)
			ws := h.cmd.ProcessState.Sys().(syscall.WaitStatus)
			if ws.ExitStatus() != tt.code || tt.signal != 0 && ws.Signal() != tt.signal {
				t.Errorf("got %v", h.cmd.ProcessState)
			}
			if !strings.Contains(h.stderr.String(), "oh no\n") {
				t.Errorf("stderr: %q", h.stderr)
			}
		})
	}
}

func TestLongLinesReachStderrWhole(t *testing.T) {
	h, _, res, err := run(t, "line 1000000\nstderr after\nresult ok")
	if err != nil || res.Text != "ok" {
		t.Errorf("got %+v, %v", res, err)
	}
	until(t, "both lines", func() bool { return strings.Contains(h.stderr.String(), "after") })
	if got := strings.Count(h.stderr.String(), "x"); got != 2_000_000 {
		t.Errorf("got %d bytes, want 2 lines of 1,000,000", got)
	}
}

func TestWhatOutlivesARun(t *testing.T) {
	_, rec, res, err := run(t, "spawn\norphan 60\nresult ok")
	if err != nil || res.Text != "ok" {
		t.Fatalf("got %+v, %v", res, err)
	}
	var spawned, orphaned int
	said := rec.said()
	fmt.Sscanf(said[1], "log spawned pid %d", &spawned)
	fmt.Sscanf(said[2], "log orphan pid %d", &orphaned)
	if spawned == 0 || orphaned == 0 {
		t.Fatalf("got %q", said)
	}
	defer syscall.Kill(orphaned, syscall.SIGKILL)
	until(t, "the end of the spawned program", func() bool { return !alive(spawned) })
	if !alive(orphaned) {
		t.Error("the orphan must be one that only a supervisor can find")
	}
}

func TestBootFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"garbage": "Unrecognized remote plugin message: good morning",
		"exit":    "Unrecognized remote plugin message",
		"hang":    "timeout while waiting for plugin to start",
		"bigline": "Unrecognized remote plugin message",
	} {
		t.Run(fault, func(t *testing.T) {
			if _, err := launch(t, bootEnv+"="+fault); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	h, err := launch(t)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := h.client.Info(t.Context()); err != nil || info.Slug != "mock" {
		t.Errorf("without a fault: %+v, %v", info, err)
	}
}
