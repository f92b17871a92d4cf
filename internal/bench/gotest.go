package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// goBenchmark runs benchmarks of a package of this module and returns their
// metrics by name and unit. They run as they are, so a figure of this report and
// one that a developer sees are the same.
func (r *round) goBenchmark(ctx context.Context, pkg, pattern, times string) (map[string]map[string]float64, error) {
	root := output(ctx, "go", "list", "-m", "-f", "{{.Dir}}")
	if root == "" {
		return nil, missing("the go command and the sources, for a benchmark inside the process")
	}
	dir := filepath.Join(root, filepath.FromSlash(pkg))
	binary, err := r.testBinary(ctx, dir)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+times, "-test.count=1")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run the benchmarks of %s: %w\n%s", pkg, err, out.Bytes())
	}
	got := parseBenchmarks(out.String())
	if len(got) == 0 {
		return nil, missing(fmt.Sprintf("%s has no benchmark %s", pkg, pattern))
	}
	return got, nil
}

// testBinary builds the tests of a package, once in a run of this program and
// with the settings that it was built with itself.
func (r *round) testBinary(ctx context.Context, dir string) (string, error) {
	path := r.kept(filepath.Base(dir) + ".test")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	args := []string{"test", "-c", "-o", path}
	env := os.Environ()
	for key, value := range buildSettings() {
		switch key {
		case "-tags":
			args = append(args, "-tags", value)
		case "CGO_CFLAGS", "CGO_ENABLED":
			env = append(env, key+"="+value)
		}
	}
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the benchmarks of %s: %w\n%s", dir, err, out)
	}
	return path, nil
}

// buildSettings are the settings that this program was built with.
func buildSettings() map[string]string {
	settings := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	return settings
}

// parseBenchmarks reads what go test prints for benchmarks: for each its metrics
// by unit.
func parseBenchmarks(out string) map[string]map[string]float64 {
	got := map[string]map[string]float64{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := f[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 && isNumber(name[i+1:]) {
			name = name[:i] // the number of processors
		}
		metrics := map[string]float64{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				metrics[f[i+1]] = v
			}
		}
		got[name] = metrics
	}
	return got
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}
