package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// socketRoom is the longest name of a folder in which sockets fit: the system's
// limit is 104 to 108 bytes, and a harness's socket lies one folder deeper.
const socketRoom = 70

const (
	supervisorSocket = "sup.sock"
	exitFile         = "exit.json"
	outputFile       = "output.tail" // what the harness printed last, in case its supervisor is killed
	socketLink       = "sockets"     // points to the other folder, if there is one
	socketPrefix     = "clearbox-run-"
)

// folder is the place of one process on disk. Only this user may enter it.
type folder struct {
	dir     string // TMPDIR of the harness; also has its exit record
	sockets string // folder of its sockets: dir, unless that is too deep
}

// makeFolder makes a new folder.
func makeFolder(dir string) (folder, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return folder{}, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return folder{}, err
	}
	f := folder{dir, dir}
	if len(dir) <= socketRoom {
		return f, nil
	}
	short, err := shortFolder()
	if err == nil {
		f.sockets = short
		err = os.Symlink(short, filepath.Join(dir, socketLink))
	}
	if err != nil {
		_ = f.remove()
		return folder{}, err
	}
	return f, nil
}

// openFolder is an existing folder. It trusts the link in it only as far as
// makeFolder would have made it, because agents can write there.
func openFolder(dir string) folder {
	target, err := os.Readlink(filepath.Join(dir, socketLink))
	if err != nil || !isShort(target) {
		return folder{dir, dir}
	}
	return folder{dir, target}
}

func shortFolder() (string, error) {
	for _, base := range shortBases() {
		if dir, err := os.MkdirTemp(base, socketPrefix); err == nil && len(dir) <= socketRoom {
			return dir, nil
		} else if err == nil {
			_ = os.Remove(dir)
		}
	}
	return "", errors.New("there is no folder for temporary files whose name is short enough for sockets")
}

func shortBases() []string { return []string{os.TempDir(), "/tmp"} }

func isShort(dir string) bool {
	for _, base := range shortBases() {
		if filepath.Dir(dir) == filepath.Clean(base) && strings.HasPrefix(filepath.Base(dir), socketPrefix) {
			return true
		}
	}
	return false
}

func (f folder) supervisorSocket() string { return filepath.Join(f.sockets, supervisorSocket) }
func (f folder) exitFile() string         { return filepath.Join(f.dir, exitFile) }
func (f folder) outputFile() string       { return filepath.Join(f.dir, outputFile) }

// remove removes the folder with everything in it.
func (f folder) remove() error {
	if f.sockets != f.dir && isShort(f.sockets) {
		if err := os.RemoveAll(f.sockets); err != nil {
			return err
		}
	}
	err := os.RemoveAll(f.dir)
	if err == nil {
		return nil
	}
	makeWritable(f.dir) // module caches are read-only, for one
	return os.RemoveAll(f.dir)
}

func makeWritable(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil // what cannot be changed shows in the error of removing it
	})
}

// checkRunID refuses ids that are no plain name of a folder.
func checkRunID(id string) error {
	if id == "" || len(id) > 100 || strings.HasPrefix(id, ".") || strings.ContainsFunc(id, notInID) {
		return plan.Errorf(plan.Invalid, "run id %q must be 1 to 100 letters, digits, '-', '_' or '.', and not begin with '.'", id)
	}
	return nil
}

func notInID(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
}

// writeWhole writes a file so that it is there whole or not at all.
func writeWhole(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return os.Rename(tmp, path)
}
