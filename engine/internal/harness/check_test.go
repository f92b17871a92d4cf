package harness

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestACheckTellsHowItsCommandEnded(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		command string
		exit    int
		output  string
	}{
		"it succeeds":              {"pwd && exit 0", 0, dir},
		"it fails":                 {"echo red >&2; exit 3", 3, "red"},
		"there is no such program": {"no-such-program-here", 127, "not found"},
		"no secrets":               {"echo key=$SOME_API_KEY", 0, "key=\n"},
	} {
		t.Run(name, func(t *testing.T) {
			exit, out := RunCheck(t.Context(), c.command, dir, append(os.Environ(), "SOME_API_KEY=hidden"), nil)
			if exit != c.exit || !strings.Contains(out, c.output) {
				t.Errorf("exit %d with %q; want %d with %q", exit, out, c.exit, c.output)
			}
		})
	}
	if exit, out := RunCheck(t.Context(), "true", filepath.Join(dir, "gone"), nil, nil); exit != -1 || !strings.Contains(out, "could not be run") {
		t.Errorf("in a folder that is gone: exit %d with %q", exit, out)
	}
}

func TestACheckKeepsHeadAndTailOfItsOutput(t *testing.T) {
	_, out := RunCheck(t.Context(), "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last", t.TempDir(), os.Environ(), nil)
	if len(out) > 3*checkOutput || !strings.HasPrefix(out, "first\n") || !strings.HasSuffix(out, "last\n") || !strings.Contains(out, "bytes left out") {
		t.Errorf("kept %d bytes: %.40q … %q", len(out), out, out[max(0, len(out)-40):])
	}
}

func TestACheckLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	exit, _ := RunCheck(ctx, "sleep 600 & touch started; wait", dir, os.Environ(), nil)
	if exit != -1 {
		t.Errorf("exit %d of a command that was ended, want -1", exit)
	}
	if exit, out := RunCheck(t.Context(), "sleep 600 & echo there", dir, os.Environ(), nil); exit != 0 || out != "there\n" {
		t.Errorf("a command that left something running: exit %d with %q", exit, out)
	}
}
