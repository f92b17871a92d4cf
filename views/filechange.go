package views

import (
	"cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views/diff"
	"github.com/clearbox-go/clearbox/views/syntax"
)

// FileChange is what became of one file.
type FileChange struct {
	Path           string
	DOM            string // id of its element
	Kind           plan.DiffKind
	Words          []string // what else there is to say of it
	Added, Removed int
	Lines          []diff.Line
	Colours        [][]syntax.Span // of each line; nil: of none
	Hidden         int             // lines that are not shown
	Cut            bool            // the diff as it is stored is not whole
	Patch          string          // path of the raw patch, "" : there is none
	Open           bool
}

// file lays out the change of one file, as far as there is room.
func (c *Changes) file(d *plan.FileDiff) *FileChange {
	f := &FileChange{Path: d.Path, DOM: "file-" + token(d.Path), Kind: d.Kind, Added: d.Added, Removed: d.Removed, Cut: d.Cut}
	head, lines, more := diff.Parse(d.Diff, min(mostLines, mostPanel-c.shown))
	diff.Mark(lines)
	f.Lines, f.Hidden, f.Words = lines, more, changeWords(d, head)
	f.Colours = coloursOf(d.Path, lines)
	if d.Diff != "" {
		f.Patch = c.patchURL(d.Path)
	}
	f.Open = c.shown+len(lines) <= mostOpenLines
	c.shown += len(lines)
	return f
}

// coloursOf finds the parts of lines that have a colour. What was and what is are
// read apart: a comment that was begun in one does not go on in the other.
func coloursOf(path string, lines []diff.Line) [][]syntax.Span {
	lang := syntax.For(path)
	if lang == nil {
		return nil
	}
	out := make([][]syntax.Span, len(lines))
	was, is := syntax.NewScanner(lang), syntax.NewScanner(lang)
	for i := range lines {
		l := &lines[i]
		switch l.Class {
		case diff.Hunk:
			was.Reset()
			is.Reset()
		case diff.Removed:
			out[i] = was.Line(l.Text)
		case diff.Added:
			out[i] = is.Line(l.Text)
		case diff.Same:
			was.Line(l.Text)
			out[i] = is.Line(l.Text)
		}
	}
	return out
}

func kindWord(k plan.DiffKind) string {
	switch k {
	case plan.DiffAdded:
		return "added"
	case plan.DiffDeleted:
		return "deleted"
	case plan.DiffMode:
		return "mode changed"
	}
	return "changed"
}

// changeWords says of a file what its lines do not.
func changeWords(d *plan.FileDiff, h diff.Head) []string {
	var words []string
	add := func(is bool, text string) {
		if is {
			words = append(words, text)
		}
	}
	created := d.Kind == plan.DiffAdded
	mode := cmp.Or(h.NewMode, h.OldMode)
	add(d.Binary && d.Note == "", "A binary file: its content is not shown.")
	add(mode == "120000", "It is a symbolic link.")
	add(mode == "160000", "It is a repository of its own.")
	add(created && mode == "100755", "It is executable.")
	add(!created && h.OldMode == "100644" && h.NewMode == "100755", "It was made executable.")
	add(!created && h.OldMode == "100755" && h.NewMode == "100644", "It is no longer executable.")
	add(d.Note != "", d.Note)
	add(created && d.Diff != "" && !d.Binary && d.Added == 0 && d.Note == "", "It is empty.")
	return words
}

// word says what became of the file.
func (f *FileChange) word() string { return kindWord(f.Kind) }

func (f *FileChange) rest() string {
	if f.Hidden == 0 {
		return "The stored diff ends here; the change goes on."
	}
	text := plural(f.Hidden, "more line", "more lines")
	if f.Cut {
		text += ", and the stored diff is not the whole change"
	}
	return text + "."
}
