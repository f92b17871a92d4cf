//go:build unix && !linux

package plugin

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup puts a program into a process group of its own. There is no
// parent-death signal here: a program can outlive a harness that was killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills what is left of a group whose first process was reaped.
func killGroup(group int) { signalGroup(group, true) }

// stderrForStdout makes everything that is written to file descriptor 1 go where
// 2 goes.
func stderrForStdout() error { return unix.Dup2(2, 1) }
