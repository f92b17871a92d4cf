package toolkit

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

func (k *Kit) writeFile() tool {
	return tool{
		name: "write_file",
		doc:  "Write a whole file, making its folders and replacing what is there. To change a part of a file use edit_file.",
		params: []param{
			{name: "path", kind: isString, required: true, doc: "File, relative to the working directory."},
			{name: "content", kind: isString, required: true, blank: true, doc: "The whole new content."},
		},
		run: k.runWrite,
	}
}

func (k *Kit) runWrite(_ context.Context, a args) (string, error) {
	name, content := a.str("path"), []byte(a.str("content"))
	rel, err := k.target(name)
	if err != nil {
		return "", err
	}
	created, err := k.jail.replace(rel, content)
	if errors.Is(err, errIsDir) {
		return "", fmt.Errorf("%s is a directory", name)
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, reason(err))
	}
	what := "replaced"
	if created {
		what = "created"
	}
	return fmt.Sprintf("%s %s (%s, %s)", what, name, plural(lineCount(content), "line", "lines"), size(int64(len(content)))), nil
}

func lineCount(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// target returns the true path of a file that may be written.
func (k *Kit) target(name string) (string, error) {
	rel, err := k.jail.resolve(name)
	if err != nil {
		return "", err
	}
	return rel, k.jail.mayWrite(name, rel)
}

// replace writes a file in one step: a reader sees the old content or the new one,
// never a part. Mode and owner stay.
func (j *jail) replace(rel string, data []byte) (created bool, err error) {
	dir, err := j.openDir(path.Dir(rel), true)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	old, err := dir.Lstat(path.Base(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return false, err
	default:
		if err := replaceable(old); err != nil {
			return false, err
		}
	}
	tmp := ".clearbox-" + rand.Text() + ".tmp"
	if err := writeTemp(dir, tmp, data, old); err != nil {
		_ = dir.Remove(tmp) // already failing; it may not even exist
		return false, err
	}
	j.between()
	if err := dir.Rename(tmp, path.Base(rel)); err != nil {
		_ = dir.Remove(tmp)
		return false, err
	}
	return old == nil, nil
}

func replaceable(old fs.FileInfo) error {
	if err := regular(old); err != nil {
		return err
	}
	if old.Mode().Perm()&0o222 == 0 {
		return errors.New("it is read-only")
	}
	return nil
}

// writeTemp writes the new content beside the old one. It never has wider rights
// than the file that it takes the place of.
func writeTemp(dir *os.Root, name string, data []byte, old fs.FileInfo) error {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = old.Mode().Perm()
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	if old != nil {
		keepOwner(f, old)
		if err := f.Chmod(perm); err != nil { // the umask may have taken bits away
			return err
		}
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}
