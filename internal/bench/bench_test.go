package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestAScenarioThatFailsLeavesTheOthersAlone(t *testing.T) {
	runs := map[string]int{}
	make := func(name string, fail error) *scenario {
		f := &figure{text: name}
		return &scenario{name: name, figures: []*figure{f}, run: func(_ context.Context, r *round) error {
			runs[name]++
			if _, err := os.Stat(r.dir); err != nil {
				t.Errorf("a round has no folder: %v", err)
			}
			if fail == nil {
				r.add(f, float64(r.n))
			}
			return fail
		}}
	}
	all := []*scenario{make("gone", missing("a disk")), make("broken", errors.New("it broke")), make("good", nil)}
	b := &bench{dir: t.TempDir(), sizes: sizes{rounds: 3}, out: io.Discard, scenarios: all}
	err := b.runAll(t.Context())
	if err == nil || !strings.Contains(err.Error(), "scenario broken, round 3: it broke") || strings.Contains(err.Error(), "a disk") {
		t.Errorf("got error %v, want that of the broken scenario alone", err)
	}
	if runs["gone"] != 1 || runs["broken"] != 3 || runs["good"] != 3 {
		t.Errorf("ran %v", runs)
	}
	if got := all[0].figures[0].verdict(); got != "not measured: a disk" {
		t.Errorf("a figure that needs what is not there: %q", got)
	}
	if got := all[2].figures[0].samples; len(got) != 3 || len(b.calibration) != 7 {
		t.Errorf("got %d samples and %d calibrations", len(got), len(b.calibration))
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestBothAlternativesComeFirstEquallyOften(t *testing.T) {
	first := 0
	for n := range 4 {
		for i := range 4 {
			order := (&round{n: n}).alternate(i)
			if order[0]+order[1] != 1 {
				t.Fatalf("round %d, %d: the order is %v", n, i, order)
			}
			first += order[0]
		}
	}
	if first != 8 {
		t.Errorf("the second alternative came first %d times of 16", first)
	}
}

func TestScenariosHaveNamesAndFigures(t *testing.T) {
	seen, texts := map[string]bool{}, map[string]bool{}
	for _, s := range scenarios() {
		if seen[s.name] || len(s.figures) == 0 || s.run == nil {
			t.Errorf("scenario %q is twice there or has nothing to measure", s.name)
		}
		seen[s.name] = true
		for _, f := range s.figures {
			if f.text == "" || f.sense != info && f.bar == 0 && f.sense != atMost {
				t.Errorf("scenario %s: a figure has no text or no bar: %+v", s.name, f)
			}
			texts[s.name+f.text] = true
		}
	}
	if _, err := choose(scenarios(), []string{"pairs", " read"}); err != nil {
		t.Error(err)
	}
	if _, err := choose(scenarios(), []string{"nothing"}); err == nil || !strings.Contains(err.Error(), `"nothing"; there are pairs,`) {
		t.Errorf("got error %v, want one that names the scenarios", err)
	}
}

func TestCommandLineIsChecked(t *testing.T) {
	empty := t.TempDir()
	for _, args := range [][]string{{"-bin", empty}, {"-nonsense"}, {"file"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
	if err := os.WriteFile(filepath.Join(empty, "clearbox"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-bin", empty, "-out", "x.md", "-only", "pairs,read"}, io.Discard)
	if err != nil || o.out != "x.md" || len(o.only) != 2 || o.quick {
		t.Errorf("got %+v, %v", o, err)
	}
}

func TestTheAddressIsInTheBanner(t *testing.T) {
	for banner, want := range map[string]string{
		"Clearbox 1\n  UI         http://127.0.0.1:1234/\n  MCP x\n": "http://127.0.0.1:1234",
		"Clearbox 1\nno address\n":                                   "",
		"":                                                           "",
	} {
		if got := address(strings.NewReader(banner)); got != want {
			t.Errorf("address(%q) = %q, want %q", banner, got, want)
		}
	}
}

func TestAServerThatDoesNotStartSaysWhy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	bin := t.TempDir()
	script := "#!/bin/sh\necho the disk is full >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "clearbox"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := startServer(t.Context(), bin, t.TempDir()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("got error %v, want what the server said", err)
	}
}

func TestProcessesAreCountedByTheirFolder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	dir := t.TempDir()
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{"TMPDIR=" + dir}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	defer end()
	if n := eventually(t, dir, 0, 1); n != 1 {
		t.Errorf("counted %d processes, want 1", n)
	}
	if n, err := processesOf(dir, cmd.Process.Pid); n != 0 || err != nil {
		t.Errorf("counted %d processes but the one, %v", n, err)
	}
	end()
	if n := eventually(t, dir, 0, 0); n != 0 {
		t.Errorf("counted %d processes after the end, want 0", n)
	}
}

// eventually counts until there are as many as wanted: a process that starts has
// its environment a moment later.
func eventually(t *testing.T, dir string, but, want int) int {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; {
		n, err := processesOf(dir, but)
		if err != nil {
			t.Fatal(err)
		}
		if n == want || time.Now().After(until) {
			return n
		}
		if err := pause(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProcessorTimeIsReadFromStat(t *testing.T) {
	for stat, want := range map[string]float64{
		"12 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20": 1750,
		"12 (x) S 1": 0,
		"":           0,
	} {
		if got := statMillis(stat); got != want {
			t.Errorf("statMillis(%q) = %v, want %v", stat, got, want)
		}
	}
}

func TestASoakTellsGrowthFromBreathing(t *testing.T) {
	warm := usage{Elements: 3000, Heap: 10, Server: 60}
	for name, c := range map[string]struct {
		now  usage
		want string
	}{
		"as it was":       {warm, ""},
		"a heap breathes": {usage{Elements: 3100, Heap: 30, Server: 80}, ""},
		"elements stay":   {usage{Elements: 9000, Heap: 10, Server: 60}, "the page's elements grew"},
		"scripts leak":    {usage{Elements: 3000, Heap: 90, Server: 60}, "the page's scripts grew"},
		"the server does": {usage{Elements: 3000, Heap: 10, Server: 600}, "the server's memory grew"},
	} {
		err := grownBy(warm, c.now)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
