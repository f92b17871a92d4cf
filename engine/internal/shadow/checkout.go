package shadow

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// readBlobs hands the contents of blobs to fn, in order.
func (f *folder) readBlobs(ctx context.Context, ids []id, fn func(i int, data []byte) error) error {
	if len(ids) == 0 {
		return nil
	}
	var ask strings.Builder
	for _, d := range ids {
		fmt.Fprintln(&ask, d)
	}
	cmd := f.repo.git(f.dir, "cat-file", "--batch", "--buffer").stdin(strings.NewReader(ask.String()))
	return cmd.read(ctx, func(r io.Reader) error {
		in := bufio.NewReaderSize(r, 64<<10)
		for i, d := range ids {
			data, err := readBlob(in)
			if err != nil {
				return fmt.Errorf("read object %s: %w", d, err)
			}
			if err := fn(i, data); err != nil {
				return err
			}
		}
		_, err := io.Copy(io.Discard, in)
		return err
	})
}

// readBlob reads one answer of git: a line with id, type and size, then the content.
func readBlob(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	words := strings.Fields(line)
	if len(words) != 3 || words[1] != "blob" {
		return nil, fmt.Errorf("git says %q", strings.TrimSpace(line))
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || size < 0 {
		return nil, fmt.Errorf("git says %q", strings.TrimSpace(line))
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, err
	}
	_, err = in.ReadByte()
	return data, err
}

// checkOut writes the files of a tree into a new folder, byte for byte, and notes
// how they look there.
func (f *folder) checkOut(ctx context.Context, root string, files []copied) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	fd, err := openFolder(root)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	ids := make([]id, len(files))
	for i := range files {
		ids[i] = files[i].id
	}
	var g errgroup.Group
	g.SetLimit(cap(newSlots()) + 1)
	err = f.readBlobs(ctx, ids, func(i int, data []byte) error {
		g.Go(func() error {
			if err := files[i].write(fd, data); err != nil {
				return fmt.Errorf("write %s: %w", display(files[i].path), err)
			}
			return nil
		})
		return nil
	})
	return errors.Join(g.Wait(), err)
}

// write makes the file, which must not be there.
func (c *copied) write(root int, data []byte) error {
	p, err := openParent(root, c.path, true)
	if err != nil {
		return err
	}
	defer closeFD(p.fd)
	if err := createAt(p.fd, p.name, c.mode, data, filePerm(c.mode), false); err != nil {
		return err
	}
	var s unix.Stat_t
	if err := retry(func() error { return unix.Fstatat(p.fd, p.name, &s, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return err
	}
	c.stat, c.uid, c.gid = statOf(&s), s.Uid, s.Gid
	return nil
}

// filePerm is the permissions of a new file, before the umask.
func filePerm(mode uint32) uint32 {
	if mode == modeProgram {
		return 0o777
	}
	return 0o666
}

// createAt makes a new file or link. With last, it survives a loss of power.
func createAt(dir int, name string, mode uint32, data []byte, perm uint32, last bool) error {
	if mode == modeLink {
		return retry(func() error { return unix.Symlinkat(string(data), dir, name) })
	}
	fd := -1
	err := retry(func() (err error) {
		fd, err = unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
		return err
	})
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if _, err := io.Copy(f, bytes.NewReader(data)); err != nil {
		return err
	}
	if last {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return f.Close()
}

// parent is the folder of a path, opened, and the last name of the path.
type parent struct {
	fd   int
	name string
}

// errBlocked is for a path that leads through something that is no folder.
var errBlocked = errors.New("a part of the path is no folder")

// openParent goes down from root to the folder of a path, through no link. With
// make, it makes the folders that are missing. The caller closes the folder.
func openParent(root int, path string, create bool) (parent, error) {
	fd := -1
	err := retry(func() (err error) {
		fd, err = unix.Openat(root, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	for err == nil {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			return parent{fd, path}, nil
		}
		next := -1
		if next, err = openFolderAt(fd, name); errors.Is(err, os.ErrNotExist) && create {
			if err = unix.Mkdirat(fd, name, 0o777); err == nil || errors.Is(err, os.ErrExist) {
				next, err = openFolderAt(fd, name)
			}
		}
		closeFD(fd)
		fd, path = next, rest
	}
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		err = errBlocked
	}
	return parent{-1, ""}, err
}
