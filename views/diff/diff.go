// Package diff reads unified diffs in git's format, finds which words of a line
// were changed and lays the lines out side by side. It is pure: text in, structs
// out. What it costs grows with the length of the diff alone, however odd that is.
package diff

import (
	"fmt"
	"strings"
)

// MostBytes is how much of one line is kept.
const MostBytes = 2000

// The classes of lines.
const (
	Same    = ' '
	Added   = '+'
	Removed = '-'
	Hunk    = '@'  // the head of a hunk
	Remark  = '\\' // such as that there is no newline at the end
)

// Line is a line of a diff.
type Line struct {
	Class    byte
	Old, New int    // its numbers; 0: it has none
	Text     string // valid UTF-8, without its sign
	More     int    // bytes that Text does not have
	Marks    []Span // the parts that were changed, ascending
}

// Span is a part of a line's text, in bytes.
type Span struct{ Start, End int }

// Head is what the lines before the first hunk say of the file's mode: octal, ""
// where nothing is said.
type Head struct{ OldMode, NewMode string }

// Parse reads a diff, at most most lines of its hunks; more is how many there are
// beyond. Whatever is no diff is read as lines of one.
func Parse(text string, most int) (h Head, lines []Line, more int) {
	var old, new int
	body := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !body && !strings.HasPrefix(line, "@@") {
			h.read(line)
			continue
		}
		body = true
		l := Line{Class: Same}
		if line != "" {
			l.Class = line[0]
		}
		switch l.Class {
		case Hunk:
			old, new = hunkStart(line)
		case Remark:
			line = remark(line)
		case Added:
			l.New, new = new, new+1
		case Removed:
			l.Old, old = old, old+1
		default:
			l.Class, l.Old, l.New = Same, old, new
			old, new = old+1, new+1
		}
		if len(lines) >= most {
			more++
			continue
		}
		l.keep(line)
		lines = append(lines, l)
	}
	return h, lines, more
}

// remark is a remark without the blank after its sign.
func remark(line string) string { return " " + strings.TrimSpace(line[1:]) }

// keep takes over the text of a line, as far as it is kept.
func (l *Line) keep(line string) {
	if l.Class != Hunk && line != "" {
		line = line[1:]
	}
	if l.More = len(line) - MostBytes; l.More > 0 {
		line = line[:MostBytes]
	} else {
		l.More = 0
	}
	l.Text = strings.ToValidUTF8(line, "\uFFFD")
}

func (h *Head) read(line string) {
	for _, p := range []struct {
		prefix string
		to     *string
	}{{"old mode ", &h.OldMode}, {"new mode ", &h.NewMode}, {"new file mode ", &h.NewMode}, {"deleted file mode ", &h.OldMode}} {
		if mode, ok := strings.CutPrefix(line, p.prefix); ok {
			*p.to = strings.TrimSpace(mode)
		}
	}
}

// hunkStart reads the first line numbers of "@@ -3,7 +4,8 @@".
func hunkStart(head string) (old, new int) {
	var a, b string
	if _, err := fmt.Sscanf(head, "@@ -%s +%s @@", &a, &b); err != nil {
		return 1, 1
	}
	for _, p := range []struct {
		text string
		to   *int
	}{{a, &old}, {b, &new}} {
		first, _, _ := strings.Cut(p.text, ",")
		if _, err := fmt.Sscan(first, p.to); err != nil {
			*p.to = 1
		}
	}
	return old, new
}

// Block is a run of removed lines and the added ones that follow it: indexes in
// the list of lines, both ends exclusive.
type Block struct{ Removed, Added, End int }

// Blocks finds where lines were replaced, added or removed.
func Blocks(lines []Line) []Block {
	var list []Block
	for i := 0; i < len(lines); {
		b := Block{Removed: i}
		i = skip(lines, i, Removed)
		b.Added = i
		i = skip(lines, i, Added)
		if b.End = i; b.End > b.Removed {
			list = append(list, b)
			continue
		}
		i++
	}
	return list
}

// skip goes over lines of a class, and remarks on them.
func skip(lines []Line, i int, class byte) int {
	start := i
	for i < len(lines) && (lines[i].Class == class || lines[i].Class == Remark && i > start) {
		i++
	}
	return i
}

// Row is a row of two columns: indexes of lines, -1 where a side has none. Heads
// of hunks stand on both sides.
type Row struct{ Left, Right int }

// Rows lays lines out side by side: what was removed beside what was added in its
// place.
func Rows(lines []Line) []Row {
	rows := make([]Row, 0, len(lines))
	at := 0
	plain := func(end int) {
		for ; at < end; at++ {
			rows = append(rows, Row{at, at})
		}
	}
	for _, b := range Blocks(lines) {
		plain(b.Removed)
		left, right := b.Removed, b.Added
		for left < b.Added || right < b.End {
			row := Row{-1, -1}
			if left < b.Added {
				row.Left = left
				left++
			}
			if right < b.End {
				row.Right = right
				right++
			}
			rows = append(rows, row)
		}
		at = b.End
	}
	plain(len(lines))
	return rows
}
