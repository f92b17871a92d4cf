package views

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// diffClasses are the classes of lines, and the sign that stands before each.
var diffClasses = map[byte][2]string{
	'+': {"d-add", "+"}, '-': {"d-del", "−"}, ' ': {"d-same", " "}, '@': {"d-hunk", ""}, '\\': {"d-note", ""},
}

// diffTable shows the lines of a file. It is written by hand, as there may be
// thousands.
func diffTable(f *FileChange) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := append(make([]byte, 0, 128*len(f.Lines)), `<table class="diff"><tbody>`...)
		for i := range f.Lines {
			b = f.Lines[i].append(b)
		}
		_, err := w.Write(append(b, `</tbody></table>`...))
		return err
	})
}

func (l *diffLine) append(b []byte) []byte {
	look := diffClasses[l.class]
	b = append(append(append(b, `<tr class="`...), look[0]...), `">`...)
	b = appendLineNumber(b, l.old)
	b = appendLineNumber(b, l.new)
	b = append(b, `<td class="d-code" dir="ltr">`...)
	if look[1] != "" {
		b = append(append(append(b, `<span class="d-sign">`...), look[1]...), `</span>`...)
	}
	text, more := cut(l.text, mostLineBytes)
	b = append(b, templ.EscapeString(visible(text))...)
	if more > 0 {
		b = append(append(append(b, `<span class="d-more"> … `...), grouped(int64(more))...), ` more bytes</span>`...)
	}
	return append(b, `</td></tr>`...)
}

func appendLineNumber(b []byte, n int) []byte {
	b = append(b, `<td class="d-no">`...)
	if n > 0 {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, `</td>`...)
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
