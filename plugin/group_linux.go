package plugin

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup puts a program into a process group of its own and ends it when this
// process dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills what is left of a group whose first process was reaped. Its
// number may belong to a stranger by now, so a member must be of our session.
func killGroup(group int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	session, _ := unix.Getsid(0)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			continue
		}
		if s, err := unix.Getsid(pid); err == nil && s == session {
			signalGroup(group, true)
			return
		}
	}
}

// stderrForStdout makes everything that is written to file descriptor 1 go where
// 2 goes.
func stderrForStdout() error { return unix.Dup3(2, 1, 0) }
