// Package leftover finds what a run left behind.
package leftover

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Kill kills every process of this machine that has a variable, given as
// NAME=VALUE, in its environment. An agent may give each command a session of its
// own, so that neither the agent's death nor the end of its process group reaches
// them; what they inherited tells whose they are. The value must be one of this run
// alone.
func Kill(variable string) {
	want := []byte(variable + "\x00")
	for range 10 { // those that were just being forked are found the next time
		killed := 0
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, e := range entries {
			if pid, err := strconv.Atoi(e.Name()); err == nil && marked(pid, want) && kill(pid, want) {
				killed++
			}
		}
		if killed == 0 {
			return
		}
	}
}

func marked(pid int, want []byte) bool {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ")) // empty for a zombie
	return err == nil && bytes.Contains(env, want)
}

// kill kills exactly the process that has the mark, not one that got its number since.
func kill(pid int, want []byte) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ENOSYS) {
		return unix.Kill(pid, unix.SIGKILL) == nil
	}
	if err != nil {
		return false // gone
	}
	defer unix.Close(fd)
	return marked(pid, want) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}
