package toolkit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const maxLinks = 40 // in one path, as the Linux kernel has it

// jail opens files of one folder and nothing else.
//
// It works in two steps. resolve turns a path into the true one, without links and
// dots; what may be done with it is decided on that. Then the true path is opened
// component by component, each checked to be the very directory that was looked at,
// so nothing that is swapped in between is followed. [os.Root] alone is not enough:
// it keeps to the folder, but follows links inside it, past the limits on writing.
type jail struct {
	root *os.Root
	dir  string // as given
	real string // with its own links resolved

	limited  bool
	writable []claim
	docsOnly bool

	// between is called after a file was looked at and before it is opened. Tests
	// swap files there.
	between func()
}

func openJail(c Config) (*jail, error) {
	claims, err := parseClaims(c.Writable)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(c.WorkDir)
	if err != nil {
		return nil, fmt.Errorf("open working directory: %w", err)
	}
	real, err := filepath.EvalSymlinks(c.WorkDir)
	if err != nil {
		real = c.WorkDir
	}
	return &jail{
		root: root, dir: filepath.Clean(c.WorkDir), real: real,
		limited: limited(c), writable: claims, docsOnly: c.TaskType == "design",
		between: func() {},
	}, nil
}

// resolve returns the true path of p: relative to the folder, with slashes, without
// links. What does not exist yet is taken as written.
func (j *jail) resolve(p string) (string, error) {
	rest, ok := j.parts(p)
	if !ok {
		return "", j.outside(p)
	}
	var done []string
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", j.outside(p)
			}
			done = done[:len(done)-1]
			continue
		}
		target, err := j.readLink(path.Join(path.Join(done...), name))
		if err != nil {
			return "", fmt.Errorf("look at %s: %w", p, reason(err))
		}
		if target == "" {
			done = append(done, name)
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s goes through too many links", p)
		}
		parts, ok := j.parts(target)
		if !ok {
			return "", fmt.Errorf("%s is a link that leads out of the working directory", p)
		}
		if filepath.IsAbs(target) {
			done = nil
		}
		rest = append(parts, rest...)
	}
	return path.Join(append([]string{"."}, done...)...), nil
}

// parts splits a path; an absolute one must name something in the folder.
func (j *jail) parts(p string) ([]string, bool) {
	if strings.IndexByte(p, 0) >= 0 {
		return nil, false
	}
	if !filepath.IsAbs(p) {
		return strings.Split(filepath.ToSlash(p), "/"), filepath.VolumeName(p) == ""
	}
	for _, abs := range []string{p, filepath.Clean(p)} {
		for _, dir := range []string{j.dir, j.real} {
			if abs == dir {
				return nil, true
			}
			if rest, ok := strings.CutPrefix(abs, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator)); ok {
				return strings.Split(filepath.ToSlash(rest), "/"), true
			}
		}
	}
	return nil, false
}

// readLink returns the target of a link, or "" when there is no link.
func (j *jail) readLink(rel string) (string, error) {
	info, err := j.root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode().Type() != fs.ModeSymlink:
		return "", nil
	}
	return j.root.Readlink(rel)
}

func (j *jail) outside(p string) error {
	return fmt.Errorf("%s is outside the working directory (%s): only paths inside it can be used", p, j.dir)
}

// openDir opens a true path as a directory. With create, what is missing is made.
func (j *jail) openDir(rel string, create bool) (*os.Root, error) {
	cur, err := j.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for _, name := range strings.Split(rel, "/") {
		if name == "." || name == "" {
			continue
		}
		next, err := j.enter(cur, name, create)
		cur.Close()
		if err != nil {
			return nil, err
		}
		cur = next
	}
	return cur, nil
}

var errChanged = errors.New("it was replaced during the call")

// enter opens a subdirectory, which must be a directory itself and no link to one.
func (j *jail) enter(r *os.Root, name string, create bool) (*os.Root, error) {
	seen, err := r.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := r.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		seen, err = r.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	j.between()
	next, err := r.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if got, err := next.Stat("."); err != nil || !os.SameFile(seen, got) {
		next.Close()
		return nil, errChanged
	}
	return next, nil
}

// openFile opens the regular file at a true path for reading.
func (j *jail) openFile(rel string) (*os.File, error) {
	dir, err := j.openDir(path.Dir(rel), false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return j.openIn(dir, path.Base(rel))
}

func (j *jail) openIn(dir *os.Root, name string) (*os.File, error) {
	seen, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := regular(seen); err != nil {
		return nil, err
	}
	j.between()
	f, err := dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	if got, err := f.Stat(); err != nil || !os.SameFile(seen, got) {
		f.Close()
		return nil, errChanged
	}
	return f, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errIsDir
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	return nil
}

var errIsDir = errors.New("it is a directory")

// reason takes the system's own words out of an error, without the path that the
// caller names anyway.
func reason(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file or directory")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied")
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
