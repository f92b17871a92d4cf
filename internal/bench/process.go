package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// residentMiB returns the memory that a process holds.
func residentMiB(ctx context.Context, pid int) float64 {
	text := strings.TrimSuffix(procField(fmt.Sprintf("/proc/%d/status", pid), "VmRSS"), " kB")
	if text == "" {
		out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			return 0
		}
		text = strings.TrimSpace(string(out))
	}
	kib, _ := strconv.ParseFloat(text, 64)
	return kib / 1024
}

// processorMillis returns the processor time that a process has used in all, in
// steps of ten milliseconds; 0 where that cannot be read.
func processorMillis(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return statMillis(string(b))
}

// statMillis reads the times in the "stat" file of a process. The name of the
// program, which comes first, may hold anything, so what counts is the last ")".
func statMillis(stat string) float64 {
	const ticks = 10 // milliseconds; a fixed part of what Linux shows
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) * ticks
}

// processesOf counts the processes, but one, that have a folder in their
// environment or arguments: all that was started for runs does.
func processesOf(dir string, but int) (int, error) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return 0, missing("/proc, to count processes")
	}
	n := 0
	for _, p := range all {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == but || pid == os.Getpid() {
			continue
		}
		// A process that ends meanwhile, or is a zombie, has nothing to read.
		env, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
		args, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline"))
		if strings.Contains(string(env)+string(args), dir) {
			n++
		}
	}
	return n, nil
}
