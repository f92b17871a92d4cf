package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writer puts blocks of text one below the other, an empty line between them.
type writer struct{ b strings.Builder }

func (w *writer) put(parts ...string) {
	for _, s := range parts {
		w.b.WriteString(s)
	}
}

func (w *writer) String() string { return strings.TrimRight(w.b.String(), "\n") + "\n" }

func (w *writer) heading(level int, text string) {
	w.put("####"[:level], " ", text, "\n\n")
}

// para writes a text as it is, but for white space at its ends; an empty one
// leaves no trace.
func (w *writer) para(text string) {
	if text = strings.Trim(text, "\r\n"); strings.TrimSpace(text) != "" {
		w.put(text, "\n\n")
	}
}

// line writes one line of a list, which end closes.
func (w *writer) line(text string) { w.put(text, "\n") }

func (w *writer) end() { w.b.WriteString("\n") }

func (w *writer) list(items []string) {
	if len(items) == 0 {
		return
	}
	for _, s := range items {
		w.put("- ", s, "\n")
	}
	w.end()
}

// fenced writes somebody else's text so that none of it can be taken for ours:
// the fence is longer than any run of backticks in it.
func (w *writer) fenced(text string) { w.fencedAs("", text) }

func (w *writer) fencedAs(language, text string) {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	w.b.WriteString(fence + language + "\n" + strings.Trim(text, "\r\n") + "\n" + fence + "\n\n")
}

// cut shortens a text to a number of characters and says so in its last line.
func cut(text string, limit int) (short string, was bool) {
	if len(text) <= limit {
		return text, false
	}
	total := utf8.RuneCountInString(text)
	if total <= limit {
		return text, false
	}
	at := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return fmt.Sprintf("%s\n[cut here: the first %s of %s characters]", text[:at], thousands(limit), thousands(total)), true
}

// oneLine makes a title of any text.
func oneLine(s string) string {
	last := ' '
	for _, r := range s {
		if unicode.IsSpace(r) && (r != ' ' || last == ' ') {
			return strings.Join(strings.Fields(s), " ")
		}
		last = r
	}
	return strings.TrimSuffix(s, " ") // nearly all are one line already
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
