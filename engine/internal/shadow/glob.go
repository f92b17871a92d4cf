package shadow

import "strings"

// glob is a pattern as .gitignore files have it, ready to be compared. Matching
// takes time in proportion to pattern and text, whatever stars the pattern has.
type glob struct {
	prefix string // what the text must begin with
	ops    []globOp
}

type globOp struct {
	kind globKind
	char byte
	set  *[256]bool
}

type globKind byte

const (
	globChar globKind = iota
	globAny           // ? : one byte, but no slash
	globSet           // [...]: one of these bytes, but no slash
	globStar          // any bytes but slashes
	globAll           // ** : any bytes
	globDirs          // **/ : nothing, or anything that ends in a slash
)

// parseGlob reads a pattern. For paths, ** between slashes matches folders; else
// it is a star. A pattern that can match nothing, such as one with an open
// bracket, is reported as not ok.
func parseGlob(p string, forPath bool) (g glob, ok bool) {
	plain := strings.IndexAny(p, `*?[\`)
	if plain < 0 {
		plain = len(p)
	}
	g.prefix = p[:plain]
	for i := plain; i < len(p); {
		switch p[i] {
		case '*':
			n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
			// git looks at what follows the plain beginning by itself, so two
			// stars right after it count as if a slash were before them.
			bounded := i == plain || p[i-1] == '/'
			op, more := starOp(n, p[i+n:], forPath && bounded)
			g.ops = append(g.ops, globOp{kind: op})
			i += n + more
		case '?':
			g.ops = append(g.ops, globOp{kind: globAny})
			i++
		case '[':
			set, n := parseSet(p[i:])
			if n == 0 {
				return g, false
			}
			g.ops = append(g.ops, globOp{kind: globSet, set: set})
			i += n
		case '\\':
			if i++; i == len(p) {
				return g, false
			}
			fallthrough
		default:
			g.ops = append(g.ops, globOp{kind: globChar, char: p[i]})
			i++
		}
	}
	return g, true
}

// starOp says what a row of stars means before rest, and how much of rest it takes.
func starOp(stars int, rest string, bounded bool) (op globKind, more int) {
	switch {
	case stars < 2 || !bounded:
		return globStar, 0
	case strings.HasPrefix(rest, "/"):
		return globDirs, 1
	case rest == "", strings.HasPrefix(rest, `\/`):
		return globAll, 0
	}
	return globStar, 0
}

// match reports whether the whole text matches.
func (g *glob) match(text string) bool {
	if !strings.HasPrefix(text, g.prefix) {
		return false
	}
	text = text[len(g.prefix):]
	if len(g.ops) == 0 {
		return text == ""
	}
	// at[i] says whether the operations so far can match text[:i].
	var room [2][256]bool
	at, next := room[0][:], room[1][:]
	if len(text) >= len(at) {
		at, next = make([]bool, len(text)+1), make([]bool, len(text)+1)
	}
	at, next = at[:len(text)+1], next[:len(text)+1]
	at[0] = true
	for i := range g.ops {
		clear(next)
		if !g.ops[i].step(text, at, next) {
			return false
		}
		at, next = next, at
	}
	return at[len(text)]
}

// step sets in next where one operation can lead to from at, and reports whether
// that is anywhere.
func (o *globOp) step(text string, at, next []bool) (any bool) {
	reached := false // some position up to i was in at
	for i := range at {
		reached = reached || at[i]
		here := false
		switch o.kind {
		case globStar:
			here = at[i] || i > 0 && next[i-1] && text[i-1] != '/'
		case globAll:
			here = reached
		case globDirs:
			here = at[i] || i > 0 && text[i-1] == '/' && reached
		default:
			here = i > 0 && at[i-1] && o.takes(text[i-1])
		}
		next[i] = here
		any = any || here
	}
	return any
}

func (o *globOp) takes(c byte) bool {
	switch o.kind {
	case globChar:
		return c == o.char
	case globAny:
		return c != '/'
	}
	return c != '/' && o.set[c]
}

// parseSet reads a bracket expression at the start of p. It returns the bytes of
// the set and the length of the expression, 0 if it is not closed or names an
// unknown class.
func parseSet(p string) (*[256]bool, int) {
	var set [256]bool
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	prev := byte(0) // what a range may begin with
	for first := true; ; first = false {
		switch {
		case i >= len(p):
			return nil, 0
		case p[i] == ']' && !first:
			if negated {
				for c := range set {
					set[c] = !set[c]
				}
			}
			return &set, i + 1
		case p[i] == '-' && prev != 0 && i+1 < len(p) && p[i+1] != ']':
			if i++; p[i] == '\\' {
				i++
			}
			if i >= len(p) {
				return nil, 0
			}
			for c := int(prev); c <= int(p[i]); c++ {
				set[c] = true
			}
			prev = 0
		case p[i] == '[' && i+1 < len(p) && p[i+1] == ':':
			n, known := addClass(&set, p[i+2:])
			if !known {
				return nil, 0
			}
			if prev = 0; n == 0 {
				set['['], prev = true, '['
			}
			i += n
		default:
			if p[i] == '\\' {
				i++
			}
			if i >= len(p) {
				return nil, 0
			}
			prev = p[i]
			set[prev] = true
		}
		i++
	}
}

// addClass adds a class such as [:digit:] whose name begins p. It returns how
// many bytes follow the first bracket, 0 if this is no class after all; the class
// must be a known one.
func addClass(set *[256]bool, p string) (n int, known bool) {
	end := strings.IndexByte(p, ']')
	if end < 0 {
		return 0, false
	}
	if end == 0 || p[end-1] != ':' {
		return 0, true
	}
	is := classOf(p[:end-1])
	if is == nil {
		return 0, false
	}
	for c := range 128 {
		set[c] = set[c] || is(byte(c))
	}
	return end + 2, true
}

// classOf returns what git puts into a class of ASCII, nil if there is none of
// that name.
func classOf(name string) func(c byte) bool {
	switch name {
	case "alpha":
		return isAlpha
	case "digit":
		return isDigit
	case "alnum":
		return func(c byte) bool { return isAlpha(c) || isDigit(c) }
	case "upper":
		return func(c byte) bool { return 'A' <= c && c <= 'Z' }
	case "lower":
		return func(c byte) bool { return 'a' <= c && c <= 'z' }
	case "blank":
		return func(c byte) bool { return c == ' ' || c == '\t' }
	case "space":
		return func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	case "cntrl":
		return func(c byte) bool { return c < ' ' || c == 0x7f }
	case "print":
		return func(c byte) bool { return ' ' <= c && c < 0x7f }
	case "graph":
		return func(c byte) bool { return ' ' < c && c < 0x7f }
	case "punct":
		return func(c byte) bool { return ' ' < c && c < 0x7f && !isAlpha(c) && !isDigit(c) }
	case "xdigit":
		return func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
	}
	return nil
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
