package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inRun calls f as the body of a run in dir and returns when the run has ended.
func inRun(t *testing.T, dir string, f func(ctx context.Context, h Host)) {
	t.Helper()
	task := Task{RunID: "r1", WorkDir: dir}
	s := Local(running(func(ctx context.Context, h Host) (Result, error) { f(ctx, h); return Result{}, nil }), task)
	defer s.Close()
	if res, err := s.Follow(t.Context(), 0, &recorder{}); err != nil || res.IsError {
		t.Errorf("run: %+v, %v", res, err)
	}
}

func shell(script string) []string { return []string{"sh", "-c", script} }

func TestCommandsTellHowTheyEnded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		argv   []string
		x      Exec
		code   int
		err    error
		output string
		failed string // Command itself
	}{
		{name: "success", argv: shell("echo hello")},
		{name: "exit code", argv: shell("exit 3"), code: 3},
		{name: "signal", argv: shell("kill -9 $$"), code: 137},
		{name: "time limit", argv: shell("sleep 600"), x: Exec{Timeout: 50 * time.Millisecond}, code: 143, err: ErrTimeout},
		{name: "time limit of one that ignores TERM", argv: shell("trap '' TERM; sleep 600 & wait; sleep 600"), x: Exec{Timeout: 100 * time.Millisecond}, code: 137, err: ErrTimeout},
		{name: "no program", argv: nil, failed: "argv is empty"},
		{name: "missing program", argv: []string{"no-such-program"}, failed: "start no-such-program: exec:"},
		{name: "folder outside", argv: shell("true"), x: Exec{Dir: ".."}, failed: `folder ".." is outside of the working directory`},
		{name: "absolute folder", argv: shell("true"), x: Exec{Dir: "/"}, failed: `folder "/" must be relative`},
		{name: "folder through a link", argv: shell("true"), x: Exec{Dir: "link"}, failed: `folder "link" is outside of the working directory`},
		{name: "missing folder", argv: shell("true"), x: Exec{Dir: "none"}, failed: `open folder "none":`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Symlink("/", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			inRun(t, dir, func(ctx context.Context, h Host) {
				p, err := h.Command(ctx, tt.argv, tt.x)
				if tt.failed != "" {
					if err == nil || !strings.Contains(err.Error(), tt.failed) {
						t.Errorf("got %v, want %q", err, tt.failed)
					}
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				if code, err := p.Wait(); code != tt.code || !errors.Is(err, tt.err) {
					t.Errorf("got %d, %v, want %d, %v", code, err, tt.code, tt.err)
				}
			})
		})
	}
}

func TestCommandsGetTheirStreamsAndFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLEARBOX_SECRET_OF_THE_HOST", "1")
	inRun(t, dir, func(ctx context.Context, h Host) {
		var out, errs bytes.Buffer
		p, err := h.Command(ctx, shell(`cat; pwd; echo "$PWD $EXTRA $CLEARBOX_SECRET_OF_THE_HOST"; echo oops >&2`), Exec{
			Dir: "sub", Env: []string{"EXTRA=x"}, Stdin: strings.NewReader("input\n"), Stdout: &out, Stderr: &errs,
		})
		if err != nil {
			t.Error(err)
			return
		}
		if code, err := p.Wait(); code != 0 || err != nil {
			t.Errorf("got %d, %v", code, err)
		}
		sub := filepath.Join(dir, "sub")
		if want := "input\n" + sub + "\n" + sub + " x \n"; out.String() != want || errs.String() != "oops\n" {
			t.Errorf("got %q and %q, want %q", out.String(), errs.String(), want)
		}
	})
}

func TestTheSameWriterMergesBothStreamsInOrder(t *testing.T) {
	inRun(t, t.TempDir(), func(ctx context.Context, h Host) {
		var both bytes.Buffer
		p, err := h.Command(ctx, shell(`for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done`), Exec{Stdout: &both, Stderr: &both})
		if err != nil {
			t.Error(err)
			return
		}
		p.Wait()
		want := ""
		for i := 1; i <= 9; i++ {
			want += fmt.Sprintf("o%d\ne%d\n", i, i)
		}
		if both.String() != want {
			t.Errorf("got %q", both.String())
		}
	})
}

func TestWaitIsNotHeldUp(t *testing.T) {
	never := make(stuck)
	t.Cleanup(func() { close(never) })
	for _, tt := range []struct {
		name   string
		script string
		x      Exec
	}{
		{"by a background child with the pipe", "sleep 600 & echo started", Exec{Stdout: &bytes.Buffer{}}},
		{"by input that never ends", "echo started", Exec{Stdin: never, Stdout: &bytes.Buffer{}}},
		{"by a writer that blocks", "echo started", Exec{Stdout: never}},
		{"by a writer that fails", "yes | head -c 1000000", Exec{Stdout: failing{}}},
		{"by output that nobody wants", "yes | head -c 1000000", Exec{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inRun(t, t.TempDir(), func(ctx context.Context, h Host) {
				p, err := h.Command(ctx, shell(tt.script), tt.x)
				if err != nil {
					t.Error(err)
					return
				}
				if code, err := p.Wait(); code != 0 || err != nil {
					t.Errorf("got %d, %v", code, err)
				}
				if b, ok := tt.x.Stdout.(*bytes.Buffer); ok && b.String() != "started\n" {
					t.Errorf("got output %q", b.String())
				}
			})
		})
	}
}

// stuck is a stream that blocks until it is closed.
type stuck chan struct{}

func (s stuck) Read([]byte) (int, error)    { <-s; return 0, io.EOF }
func (s stuck) Write(b []byte) (int, error) { <-s; return len(b), nil }

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDisk }

func TestEverythingEndsWithTheRun(t *testing.T) {
	dir := t.TempDir()
	var pids []int
	inRun(t, dir, func(ctx context.Context, h Host) {
		for i, script := range []string{
			"sleep 600", // still runs
			"sleep 600 >/dev/null 2>&1 & echo $! > bg", // left in the background
			"sh -c 'sleep 600 & echo $! > deep; wait'", // a grandchild
			"trap '' TERM; echo $$ > deaf; sleep 600; sleep 600",
		} {
			p, err := h.Command(ctx, shell(script), Exec{})
			if err != nil {
				t.Error(err)
				return
			}
			if i == 1 {
				p.Wait()
			}
			pids = append(pids, p.Pid())
		}
		for _, name := range []string{"bg", "deep", "deaf"} {
			pids = append(pids, pidIn(t, filepath.Join(dir, name)))
		}
		if !alive(pids[4]) {
			t.Error("what a program left in the background must live until the run ends")
		}
	})
	for i, pid := range pids {
		until(t, fmt.Sprintf("the end of process %d", i), func() bool { return !alive(pid) })
	}
}

func TestKillAndTheCallersContextEndAProgram(t *testing.T) {
	inRun(t, t.TempDir(), func(ctx context.Context, h Host) {
		p, err := h.Command(ctx, shell("trap '' TERM; sleep 600 & wait"), Exec{})
		if err != nil {
			t.Error(err)
			return
		}
		p.Kill()
		p.Kill()
		if code, err := p.Wait(); code != 137 || err != nil {
			t.Errorf("killed: got %d, %v", code, err)
		}
		short, cancel := context.WithCancel(ctx)
		defer cancel()
		p, err = h.Command(short, []string{"sleep", "600"}, Exec{})
		if err != nil {
			t.Error(err)
			return
		}
		cancel()
		if code, err := p.Wait(); code != 143 || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %d, %v", code, err)
		}
	})
}

func TestNothingStartsAfterTheEnd(t *testing.T) {
	var late Host
	inRun(t, t.TempDir(), func(_ context.Context, h Host) { late = h })
	if _, err := late.Command(context.Background(), shell("true"), Exec{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	late.Emit(Text("too late", "")) // must neither block nor panic
	if _, err := late.Ask(context.Background(), Question{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// pidIn reads the number that a script wrote into a file.
func pidIn(t *testing.T, path string) (pid int) {
	t.Helper()
	until(t, path, func() bool {
		b, _ := os.ReadFile(path)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return strings.HasSuffix(string(b), "\n")
	})
	return pid
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
