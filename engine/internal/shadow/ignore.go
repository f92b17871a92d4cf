package shadow

import (
	"bytes"
	"runtime"
	"strings"
)

// rule is one line of a .gitignore file.
type rule struct {
	glob
	negated    bool
	folderOnly bool
	nameOnly   bool   // no slash: compared with the last name of a path
	suffix     string // for a star and a plain end, the most common pattern
	plain      bool   // no wildcard: compared as it is
}

// foldNames is whether git compares names without case by default here.
const foldNames = runtime.GOOS == "darwin"

// parseRules reads a .gitignore file. Lines that can match nothing are dropped.
func parseRules(data []byte) []rule {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var rules []rule
	for line := range strings.SplitSeq(string(data), "\n") {
		line = strings.TrimSuffix(line, "\r")
		line, _, _ = strings.Cut(line, "\x00")
		if line == "" || line[0] == '#' {
			continue
		}
		if r, ok := parseRule(trimSpaces(line)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// trimSpaces removes spaces at the end that no backslash protects.
func trimSpaces(line string) string {
	end := 0 // behind the last byte that stays
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}

func parseRule(line string) (r rule, ok bool) {
	if foldNames {
		line = lowerASCII(line)
	}
	line, r.negated = strings.CutPrefix(line, "!")
	rest := line
	line, r.folderOnly = strings.CutSuffix(line, "/")
	r.nameOnly = !strings.Contains(line, "/")
	if r.nameOnly && strings.HasPrefix(rest, "*") && !strings.ContainsAny(rest[1:], `*?[\`) {
		r.suffix = line[1:]
		return r, true
	}
	if !r.nameOnly {
		line = strings.TrimPrefix(line, "/")
	}
	r.plain = !strings.ContainsAny(line, `*?[\`)
	r.glob, ok = parseGlob(line, !r.nameOnly)
	return r, ok
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// match reports whether the rule speaks of a path, given relative to the folder
// of the rule, and its last name.
func (r *rule) match(path, name string, folder bool) bool {
	if r.folderOnly && !folder {
		return false
	}
	text := path
	if r.nameOnly {
		text = name
	}
	switch {
	case r.plain:
		return text == r.prefix
	case r.ops == nil:
		return strings.HasSuffix(text, r.suffix)
	}
	return r.glob.match(text)
}

// chain is the rules that hold in a folder: those of the nearest file, then those
// of the folders above.
type chain struct {
	up    *chain
	rules []rule
	base  int // length of the path, with its slash, that the rules lie in
}

// ignores reports whether the rules leave out a path, relative to the project.
// That a folder above is left out is not seen here.
func (c *chain) ignores(path string, folder bool) bool {
	if foldNames {
		path = lowerASCII(path)
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; c != nil; c = c.up {
		rel := path[c.base:]
		for i := len(c.rules) - 1; i >= 0; i-- {
			if r := &c.rules[i]; r.match(rel, name, folder) {
				return !r.negated
			}
		}
	}
	return false
}
