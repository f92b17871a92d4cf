package toolkit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of what a model is shown. A model pays for every character of it on every
// later turn, so they are far below what it could take.
const (
	maxLineRunes   = 2000   // of one line of a file
	maxResultBytes = 48_000 // of one result
	maxMatchRunes  = 300    // of one line that grep found
)

// cutLine shortens a long line and says by how much.
func cutLine(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	end := 0
	for range limit {
		_, n := utf8.DecodeRuneInString(s[end:])
		end += n
	}
	return fmt.Sprintf("%s… [line cut: %d characters more]", s[:end], utf8.RuneCountInString(s[end:]))
}

// clean makes a text fit for an event: valid UTF-8 without NUL.
func clean(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// lines gathers the lines of a result up to the size that is shown.
type lines struct {
	b    strings.Builder
	n    int
	full bool
}

// add appends a line and reports whether there was room for it.
func (l *lines) add(s string) bool {
	if l.full || l.b.Len()+len(s) >= maxResultBytes {
		l.full = true
		return false
	}
	l.b.WriteString(s)
	l.b.WriteByte('\n')
	l.n++
	return true
}

// text returns the lines, and a closing remark when there is one.
func (l *lines) text(remark string) string {
	if remark == "" {
		return strings.TrimSuffix(l.b.String(), "\n")
	}
	return l.b.String() + remark
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
