package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/plugin"
)

func find(found []Found, slug string) Found {
	for _, f := range found {
		if f.Slug == slug {
			return f
		}
	}
	return Found{}
}

func TestScanDescribesWhatItFinds(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	if err := os.Mkdir(filepath.Join(m.dir, "harness-folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "other"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	got := m.Scan(t.Context())
	want := []Found{{
		Slug: "script", Path: filepath.Join(m.dir, "harness-script"),
		Info: plugin.Info{Slug: "script", Name: "Actor", Version: "1.0", Settings: []byte(`{"type":"object","properties":{}}`)},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}
	if d := cmp.Diff(got, m.Found()); d != "" {
		t.Errorf("Found after Scan (-scan +found):\n%s", d)
	}
	m.wantNoRuns(t)
}

func TestScanSaysWhyAProgramIsRefused(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "garbage", "pipes", "endless", "old", "network", "nosocket", "exits", "broken", "schema", "Upper")
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("harness-plain", "#!/bin/sh\n", 0o600)
	write("harness-text", "just text", 0o700)
	if err := os.Symlink("/nowhere/at/all", filepath.Join(m.dir, "harness-dangling")); err != nil {
		t.Fatal(err)
	}
	found := m.Scan(t.Context())
	for slug, want := range map[string]string{
		"garbage":  `no handshake: "Usage: garbage [options]"; it printed: garbage: need a file`,
		"pipes":    `no handshake: "a|b|c|d|e"`,
		"endless":  `no handshake: "xxxx`,
		"old":      "built for version 9 of the harness contract, this Clearbox speaks version 1",
		"network":  "only unix sockets",
		"nosocket": "connect to the harness",
		"exits":    "it ended before its handshake: exited with code 3; it printed: exits: no licence found",
		"broken":   "exited with code 5; it printed: broken: cannot describe myself",
		"schema":   "no JSON",
		"plain":    "not executable",
		"text":     "exec format error",
		"dangling": "no such file",
		"Upper":    "lower-case",
	} {
		f := find(found, slug)
		if !strings.Contains(f.Refused, want) {
			t.Errorf("%s is refused with %q, want %q in it", slug, f.Refused, want)
		}
		if len(f.Refused) > 2000 {
			t.Errorf("%s is refused at a length of %d", slug, len(f.Refused))
		}
	}
	m.wantNoRuns(t)
}

func TestScanGivesUpOnAProgramThatSaysNothing(t *testing.T) {
	t.Parallel()
	m := newStage(t, func(o *Options) { o.StartTimeout = 300 * time.Millisecond }, "silent")
	f := find(m.Scan(t.Context()), "silent")
	if f.Refused != "it did not say hello within 300ms" {
		t.Errorf("got %q", f.Refused)
	}
	m.wantNoRuns(t)
}

func TestFirstFolderWins(t *testing.T) {
	t.Parallel()
	second := t.TempDir()
	m := newStage(t, func(o *Options) {
		o.Dirs = []string{filepath.Join(o.Dirs[0], "missing"), o.Dirs[0], second, o.Dirs[0]}
	}, "script")
	first := filepath.Join(m.o.Dirs[1], "harness-script")
	linkTo(t, second, "script")
	linkTo(t, second, "other")
	var got []string
	for _, f := range m.Scan(t.Context()) {
		got = append(got, f.Path+": "+f.Refused)
	}
	want := []string{
		filepath.Join(second, "harness-other") + ": ",
		first + ": ",
		filepath.Join(second, "harness-script") + ": " + first + " comes first",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}
}

func TestScanAsksEachFileOnce(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil)
	// A copy: the time of a link is that of the test binary.
	path := filepath.Join(m.dir, "harness-count")
	b, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o700); err != nil {
		t.Fatal(err)
	}
	starts := func() int {
		b, _ := os.ReadFile(filepath.Join(m.dir, "starts"))
		return len(b)
	}
	first := m.Scan(t.Context())
	if d := cmp.Diff(first, m.Scan(t.Context())); d != "" {
		t.Errorf("second scan (-first +second):\n%s", d)
	}
	if starts() != 1 {
		t.Errorf("the harness was started %d times for two scans, want 1", starts())
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	m.Scan(t.Context())
	if starts() != 2 {
		t.Errorf("the harness was started %d times after it changed, want 2", starts())
	}
}

func TestHarnessDroppedInAfterTheScanCanBeUsed(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil)
	if found := m.Scan(t.Context()); len(found) != 0 {
		t.Fatalf("found %v in an empty folder", found)
	}
	linkTo(t, m.dir, "script")
	if _, err := follow(t, m.launch(t, "r1", "say on"), 0).wait(t); err != nil {
		t.Errorf("Follow: %v", err)
	}
}
