//go:build unix

package toolkit

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openNonblock keeps the open of a pipe that was swapped in from waiting for ever.
const openNonblock = syscall.O_NONBLOCK

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// keepOwner gives a rewritten file the owner that it had, where this process may.
func keepOwner(f *os.File, old fs.FileInfo) {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok || (int(st.Uid) == os.Geteuid() && int(st.Gid) == os.Getegid()) {
		return
	}
	_ = f.Chown(int(st.Uid), int(st.Gid)) // refused to ordinary users, who own what they write
}
