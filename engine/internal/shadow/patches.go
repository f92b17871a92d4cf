package shadow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// PrunePatches removes the kept changes of worktrees that nobody needs any more.
// keep is asked with the worktree's id and when they were kept. What is no such
// file stays.
func (r *Repo) PrunePatches(keep func(worktree string, at time.Time) bool) error {
	dir := filepath.Join(r.data, "patches")
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list kept patches: %w", err)
	}
	var errs []error
	for _, e := range list {
		name, isPatch := strings.CutSuffix(e.Name(), ".patch")
		at := strings.LastIndexByte(name, '-') // before what makes the name unique
		info, err := e.Info()
		if !isPatch || at <= 0 || err != nil || !info.Mode().IsRegular() || keep(name[:at], info.ModTime()) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove a kept patch: %w", err))
		}
	}
	return errors.Join(errs...)
}
