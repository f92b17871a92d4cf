package shadow

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	fileType    = unix.S_IFMT
	fileRegular = unix.S_IFREG
	fileFolder  = unix.S_IFDIR
	fileLink    = unix.S_IFLNK
)

// stat is what tells whether a file may have changed since it was read.
type stat struct {
	size, mtime, ctime int64 // bytes; nanoseconds
	ino, dev           uint64
	mode               uint32
}

func statOf(s *unix.Stat_t) stat {
	return stat{
		size: s.Size, mtime: s.Mtim.Nano(), ctime: s.Ctim.Nano(),
		ino: uint64(s.Ino), dev: uint64(s.Dev), mode: uint32(s.Mode),
	}
}

// racyMargin is longer than the tick of a file system's clock: what was written
// twice within it can have the same times twice.
const (
	racyMargin   = 100 * time.Millisecond
	coarseMargin = 2 * time.Second // where times have no fraction
)

// racy reports whether the file may change after the moment, and still look as
// it does in s.
func (s *stat) racy(at time.Time) bool {
	last, margin := max(s.mtime, s.ctime), racyMargin
	if s.mtime%int64(time.Second) == 0 && s.ctime%int64(time.Second) == 0 {
		margin = coarseMargin
	}
	return last >= at.Add(-margin).UnixNano()
}

// statAt describes name in the folder fd, without following a link.
func statAt(fd int, name string) (stat, error) {
	var s unix.Stat_t
	err := retry(func() error { return unix.Fstatat(fd, name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	return statOf(&s), err
}

func statFD(fd int) (stat, error) {
	var s unix.Stat_t
	err := retry(func() error { return unix.Fstat(fd, &s) })
	return statOf(&s), err
}

// openAt opens name in the folder fd. It follows no link at the end, and never
// waits for the other end of a fifo.
func openAt(fd int, name string, flags int) (int, error) {
	out := -1
	err := retry(func() (err error) {
		out, err = unix.Openat(fd, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		return err
	})
	return out, err
}

func openFolderAt(fd int, name string) (int, error) {
	return openAt(fd, name, unix.O_RDONLY|unix.O_DIRECTORY)
}

func readLinkAt(fd int, name string, size int64) (string, error) {
	for n := max(size, 64) + 1; ; n *= 2 {
		buf, got := make([]byte, n), 0
		err := retry(func() (err error) {
			got, err = unix.Readlinkat(fd, name, buf)
			return err
		})
		if err != nil {
			return "", err
		}
		if int64(got) < n {
			return string(buf[:got]), nil
		}
	}
}

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// errMoved is for a file that is no regular one by the time it is opened, or
// that changes while it is read.
var errMoved = errors.New("it changes while it is read")

// readFileAt reads a regular file whole, and describes what was read. A file
// over limit is described only.
func readFileAt(fd int, name string, limit int64) ([]byte, stat, error) {
	in, err := openAt(fd, name, unix.O_RDONLY)
	if err != nil {
		return nil, stat{}, err
	}
	f := os.NewFile(uintptr(in), name)
	defer f.Close()
	before, err := statFD(in)
	switch {
	case err != nil:
		return nil, before, err
	case before.mode&fileType != fileRegular:
		return nil, before, errMoved
	case before.size > limit:
		return nil, before, nil
	}
	// Room for one more byte, so that the end is seen without growing.
	data := make([]byte, before.size+1)
	n, err := io.ReadFull(f, data)
	if err == nil {
		return nil, before, errMoved
	}
	if err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, before, err
	}
	after, err := statFD(in)
	if err == nil && (after != before || int64(n) != before.size) {
		err = errMoved
	}
	return data[:n], after, err
}

// openFolder opens a folder by its path, which the caller vouches for.
func openFolder(path string) (int, error) {
	fd := -1
	err := retry(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

func closeFD(fd int) { unix.Close(fd) }
