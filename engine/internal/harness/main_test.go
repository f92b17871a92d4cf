package harness

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// patience is how long a test waits for real processes before it gives up.
const patience = 20 * time.Second

// TestMain lets the test binary play every part: supervisor, server, and each
// harness, the latter by the name under which it is called.
func TestMain(m *testing.M) {
	slug, isHarness := strings.CutPrefix(filepath.Base(os.Args[0]), namePrefix)
	switch {
	case isHarness:
		os.Exit(playHarness(slug))
	case len(os.Args) > 1 && os.Args[1] == "__supervise":
		os.Exit(Supervise(os.Args[2:]))
	case len(os.Args) > 1 && os.Args[1] == "__server":
		os.Exit(playServer(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

// stage is a manager with harnesses to play with.
type stage struct {
	*Manager
	dir string // of the harnesses
}

func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// newStage makes a manager over links to the test binary.
func newStage(t testing.TB, change func(*Options), slugs ...string) *stage {
	t.Helper()
	o := Options{
		Dirs: []string{t.TempDir()}, DataDir: t.TempDir(),
		Supervisor:   []string{self(t), "__supervise"},
		StartTimeout: patience,
		Log:          slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, slug := range slugs {
		linkTo(t, o.Dirs[0], slug)
	}
	if change != nil {
		change(&o)
	}
	s := &stage{New(o), o.Dirs[0]}
	t.Cleanup(s.Close)
	return s
}

func linkTo(t testing.TB, dir, slug string) string {
	t.Helper()
	path := filepath.Join(dir, namePrefix+slug)
	if err := os.Symlink(self(t), path); err != nil {
		t.Fatal(err)
	}
	return path
}

func task(t testing.TB, run, script string) plugin.Task {
	return plugin.Task{RunID: run, WorkDir: t.TempDir(), Prompt: script}
}

// launch starts a run of the harness "script" that is ended with the test.
func (s *stage) launch(t testing.TB, run, script string) *Session {
	t.Helper()
	session, err := s.Launch(t.Context(), "script", task(t, run, script), func([]byte) error { return nil })
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session.(*Session)
}

// gather is a sink that keeps what it gets.
type gather struct {
	mu     sync.Mutex
	events []plugin.Event
	got    chan struct{} // holds a value after each batch
}

func newGather() *gather { return &gather{got: make(chan struct{}, 1)} }

func (g *gather) Push(_ context.Context, batch []plugin.Event) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events = append(g.events, batch...)
	select {
	case g.got <- struct{}{}:
	default:
	}
	return nil
}

func (g *gather) Answer(context.Context, plugin.Question) (plugin.Answer, error) {
	return plugin.Answer{}, errors.New("nobody is here")
}

func (g *gather) texts() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []string
	for _, e := range g.events {
		text, err := plugin.DecodeText(e)
		if err != nil {
			text = string(e.Data)
		}
		all = append(all, text)
	}
	return all
}

// waitFor waits until an event has the text.
func (g *gather) waitFor(t testing.TB, text string) {
	t.Helper()
	limit := time.After(patience)
	for {
		for _, s := range g.texts() {
			if s == text {
				return
			}
		}
		select {
		case <-g.got:
		case <-limit:
			t.Fatalf("no event %q came; got %q", text, g.texts())
		}
	}
}

// followed is a Follow that runs beside the test.
type followed struct {
	*gather
	done chan struct{}
	res  plugin.Result
	err  error
}

func follow(t testing.TB, s plugin.Session, after int64) *followed {
	f := &followed{gather: newGather(), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.res, f.err = s.Follow(context.Background(), after, f.gather)
	}()
	return f
}

func (f *followed) wait(t testing.TB) (plugin.Result, error) {
	t.Helper()
	select {
	case <-f.done:
	case <-time.After(patience):
		t.Fatalf("Follow does not return; got %q", f.texts())
	}
	return f.res, f.err
}

// wantLost fails unless err is a Lost, and returns it.
func wantLost(t testing.TB, err error) *Lost {
	t.Helper()
	var l *Lost
	if !errors.As(err, &l) || !errors.Is(err, plugin.ErrLost) {
		t.Fatalf("got error %v, want a *Lost", err)
	}
	return l
}

// eventually polls, for what only the system can tell.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not so after %s: %s", patience, what)
		}
	}
}

// linuxOnly skips what only a subreaper can do.
func linuxOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lets a supervisor end what left the process group")
	}
}

// nap is an argument of sleep that no other process has.
func nap() string {
	return "1000." + strconv.FormatInt(time.Now().UnixNano(), 10)
}
