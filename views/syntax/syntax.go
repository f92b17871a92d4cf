// Package syntax finds the parts of program text that are worth a colour:
// comments, strings, numbers, keywords, names that are called, keys, tags. It knows
// languages from a table and reads each byte once, without patterns that could be
// made to run long, so that whole diffs can be coloured whatever is in them. It
// guesses where only a compiler would know, and is wrong at worst in a colour.
package syntax

import (
	"path"
	"strings"
)

// Kind is what a part of a text is.
type Kind byte

// The kinds.
const (
	Comment Kind = 'c'
	String  Kind = 's'
	Number  Kind = 'n'
	Keyword Kind = 'k'
	Call    Kind = 'f' // a name before a parenthesis
	Key     Kind = 'a' // a name of a value, or an attribute
	Tag     Kind = 't' // a tag, a heading, a decorator
)

// Span is a part of one line, in bytes.
type Span struct {
	Start, End int
	Kind       Kind
}

// Language is what is known of one. It does not change.
type Language struct {
	line     []string    // what begins a comment that ends with the line
	block    [][2]string // what begins and ends other comments
	quotes   []quote
	keywords map[string]bool
	fold     bool // keywords in any case
	keys     byte // what follows a name of a value; 0: nothing does
	mode     mode
}

// quote is a way to write strings.
type quote struct {
	open, close string
	raw         bool // a backslash means nothing
	lines       bool // it may go on over several
	letter      bool // it holds one letter; else the sign is no quote
}

type mode byte

const (
	code mode = iota
	markup
	markdown
)

// For returns the language of a file by its name, nil for none that is known.
func For(file string) *Language {
	name := strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
	if l := byName[name]; l != "" {
		return languages[l]
	}
	if strings.HasPrefix(name, "dockerfile") || strings.HasPrefix(name, "containerfile") {
		return languages["docker"]
	}
	return languages[byExt[strings.TrimPrefix(path.Ext(name), ".")]]
}

// Scanner colours one line after the other. What is open at the end of a line is
// open at the beginning of the next.
type Scanner struct {
	lang  *Language
	until string // ends what is open; "" : nothing is
	raw   bool
	kind  Kind
	tag   bool // within a tag of markup
	spans []Span
}

// NewScanner returns a scanner for text of a language; nil knows none.
func NewScanner(l *Language) *Scanner { return &Scanner{lang: l} }

// Reset forgets what is open, for text that does not follow on.
func (s *Scanner) Reset() { s.until, s.tag = "", false }

// Line returns the parts of the next line, ascending and apart.
func (s *Scanner) Line(text string) []Span {
	s.spans = nil
	if s.lang == nil {
		return nil
	}
	at := 0
	if s.until != "" {
		at = s.rest(text, 0, 0)
	}
	switch {
	case s.lang.mode == markup:
		s.markup(text, at)
	case s.lang.mode == markdown && at == 0:
		s.markdown(text)
	default:
		s.code(text, at)
	}
	return s.spans
}

func (s *Scanner) add(start, end int, kind Kind) {
	if n := len(s.spans); n > 0 && s.spans[n-1].End == start && s.spans[n-1].Kind == kind {
		s.spans[n-1].End = end
	} else if end > start {
		s.spans = append(s.spans, Span{start, end, kind})
	}
}

// rest goes on with what is open: from is where to look for its end, start where
// it begins in this line. It returns where it ends.
func (s *Scanner) rest(text string, start, from int) int {
	for at := from; at < len(text); at++ {
		switch {
		case text[at] == '\\' && !s.raw:
			at++
		case strings.HasPrefix(text[at:], s.until):
			end := at + len(s.until)
			s.until = ""
			s.add(start, end, s.kind)
			return end
		}
	}
	s.add(start, len(text), s.kind)
	return len(text)
}
