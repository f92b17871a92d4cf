package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// process is a living process as /proc shows it.
type process struct {
	pid    int
	start  string // tells it from a later one with the same number
	exe    string
	args   string
	env    []string
	parent int
}

func (p process) String() string { return fmt.Sprintf("process %d: %s", p.pid, p.args) }

func (p process) kill() { _ = syscall.Kill(p.pid, syscall.SIGKILL) }

// runFolder is the private folder of the run that a process belongs to, "" for
// none.
func (p process) runFolder() string {
	for _, v := range p.env {
		if dir, ok := strings.CutPrefix(v, "TMPDIR="); ok && filepath.Base(filepath.Dir(dir)) == "runs" {
			return dir
		}
	}
	return ""
}

// isHarness reports whether a process is one: the child of a supervisor, and not
// that child's own child on its way to another program.
func (p process) isHarness() bool {
	if p.runFolder() == "" || !strings.HasPrefix(filepath.Base(p.exe), "harness-") {
		return false
	}
	parent, ok := readProcess(p.parent)
	return ok && parent.isClearbox()
}

// isClearbox reports whether a process is a server or a supervisor.
func (p process) isClearbox() bool { return filepath.Base(p.exe) == "clearbox" }

// processes lists all living processes; zombies are none.
func processes() []process {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var all []process
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && pid != os.Getpid() {
			if p, ok := readProcess(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

func readProcess(pid int) (process, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	// The name, in brackets, may hold anything.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if err != nil || len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return process{}, false
	}
	p := process{pid: pid, start: f[19]}
	p.parent, _ = strconv.Atoi(f[1])
	p.exe, _ = os.Readlink(dir + "/exe")
	args, _ := os.ReadFile(dir + "/cmdline")
	p.args = strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))
	env, _ := os.ReadFile(dir + "/environ")
	p.env = strings.Split(string(env), "\x00")
	return p, true
}

// processesIn lists the processes that have something to do with a folder: by
// their program, their arguments or their environment. The exception is the
// compiler, which tests start too.
func processesIn(dir string) []process {
	return slices.DeleteFunc(processes(), func(p process) bool {
		about := p.exe + "\n" + p.args + "\n" + strings.Join(p.env, "\n")
		return !strings.Contains(about, dir)
	})
}

func alive(pid int) bool {
	_, ok := readProcess(pid)
	return ok
}

// peakMemory returns the most memory in MiB that a process ever held.
func peakMemory(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("process %d does not tell its memory", pid)
}
