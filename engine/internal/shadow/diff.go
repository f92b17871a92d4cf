package shadow

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const (
	mostFileDiff   = 512 << 10 // bytes of one diff
	mostDiffs      = 16 << 20  // bytes of all diffs of declared files, and of all others
	mostUndeclared = 200       // names
)

// noContent is said of a file whose content a snapshot does not have.
const noContent = "Its content is not kept in snapshots, since it is too large or could not be read; so there is no diff."

// Diff compares two snapshots of one working directory. Diffs are in git's format
// and byte for byte what the files have; a long one is cut at a line, and counts
// hold all the same. Where one of the snapshots has declared paths only, so has
// the result.
func (r *Repo) Diff(ctx context.Context, from, to Tree, declared []string) (plan.Changes, error) {
	var out plan.Changes
	err := r.between(from, to, func(f *folder, a, b id, only bool) error {
		list, err := f.changes(ctx, a, b)
		if err != nil || len(list) == 0 {
			return err
		}
		d := newDiffer(f, list, trieOf(declared))
		if err := f.readPatch(ctx, a, b, list, d.line, "--abbrev=10"); err != nil {
			return err
		}
		out = d.result(only)
		return nil
	})
	if err != nil {
		return plan.Changes{}, fmt.Errorf("compare snapshots: %w", err)
	}
	return out, nil
}

// Patch writes the difference between two snapshots as git apply takes it,
// binary files included: of all paths, or of those that are wanted.
func (r *Repo) Patch(ctx context.Context, w io.Writer, from, to Tree, wanted func(path string) bool) error {
	err := r.between(from, to, func(f *folder, a, b id, _ bool) error {
		return f.patch(ctx, w, a, b, wanted)
	})
	if err != nil {
		return fmt.Errorf("write a patch: %w", err)
	}
	return nil
}

func (f *folder) patch(ctx context.Context, w io.Writer, from, to id, wanted func(path string) bool) error {
	list, err := f.changes(ctx, from, to)
	if err != nil || len(list) == 0 {
		return err
	}
	return f.readPatch(ctx, from, to, list, func(l patchLine) error {
		if wanted != nil && !wanted(list[l.change].path) {
			return nil
		}
		_, err := w.Write(l.text)
		return err
	}, "--binary", "--full-index")
}

// between opens the shadow that two trees lie in.
func (r *Repo) between(from, to Tree, fn func(f *folder, a, b id, only bool) error) error {
	keyA, a, onlyA, err := from.parse()
	if err != nil {
		return err
	}
	keyB, b, onlyB, err := to.parse()
	if err != nil {
		return err
	}
	if keyA != keyB {
		return plan.Errorf(plan.Invalid, "%s and %s are snapshots of different directories", from, to)
	}
	f, err := r.folderFor(keyA, "")
	if err != nil {
		return err
	}
	defer r.release(f)
	return fn(f, a, b, onlyA || onlyB)
}

// differ makes the diffs of files out of the lines of patches.
type differ struct {
	list   []change
	files  []plan.FileDiff
	text   []bytes.Buffer
	mark   []byte // how the line begins that stands for a content which is not kept
	budget [2]int // bytes left for files that are not declared, and for those that are
	stands []bool // the file is one that is not kept
}

func newDiffer(f *folder, list []change, declared *trie) *differ {
	d := &differ{list: list, files: make([]plan.FileDiff, len(list)), text: make([]bytes.Buffer, len(list)),
		mark: []byte(standInPrefix + f.nonce), budget: [2]int{mostDiffs, mostDiffs}, stands: make([]bool, len(list))}
	for i := range list {
		d.files[i] = plan.FileDiff{Path: display(list[i].path), Kind: list[i].kind(), Declared: declared.covers(list[i].path)}
	}
	return d
}

func (d *differ) line(l patchLine) error {
	file := &d.files[l.change]
	switch {
	case l.start && l.hunk:
		d.hunkLine(file, l)
	case l.start && bytes.HasPrefix(l.text, []byte("Binary files ")):
		file.Binary = true
	}
	d.keep(file, l)
	return nil
}

func (d *differ) hunkLine(file *plan.FileDiff, l patchLine) {
	switch l.text[0] {
	case '+':
		file.Added++
	case '-':
		file.Removed++
	}
	if bytes.HasPrefix(l.text[1:], d.mark) {
		d.stands[l.change] = true
	}
}

// keep adds a line to the diff of its file, while there is room.
func (d *differ) keep(file *plan.FileDiff, l patchLine) {
	left, text := &d.budget[0], &d.text[l.change]
	if file.Declared {
		left = &d.budget[1]
	}
	if file.Cut {
		return
	}
	if text.Len()+len(l.text) <= mostFileDiff && len(l.text) <= *left {
		*left -= len(l.text)
		text.Write(l.text)
		return
	}
	file.Cut = true
	if !l.start { // the piece of a line that is there already goes, too
		whole := bytes.LastIndexByte(text.Bytes(), '\n') + 1
		text.Truncate(whole)
	}
}

func (d *differ) result(only bool) (out plan.Changes) {
	for i := range d.files {
		file := &d.files[i]
		if only && !file.Declared {
			continue
		}
		if d.stands[i] {
			file.Added, file.Removed, file.Cut, file.Binary, file.Note = 0, 0, false, true, noContent
		} else {
			file.Diff = d.text[i].String()
		}
		out.Files = append(out.Files, *file)
		if !file.Declared {
			out.Undeclared = append(out.Undeclared, file.Path)
		}
	}
	slices.SortFunc(out.Files, func(a, b plan.FileDiff) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(out.Undeclared)
	if n := len(out.Undeclared); n > mostUndeclared {
		out.Undeclared, out.UndeclaredMore = out.Undeclared[:mostUndeclared], n-mostUndeclared
	}
	return out
}
