package harness

import "golang.org/x/sys/unix"

// startTime tells when a living process started, in microseconds.
func startTime(pid int) (int64, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid || k.Proc.P_stat == zombie {
		return 0, false
	}
	t := k.Proc.P_starttime
	return t.Sec*1e6 + int64(t.Usec), true
}

const zombie = 5 // SZOMB
