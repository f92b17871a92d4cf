package shadow

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"
)

// bigFile is the size from which git compares files as binary ones, in bytes: a
// diff of such a file takes long, and nobody reads it.
const bigFile = "8m"

// patchLine is a part of a patch. A line longer than the buffer comes in pieces.
type patchLine struct {
	change int    // index of the change that it belongs to
	text   []byte // valid until the next one
	start  bool   // of a line
	hunk   bool   // it lies in a hunk: its first byte says what it does
}

// readPatch has git write the patches of changes, and hands the lines to fn.
func (f *folder) readPatch(ctx context.Context, from, to id, list []change, fn func(patchLine) error, flags ...string) error {
	quote := "core.quotePath=false"
	for i := range list {
		if !utf8.ValidString(list[i].path) {
			quote = "core.quotePath=true"
		}
	}
	args := append([]string{"diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--src-prefix=a/", "--dst-prefix=b/", "--unified=3"}, flags...)
	cmd := f.repo.git(f.dir, append(args, from.String(), to.String())...)
	cmd.config = []string{quote, "core.bigFileThreshold=" + bigFile}
	return cmd.read(ctx, func(r io.Reader) error { return splitPatch(r, list, fn) })
}

// splitPatch says which change each line of a patch belongs to. The patches come
// in the order of the changes.
func splitPatch(r io.Reader, list []change, fn func(patchLine) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	at, sections, hunk, start := -1, 0, false, true
	for {
		text, err := in.ReadSlice('\n')
		if len(text) > 0 {
			switch {
			case !start:
			case bytes.HasPrefix(text, []byte("diff --git ")):
				if sections--; sections <= 0 {
					if at++; at >= len(list) {
						return errors.New("git printed more patches than changes")
					}
					sections = list[at].sections()
				}
				hunk = false
			case bytes.HasPrefix(text, []byte("@@ ")):
				hunk = true
			}
			if at >= 0 {
				if err := fn(patchLine{at, text, start, hunk && (!start || text[0] != '@')}); err != nil {
					return err
				}
			}
			start = text[len(text)-1] == '\n'
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
