//go:build unix && !linux

package harness

import (
	"errors"
	"syscall"
)

// adoptOrphans is not possible here: what leaves the harness's process group
// escapes.
func adoptOrphans() error { return nil }

// harnessAttr: a group of its own, which is all that can be ended here.
func harnessAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// signalTree signals the harness's process group.
func signalTree(harness int, sig syscall.Signal) {
	_ = syscall.Kill(-harness, sig)
	if sig == syscall.SIGTERM {
		_ = syscall.Kill(-harness, syscall.SIGCONT)
	}
}

// signal signals the process unless another one has its number by now.
func (p procID) signal(sig syscall.Signal) {
	if p.alive() {
		_ = syscall.Kill(p.Pid, sig)
	}
}

// reap collects the harness. What it leaves behind is in its group, which the
// caller kills; init reaps it.
func reap(harness int, ended chan<- syscall.WaitStatus, gone chan<- struct{}) {
	defer close(gone)
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(harness, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err == nil:
			ended <- status
		}
		signalTree(harness, syscall.SIGKILL)
		return
	}
}

// killStrays kills what is left of a run whose supervisor is gone: the group of
// the harness, if that still lives.
func killStrays(_ string, harness procID) {
	if harness.alive() {
		signalTree(harness.Pid, syscall.SIGKILL)
	}
}
