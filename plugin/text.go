package plugin

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxToolResult is the length of a tool result's content in characters; what
// is longer is cut, with the number of characters left out.
const MaxToolResult = 6000

// maxMark bounds the mark of a cut, so that a text that was cut once is not
// taken for one that still has to be.
const maxMark = 64

// clean makes valid UTF-8 without NUL.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

// cutRunes keeps the first n characters of a clean text.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	total := utf8.RuneCountInString(s)
	if total <= n {
		return s
	}
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at] + mark(total-n)
}

// cutBytes keeps at most n bytes of a clean text, whole characters only.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark(utf8.RuneCountInString(s[n:]))
}

func mark(left int) string {
	return fmt.Sprintf("\n… (%d characters left out)", left)
}
