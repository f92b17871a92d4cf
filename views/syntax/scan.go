package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// code reads a line of a programming language.
func (s *Scanner) code(text string, at int) {
	for at < len(text) {
		if end := s.opening(text, at); end > at {
			at = end
			continue
		}
		c := text[at]
		switch {
		case c >= '0' && c <= '9':
			end := numberEnd(text, at)
			s.add(at, end, Number)
			at = end
		case c == '@' || c == '#':
			end := wordEnd(text, at+1)
			if end > at+1 && (c == '@' || strings.TrimSpace(text[:at]) == "") {
				s.add(at, end, Tag)
			}
			at = max(end, at+1)
		default:
			at = s.word(text, at)
		}
	}
}

// opening reads a comment or a string that begins here, and returns its end, or
// at when none does.
func (s *Scanner) opening(text string, at int) int {
	l := s.lang
	for _, c := range l.line {
		if strings.HasPrefix(text[at:], c) && (c != "#" || at == 0 || text[at-1] == ' ' || text[at-1] == '\t') {
			s.add(at, len(text), Comment)
			return len(text)
		}
	}
	for _, b := range l.block {
		if strings.HasPrefix(text[at:], b[0]) {
			s.until, s.raw, s.kind = b[1], true, Comment
			return s.rest(text, at, at+len(b[0]))
		}
	}
	for _, q := range l.quotes {
		if !strings.HasPrefix(text[at:], q.open) {
			continue
		}
		s.until, s.raw, s.kind = q.close, q.raw, String
		end := s.rest(text, at, at+len(q.open))
		if !q.lines {
			apostrophe := q.open == "'" && (s.until != "" || q.letter && utf8.RuneCountInString(text[at:end]) > 3 && text[at+1] != '\\')
			if apostrophe && at+1 < end {
				s.spans = s.spans[:len(s.spans)-1]
				end = at + 1
			}
			s.until = ""
		}
		return s.keyed(text, at, end)
	}
	return at
}

// keyed turns a string into a key where a colon follows it.
func (s *Scanner) keyed(text string, at, end int) int {
	if n := len(s.spans); s.lang.keys != 0 && s.until == "" && n > 0 && s.spans[n-1].Start == at && follows(text, end, s.lang.keys) {
		s.spans[n-1].Kind = Key
	}
	return end
}

func follows(text string, at int, c byte) bool {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at < len(text) && text[at] == c
}

// word reads a name, or one character that is none.
func (s *Scanner) word(text string, at int) int {
	end := wordEnd(text, at)
	if end == at {
		_, size := utf8.DecodeRuneInString(text[at:])
		return at + size
	}
	name := text[at:end]
	if s.lang.fold {
		name = strings.ToLower(name)
	}
	switch {
	case s.lang.keys != 0 && strings.Trim(text[:at], " \t-") == "" && follows(text, s.dashed(text, end), s.lang.keys):
		end = s.dashed(text, end)
		s.add(at, end, Key)
	case s.lang.keywords[name]:
		s.add(at, end, Keyword)
	case end < len(text) && text[end] == '(':
		s.add(at, end, Call)
	}
	return end
}

// dashed is the end of a key, which may have dashes and dots in it.
func (s *Scanner) dashed(text string, at int) int {
	for at < len(text) && (text[at] == '-' || text[at] == '.' || wordEnd(text, at) > at) {
		at = max(at+1, wordEnd(text, at))
	}
	return at
}

func wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		at += size
	}
	return at
}

func numberEnd(text string, at int) int {
	for at < len(text) && (text[at] == '.' && at+1 < len(text) && text[at+1] >= '0' && text[at+1] <= '9' || wordEnd(text[:at+1], at) > at) {
		at++
	}
	return at
}

// markup reads a line of HTML, XML and their like.
func (s *Scanner) markup(text string, at int) {
	for at < len(text) {
		switch {
		case strings.HasPrefix(text[at:], "<!--"):
			s.until, s.raw, s.kind, s.tag = "-->", true, Comment, false
			at = s.rest(text, at, at+4)
		case !s.tag && text[at] == '<':
			end := at + 1
			for end < len(text) && (text[end] == '/' || text[end] == '!' || text[end] == '?') {
				end++
			}
			end = s.dashed(text, end)
			s.add(at, end, Tag)
			s.tag, at = end > at+1, end
		case !s.tag:
			at++
		case text[at] == '>':
			s.add(at, at+1, Tag)
			s.tag = false
			at++
		case text[at] == '"' || text[at] == '\'':
			s.until, s.raw, s.kind = text[at:at+1], true, String
			at = s.rest(text, at, at+1)
		default:
			end := s.dashed(text, at)
			s.add(at, end, Key)
			at = max(end, at+1)
		}
	}
}

// markdown reads a line of Markdown: headings, fences, lists, code in the line.
func (s *Scanner) markdown(text string) {
	trimmed := strings.TrimLeft(text, " ")
	indent := len(text) - len(trimmed)
	switch {
	case strings.HasPrefix(trimmed, "#"):
		s.add(0, len(text), Tag)
		return
	case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
		s.add(0, len(text), String)
		s.until, s.raw, s.kind = trimmed[:3], true, String
		return
	case strings.HasPrefix(trimmed, ">"):
		s.add(0, len(text), Comment)
		return
	case strings.HasPrefix(trimmed, "- "), strings.HasPrefix(trimmed, "* "), strings.HasPrefix(trimmed, "+ "):
		s.add(indent, indent+1, Keyword)
	}
	for at := indent; at < len(text); at++ {
		if text[at] != '`' {
			continue
		}
		n := strings.IndexByte(text[at+1:], '`')
		if n < 0 {
			return
		}
		s.add(at, at+n+2, String)
		at += n + 1
	}
}
