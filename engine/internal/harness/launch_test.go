package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

func TestLaunchPlaysARunAndLeavesNothing(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "pid\nfolder\nsay hello")
	f := follow(t, s, 0)
	res, err := f.wait(t)
	if err != nil {
		t.Fatalf("Follow: %v", err)
	}
	if res.Text != "played" || res.IsError {
		t.Errorf("got result %+v, want a good one with the text played", res)
	}
	dir := filepath.Join(m.o.DataDir, "runs", "r1")
	texts := f.texts()
	if len(texts) < 3 || texts[1] != dir || texts[2] != "hello" {
		t.Errorf("got events %q, want the pid, %s and hello", texts, dir)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("run folder: got %v, %v, want mode 0700", info, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if n := living(t, dir); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run folder is left: %v", err)
	}
}

func TestCloseTwiceAndAfterTheEnd(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "exit 0")
	if _, err := follow(t, s, 0).wait(t); err == nil {
		t.Fatal("Follow gave a result of a harness that exited without one")
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestCloseInTheMiddleOfARunEndsIt(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	sleep := nap()
	s := m.launch(t, "r1", "shell sleep "+sleep+" & echo\nsay on\nwait")
	f := follow(t, s, 0)
	f.waitFor(t, "on")
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if n := living(t, sleep); n != 0 {
		t.Errorf("%d programs of the run are left", n)
	}
	f.wait(t) // with the result of a run that was stopped, or a Lost
}

func TestReadOnlyFoldersOfARunAreRemoved(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "shell mkdir -p $TMPDIR/mod/cache && touch $TMPDIR/mod/cache/x && chmod -R a-w $TMPDIR/mod")
	if _, err := follow(t, s, 0).wait(t); err != nil {
		t.Fatalf("Follow: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestSocketsFitWhateverTheDataFolderIsCalled(t *testing.T) {
	t.Parallel()
	m := newStage(t, func(o *Options) { o.DataDir = filepath.Join(o.DataDir, strings.Repeat("deep/", 30)) }, "script")
	s := m.launch(t, "r1", "say hello")
	sockets := s.p.folder.sockets
	if len(sockets) > socketRoom {
		t.Errorf("sockets are in %s, longer than %d bytes", sockets, socketRoom)
	}
	if _, err := follow(t, s, 0).wait(t); err != nil {
		t.Fatalf("Follow: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := os.Stat(sockets); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the sockets is left: %v", err)
	}
}

func TestLaunchRefuses(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script", "exits")
	if err := os.WriteFile(filepath.Join(m.dir, "harness-plain"), []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := task(t, "r1", "wait")
	for name, c := range map[string]struct {
		slug   string
		change func(*plugin.Task)
		kind   plan.ErrorKind
		says   string
	}{
		"an unknown harness":         {"none", nil, plan.Unavailable, "there is no harness none"},
		"one that is not executable": {"plain", nil, plan.Unavailable, "not executable"},
		"one that ends at once":      {"exits", nil, plan.Unavailable, "exited with code 3; it printed: exits: no licence found"},
		"a run id with a slash":      {"script", func(t *plugin.Task) { t.RunID = "../x" }, plan.Invalid, "run id"},
		"no run id":                  {"script", func(t *plugin.Task) { t.RunID = "" }, plan.Invalid, "run id"},
		"a task the harness refuses": {"script", func(t *plugin.Task) { t.WorkDir = "here" }, plan.Invalid, "WorkDir"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			if c.change != nil {
				c.change(&bad)
			}
			_, err := m.Launch(t.Context(), c.slug, bad, func([]byte) error { return nil })
			if plan.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %s error %v, want a %s one with %q", plan.KindOf(err), err, c.kind, c.says)
			}
			m.wantNoRuns(t)
		})
	}
}

// wantNoRuns fails when a run folder or a process is left.
func (s *stage) wantNoRuns(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(s.runs)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("run folders are left: %v", left)
	}
	if n := living(t, s.runs); n > 0 {
		t.Errorf("%d supervisors are left", n)
	}
}

func TestNothingIsLeftWhenTheRecordCannotBeSaved(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	full := errors.New("disk full")
	_, err := m.Launch(t.Context(), "script", task(t, "r1", "wait"), func([]byte) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("got error %v, want %v", err, full)
	}
	m.wantNoRuns(t)
}

func TestLaunchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "silent")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := m.Launch(ctx, "silent", plugin.Task{RunID: "r1", WorkDir: m.dir}, func([]byte) error { return nil })
		done <- err
	}()
	eventually(t, "the harness runs", func() bool { return living(t, m.runs) > 0 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
	m.wantNoRuns(t)
}

func TestFolderOfACrashedLaunchIsNoObstacle(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	if err := os.MkdirAll(filepath.Join(m.runs, "r1", "left", "over"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := follow(t, m.launch(t, "r1", "say on"), 0).wait(t); err != nil {
		t.Errorf("Follow: %v", err)
	}
}

func TestTwoProcessesForOneRunAreRefused(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "say on\nwait")
	_, err := m.Launch(t.Context(), "script", task(t, "r1", "wait"), func([]byte) error { return nil })
	if plan.KindOf(err) != plan.Conflict {
		t.Errorf("got error %v, want a conflict", err)
	}
	follow(t, s, 0).waitFor(t, "on") // the first one is left alone
}

func TestHarnessGetsAShortEnvironment(t *testing.T) {
	t.Setenv("CLEARBOX_TEST_SECRET", "planted-1")
	t.Setenv("ANTHROPIC_API_KEY", "planted-2")
	t.Setenv("XDG_RUNTIME_TOKEN", "planted-3")
	t.Setenv("UNKNOWN_VARIABLE", "planted-4")
	t.Setenv("XDG_DATA_HOME", "/data")
	t.Setenv("MY_KEY", "asked for")
	m := newStage(t, func(o *Options) { o.PassEnv = []string{"MY_KEY"} }, "script")
	f := follow(t, m.launch(t, "r1", "environment"), 0)
	if _, err := f.wait(t); err != nil {
		t.Fatalf("Follow: %v", err)
	}
	env := f.texts()
	for _, want := range []string{"XDG_DATA_HOME=/data", "MY_KEY=asked for", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(m.runs, "r1")} {
		if !slices.Contains(env, want) {
			t.Errorf("the harness does not have %s", want)
		}
	}
	if i := slices.IndexFunc(env, func(e string) bool { return strings.Contains(e, "planted") }); i >= 0 {
		t.Errorf("the harness has %s", env[i])
	}
}

func TestSecretsAreInNoCommandLine(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	secret := "sk-" + nap()
	run := task(t, "r1", "say on\nwait")
	run.Profile.Secret = secret
	s, err := m.Launch(t.Context(), "script", run, func([]byte) error { return nil })
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	defer s.Close()
	follow(t, s, 0).waitFor(t, "on")
	if n := living(t, secret); n != 0 {
		t.Errorf("%d processes have the secret in their arguments", n)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	got, err := m.Check(t.Context(), "script", plugin.Profile{Model: "m"}, true)
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	want := plugin.Report{OK: true, Detail: `model "m", connect true`, ModelsSample: []string{}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
	m.wantNoRuns(t)
}

func TestCheckOfAHarnessThatDiesSaysHowWithoutTheKey(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	_, err := m.Check(t.Context(), "script", plugin.Profile{Model: "die", Secret: "sk-123456"}, false)
	if plan.KindOf(err) != plan.Unavailable || !strings.Contains(err.Error(), "exited with code 4; it printed: the key is [secret]") {
		t.Errorf("got error %v, want one with the exit status and the scrubbed output", err)
	}
	if err != nil && strings.Contains(err.Error(), "sk-123456") {
		t.Error("the key is in the error")
	}
	m.wantNoRuns(t)
}

func BenchmarkLaunch(b *testing.B) {
	m := newStage(b, nil, "script")
	for i := range b.N {
		s := m.launch(b, "r"+strings.Repeat("x", i%50)+nap(), "say hello\nwait")
		follow(b, s, 0).waitFor(b, "hello") // process start to first event
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
