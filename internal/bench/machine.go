package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is where a report was measured. What could not be found out is "unknown".
type machine struct {
	cpu, memory, kernel, golang, fsync string
}

// examine looks at this machine. dir is on the disk that the databases will be on.
func examine(ctx context.Context, dir string) machine {
	return machine{
		cpu:    fmt.Sprintf("%s, %d cores", known(cpuModel(ctx)), runtime.NumCPU()),
		memory: known(memory(ctx)),
		kernel: known(output(ctx, "uname", "-srm")),
		golang: runtime.Version(),
		fsync:  fsyncTime(dir),
	}
}

func known(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s != "" {
		return s
	}
	return "unknown"
}

// output runs a program and returns what it prints, "" when that did not work.
func output(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func cpuModel(ctx context.Context) string {
	if runtime.GOOS == "linux" {
		return procField("/proc/cpuinfo", "model name")
	}
	return output(ctx, "sysctl", "-n", "machdep.cpu.brand_string")
}

func memory(ctx context.Context) string {
	kib, err := strconv.ParseFloat(strings.TrimSuffix(procField("/proc/meminfo", "MemTotal"), " kB"), 64)
	if err != nil {
		bytes, err := strconv.ParseFloat(output(ctx, "sysctl", "-n", "hw.memsize"), 64)
		if err != nil {
			return ""
		}
		kib = bytes / 1024
	}
	return fmt.Sprintf("%.1f GiB", kib/(1<<20))
}

// procField returns a value of a "name: value" file of the kernel, "" when it is
// not there.
func procField(path, name string) string {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// load returns the 1-minute load average, 0 where it cannot be read.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		text = []byte(strings.Trim(output(context.Background(), "sysctl", "-n", "vm.loadavg"), "{ }"))
	}
	if fields := strings.Fields(string(text)); len(fields) > 0 {
		v, _ := strconv.ParseFloat(fields[0], 64)
		return v
	}
	return 0
}

// calibrate does a fixed piece of work and returns how long it took.
func calibrate() time.Duration {
	block := make([]byte, 1<<20)
	began := time.Now()
	for range 64 {
		sum := sha256.Sum256(block)
		copy(block, sum[:]) // the next one depends on it: nothing can be left out
	}
	return time.Since(began)
}

// fsyncTime says how long the disk takes to make a small write durable.
func fsyncTime(dir string) string {
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return "unknown"
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 4096)
	var took []float64
	for range 200 {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return "unknown"
		}
		if err := f.Sync(); err != nil {
			return "unknown"
		}
		took = append(took, millis(time.Since(began)))
	}
	return fmt.Sprintf("%s ms p50, %s ms p95", number(median(took)), number(percentile(took, 95)))
}
