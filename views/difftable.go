package views

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/clearbox-go/clearbox/views/diff"
	"github.com/clearbox-go/clearbox/views/syntax"
)

// lineLook is how lines of a class look: their class in styles, the sign before
// them.
type lineLook struct{ class, sign string }

func lookOfLine(class byte) lineLook {
	switch class {
	case diff.Added:
		return lineLook{"d-add", "+"}
	case diff.Removed:
		return lineLook{"d-del", "−"}
	case diff.Hunk:
		return lineLook{"d-hunk", ""}
	case diff.Remark:
		return lineLook{"d-note", ""}
	}
	return lineLook{"d-same", " "}
}

// diffTable shows the lines of a file in one column or two. It is written by hand,
// as there may be thousands.
func diffTable(f *FileChange, split bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := make([]byte, 0, 160*len(f.Lines)+64)
		if split {
			b = f.appendSplit(b)
		} else {
			b = f.appendUnified(b)
		}
		_, err := w.Write(b)
		return err
	})
}

func (f *FileChange) appendUnified(b []byte) []byte {
	b = append(b, `<table class="diff"><tbody>`...)
	for i := range f.Lines {
		l := &f.Lines[i]
		look := lookOfLine(l.Class)
		b = append(append(append(b, `<tr class="`...), look.class...), `">`...)
		b = appendLineNumber(b, l.Old)
		b = appendLineNumber(b, l.New)
		b = f.appendCode(append(b, `<td class="d-code" dir="ltr">`...), i)
		b = append(b, `</td></tr>`...)
	}
	return append(b, `</tbody></table>`...)
}

func (f *FileChange) appendSplit(b []byte) []byte {
	b = append(b, `<table class="diff d-split"><colgroup><col class="d-no-col"><col><col class="d-no-col"><col></colgroup><tbody>`...)
	for _, row := range diff.Rows(f.Lines) {
		if row.Left == row.Right && f.Lines[row.Left].Class != diff.Same {
			look := lookOfLine(f.Lines[row.Left].Class)
			b = append(append(append(b, `<tr class="`...), look.class...), `"><td class="d-code" colspan="4" dir="ltr">`...)
			b = append(f.appendCode(b, row.Left), `</td></tr>`...)
			continue
		}
		b = append(b, `<tr>`...)
		b = f.appendSide(b, row.Left, true)
		b = f.appendSide(b, row.Right, false)
		b = append(b, `</tr>`...)
	}
	return append(b, `</tbody></table>`...)
}

func (f *FileChange) appendSide(b []byte, i int, old bool) []byte {
	if i < 0 {
		return append(b, `<td class="d-none"></td><td class="d-none"></td>`...)
	}
	l := &f.Lines[i]
	class, n := lookOfLine(l.Class).class, l.New
	if old {
		n = l.Old
	}
	b = append(append(append(b, `<td class="d-no `...), class...), `">`...)
	if n > 0 {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	b = append(append(append(b, `</td><td class="d-code `...), class...), `" dir="ltr">`...)
	return append(f.appendCode(b, i), `</td>`...)
}

func appendLineNumber(b []byte, n int) []byte {
	b = append(b, `<td class="d-no">`...)
	if n > 0 {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, `</td>`...)
}

// appendCode writes the text of a line: its sign, then its parts.
func (f *FileChange) appendCode(b []byte, i int) []byte {
	l := &f.Lines[i]
	if sign := lookOfLine(l.Class).sign; sign != "" {
		b = append(append(append(b, `<span class="d-sign">`...), sign...), `</span>`...)
	}
	var colours []syntax.Span
	if f.Colours != nil {
		colours = f.Colours[i]
	}
	b = appendParts(b, l, colours)
	if l.More > 0 {
		b = append(append(append(b, `<span class="d-more"> … `...), grouped(int64(l.More))...), ` more bytes</span>`...)
	}
	return b
}

// appendParts writes a text with what was changed marked, and what has a colour
// in it. A colour that a mark begins or ends within is written in two pieces.
func appendParts(b []byte, l *diff.Line, colours []syntax.Span) []byte {
	at := 0
	for _, m := range append(l.Marks[:len(l.Marks):len(l.Marks)], diff.Span{Start: len(l.Text), End: len(l.Text)}) {
		b, colours = appendColoured(b, l.Text, [2]int{at, m.Start}, colours)
		if m.End > m.Start {
			b = append(b, `<mark>`...)
			b, colours = appendColoured(b, l.Text, [2]int{m.Start, m.End}, colours)
			b = append(b, `</mark>`...)
		}
		at = m.End
	}
	return b
}

// appendColoured writes part of a text, and returns the colours that it has not
// come past.
func appendColoured(b []byte, text string, part [2]int, colours []syntax.Span) ([]byte, []syntax.Span) {
	at, end := part[0], part[1]
	for at < end {
		for len(colours) > 0 && colours[0].End <= at {
			colours = colours[1:]
		}
		if len(colours) == 0 || colours[0].Start >= end {
			return appendText(b, text[at:end]), colours
		}
		c := colours[0]
		if c.Start > at {
			b = appendText(b, text[at:c.Start])
			at = c.Start
		}
		stop := min(c.End, end)
		b = append(append(append(b, `<span class="x-`...), byte(c.Kind)), `">`...)
		b = append(appendText(b, text[at:stop]), `</span>`...)
		at = stop
	}
	return b, colours
}

func appendText(b []byte, text string) []byte {
	return append(b, templ.EscapeString(visible(text))...)
}

// visible shows the characters that a reader would not see, or that would make
// other text look different from what it is.
func visible(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, unseen) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !unseen(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

func unseen(r rune) bool {
	return r < 0x20 && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x061c || r >= 0x200b && r <= 0x200f ||
		r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff
}
