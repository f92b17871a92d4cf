package toolkit

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// pattern matches paths the way shells and editors do: * and ? within a name, ** over
// folders, [a-z] and [!a-z], {one,other}. Without a slash it is about the name alone.
type pattern struct {
	re       *regexp.Regexp
	nameOnly bool
}

func compilePattern(s string) (*pattern, error) {
	clean := strings.TrimPrefix(s, "./")
	if clean == "" {
		return nil, errors.New("the pattern is empty")
	}
	if strings.HasPrefix(clean, "/") || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(clean, "/../") {
		return nil, fmt.Errorf("the pattern %q leads out of the working directory", s)
	}
	expr, err := translate(clean)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is not valid: %w", s, err)
	}
	re, err := regexp.Compile(`^(?:` + expr + `)$`)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is not valid", s)
	}
	return &pattern{re: re, nameOnly: !strings.Contains(clean, "/")}, nil
}

func (p *pattern) match(rel string) bool {
	if p.nameOnly {
		rel = path.Base(rel)
	}
	return p.re.MatchString(rel)
}

// translate turns a pattern into a regular expression, which needs linear time
// whatever the pattern is.
func translate(s string) (string, error) {
	var b strings.Builder
	braces := 0
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], "**/") && (i == 0 || s[i-1] == '/'):
			n = 3
			b.WriteString(`(?:.*/)?`)
		case strings.HasPrefix(s[i:], "**"):
			n = 2
			b.WriteString(`.*`)
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			class, size, err := translateClass(s[i:])
			if err != nil {
				return "", err
			}
			n = size
			b.WriteString(class)
		case c == '{':
			braces++
			b.WriteString(`(?:`)
		case c == '}' && braces > 0:
			braces--
			b.WriteString(`)`)
		case c == ',' && braces > 0:
			b.WriteString(`|`)
		case c == '\\' && i+1 < len(s):
			n = 2
			b.WriteString(regexp.QuoteMeta(s[i+1 : i+2]))
		default:
			b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		}
		i += n
	}
	if braces > 0 {
		return "", errors.New("a { is never closed")
	}
	return b.String(), nil
}

// translateClass translates the [...] that s begins with and returns its size.
func translateClass(s string) (class string, size int, err error) {
	body := s[1:]
	not := strings.HasPrefix(body, "!") || strings.HasPrefix(body, "^")
	if not {
		body = body[1:]
	}
	end := strings.IndexByte(body, ']')
	if end == 0 { // a ] right at the beginning is a member
		if more := strings.IndexByte(body[1:], ']'); more >= 0 {
			end = more + 1
		}
	}
	if end <= 0 {
		return "", 0, errors.New("a [ is never closed")
	}
	set := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(body[:end])
	size = len(s) - len(body) + end + 1
	if not {
		return `[^/` + set + `]`, size, nil
	}
	return `[` + set + `]`, size, nil
}
