package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// stat is what /proc says of a process.
type stat struct {
	pid, parent int
	start       int64 // in clock ticks since boot
	dead        bool  // a zombie, or nearly
}

func readStat(pid int) (stat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(pid, b)
}

func parseStat(pid int, b []byte) (stat, error) {
	// The name, in brackets, may hold anything.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("read the state of process %d: %d fields", pid, len(fields))
	}
	s := stat{pid: pid, dead: fields[0] == "Z" || fields[0] == "X"}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, fmt.Errorf("read the parent of process %d: %w", pid, err)
	}
	start, err := strconv.ParseInt(fields[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("read the start of process %d: %w", pid, err)
	}
	s.parent, s.start = parent, start
	return s, nil
}

// processes lists all that this process may see.
func processes() []stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []stat
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// descendants lists the living descendants of a process, parents first.
func descendants(root int) []stat {
	children := map[int][]stat{}
	for _, s := range processes() {
		children[s.parent] = append(children[s.parent], s)
	}
	var found []stat
	for next := children[root]; len(next) > 0; {
		s := next[0]
		next = slices.Concat(next[1:], children[s.pid])
		if !s.dead {
			found = append(found, s)
		}
	}
	return found
}

// startTime tells when a living process started, in units of the system's own.
func startTime(pid int) (int64, bool) {
	s, err := readStat(pid)
	return s.start, err == nil && !s.dead
}

// signal signals exactly this process, not one that got its number since.
func (p procID) signal(sig syscall.Signal) {
	if p.Start == 0 {
		return
	}
	fd, err := unix.PidfdOpen(p.Pid, 0)
	if errors.Is(err, unix.ENOSYS) {
		if p.alive() {
			_ = unix.Kill(p.Pid, sig)
		}
		return
	}
	if err != nil {
		return // gone
	}
	defer unix.Close(fd)
	if p.alive() { // so the descriptor is of the right one
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// adoptOrphans makes this process the parent of every descendant whose own
// parent ends, so that none escapes.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of all descendants: %w", err)
	}
	return nil
}

// harnessAttr: a group of its own, and death with the thread that starts it.
func harnessAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// signalTree signals every descendant of this process, the harness first.
func signalTree(_ int, sig syscall.Signal) {
	for _, s := range descendants(os.Getpid()) {
		p := procID{s.pid, s.start}
		p.signal(sig)
		if sig == syscall.SIGTERM {
			p.signal(syscall.SIGCONT) // what is suspended would not hear it
		}
	}
}

// reap collects all children, own and adopted, until there are none, and then
// closes gone. The end of the harness goes to ended.
func reap(harness int, ended chan<- syscall.WaitStatus, gone chan<- struct{}) {
	defer close(gone)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return // no children left
		case pid == harness:
			ended <- status
		}
	}
}

// killStrays kills what is left of a run whose supervisor is gone: the harness,
// and the processes that have its folder as TMPDIR in their environment.
func killStrays(dir string, harness procID) {
	harness.signal(syscall.SIGKILL)
	mark := []byte("\x00TMPDIR=" + dir + "\x00")
	for range 10 { // those that were just being forked are found the next time
		killed := 0
		for _, s := range processes() {
			env, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/environ")
			if err != nil || s.dead || s.pid == os.Getpid() || !bytes.Contains(slices.Concat([]byte{0}, env), mark) {
				continue
			}
			procID{s.pid, s.start}.signal(syscall.SIGKILL)
			killed++
		}
		if killed == 0 {
			return
		}
	}
}
