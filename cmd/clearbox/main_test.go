package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

// These tests start the real programs. Everything that they start has its
// executable, its arguments or its environment below one folder, so that at the
// end it can be seen whether anything was left running.
func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(max(3, runtime.GOMAXPROCS(0)))); err != nil { // they wait more than they work
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	base, err := os.MkdirTemp("", "clearbox-e2e-")
	if err == nil {
		err = os.Setenv("TMPDIR", base)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(base)
	code := m.Run()
	left := processesIn(base)
	for limit := time.Now().Add(patience); len(left) > 0 && time.Now().Before(limit); left = processesIn(base) {
		time.Sleep(50 * time.Millisecond)
	}
	for _, p := range left {
		fmt.Fprintf(os.Stderr, "left running after all tests: %v\n", p)
		p.kill()
		code = 1
	}
	return code
}

// programs builds, once, all programs that the tests start and returns the
// folder that they are in. Harnesses but the mock are in a folder below, so that
// not every server asks them what they are.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "bin-")
	if err != nil {
		return "", err
	}
	const sep = string(filepath.Separator)
	return dir, errors.Join(
		goBuild(dir+sep, ".", "../harness-mock", "../../examples/fix-the-tests", "../../examples/fix-the-tests/model", "../../examples/goal/goal-model"),
		goBuild(filepath.Join(dir, more)+sep, "../harness-openai"),
		goBuild(filepath.Join(dir, more, "harness-stranger"), "./testdata/stranger"))
})

const more = "more"

// goBuild builds packages as make build does, also under the race detector: what
// is tested here is the programs that people run, at the speed that they run at,
// and what is in them is tested for races where it is. After make build nothing
// but linking is left to do. C flags come from the environment, as the test's did.
func goBuild(out string, packages ...string) error {
	args := []string{"build", "-race=false", "-tags", "sqlite_fts5,sqlite_omit_load_extension", "-ldflags", "-s -w", "-o", out}
	if b, err := exec.Command("go", append(args, packages...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, b)
	}
	return nil
}

// program returns the path of one of the programs.
func program(t testing.TB, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}
