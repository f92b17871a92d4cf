//go:build unix

package plugin

import "syscall"

// signalGroup asks a process group to end, or kills it.
func signalGroup(group int, kill bool) {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-group, sig)
}

func groupAlive(group int) bool {
	return syscall.Kill(-group, 0) != syscall.ESRCH
}
