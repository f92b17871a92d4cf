package main

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// terminalSize returns the columns and lines of the terminal that w writes to;
// ok is false when it is none.
func terminalSize(w io.Writer) (width, height int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile {
		return 0, 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	width, height = int(size.Col), int(size.Row)
	if width == 0 || height == 0 { // a terminal that does not say
		width, height = 80, 24
	}
	return width, height, true
}

func isTerminal(w io.Writer) bool {
	_, _, ok := terminalSize(w)
	return ok
}

// draws reports whether w can be drawn on: a terminal that can move its cursor.
func draws(w io.Writer) bool { return isTerminal(w) && os.Getenv("TERM") != "dumb" }

// paint colours text for a terminal, or leaves it alone.
type paint bool

// paintFor decides whether what goes to w is coloured.
func paintFor(w io.Writer) paint { return paint(draws(w) && os.Getenv("NO_COLOR") == "") }

// Colours of the terminal.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
)

func (p paint) in(colour, text string) string {
	if !p || colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// plain makes one printable line of text that agents or people wrote: what
// would steer a terminal, or turn its writing around, is left out.
func plain(s string) string {
	var b strings.Builder
	for field := range strings.FieldsSeq(s) {
		word := strings.Map(printable, field)
		if word == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// plainText is plain for text of several lines.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return printable(r)
	}, s)
}

func printable(r rune) rune {
	const joiner = '\u200d' // holds emoji together
	if r != joiner && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) || r == unicode.ReplacementChar {
		return -1
	}
	return r
}

// cut shortens a line without colours to some columns.
func cut(s string, columns int) string {
	if widthOf(s) <= columns {
		return s
	}
	used := 0
	for i, r := range s {
		if used += columnsOf(r); used > columns-1 { // the sign that it was cut needs one
			return s[:i] + "…"
		}
	}
	return s
}

// pad fills a line without colours up to some columns, or cuts it.
func pad(s string, columns int) string {
	s = cut(s, columns)
	return s + strings.Repeat(" ", max(0, columns-widthOf(s)))
}

func widthOf(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// columnsOf returns how wide terminals show a character.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the ranges of East Asian writing and of pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1faff, 1}, {0x20000, 0x3fffd, 1}},
}
