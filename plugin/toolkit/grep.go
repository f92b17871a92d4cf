package toolkit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

const (
	defaultMatches = 100
	maxMatches     = 1000
)

func (k *Kit) grep() tool {
	return tool{
		name: "grep",
		doc:  "Search text files with a regular expression (RE2 syntax; begin with (?i) to ignore case). Gives path:line:text.",
		params: []param{
			{name: "pattern", kind: isString, required: true, doc: "Regular expression, tried on each line."},
			{name: "path", kind: isString, doc: "File or folder to search; the working directory when left out."},
			{name: "glob", kind: isString, doc: "Search only files whose name or path matches this, such as *.go."},
			{name: "max_results", kind: isInteger, min: 1, max: maxMatches, doc: "Stop after so many lines; 100 when left out."},
		},
		run: k.runGrep,
	}
}

// search is one grep on its way.
type search struct {
	jail *jail
	re   *regexp.Regexp
	only *pattern // nil: every file
	root string   // true path where it began
	max  int
	out  lines
	full bool
}

func (k *Kit) runGrep(ctx context.Context, a args) (string, error) {
	s, err := k.newSearch(a)
	if err != nil {
		return "", err
	}
	if err := s.run(ctx); err != nil {
		return "", fmt.Errorf("search %s: %w", a.path("path"), reason(err))
	}
	switch {
	case s.out.n == 0:
		return fmt.Sprintf("nothing matches %s", a.str("pattern")), nil
	case s.full:
		return s.out.text(fmt.Sprintf("[cut after %s: narrow the search, or raise max_results]", plural(s.out.n, "line", "lines"))), nil
	}
	return s.out.text(""), nil
}

func (k *Kit) newSearch(a args) (*search, error) {
	re, err := regexp.Compile(a.str("pattern"))
	if err != nil {
		return nil, fmt.Errorf("grep: pattern: %w", err)
	}
	s := &search{jail: k.jail, re: re, max: a.num("max_results", defaultMatches)}
	if g := a.str("glob"); g != "" {
		if s.only, err = compilePattern(k.jail.inside(g)); err != nil {
			return nil, fmt.Errorf("grep: glob: %w", err)
		}
	}
	s.root, err = k.jail.resolve(a.path("path"))
	return s, err
}

func (s *search) run(ctx context.Context) error {
	f, err := s.jail.openFile(s.root)
	switch {
	case err == nil:
		defer f.Close()
		if err := s.lines(f, s.root); !errors.Is(err, errStop) {
			return err
		}
		return nil
	case !errors.Is(err, errIsDir):
		return err
	}
	return s.jail.walk(ctx, s.root, maxDepth, s.visit)
}

func (s *search) visit(e entry) error {
	if e.mode&fs.ModeType != 0 || !s.wants(e.rel) {
		return nil
	}
	f, err := s.jail.openIn(e.dir, e.name)
	if err != nil {
		return nil // gone or not readable: the others are still worth searching
	}
	defer f.Close()
	return s.lines(f, e.rel)
}

// wants tries the glob on the path as seen from the working directory and from where
// the search began: models mean either.
func (s *search) wants(rel string) bool {
	if s.only == nil || s.only.match(rel) {
		return true
	}
	return s.only.match(strings.TrimPrefix(rel, path.Clean(s.root)+"/"))
}

func (s *search) lines(f io.Reader, rel string) error {
	r := bufio.NewReaderSize(f, 64<<10)
	if head, _ := r.Peek(sniffBytes); isBinary(head) {
		return nil
	}
	for n := 1; ; n++ {
		line, err := nextLine(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return nil // a file that cannot be read on is passed by, as in visit
		}
		if !s.re.MatchString(line) {
			continue
		}
		if s.out.n == s.max || !s.out.add(fmt.Sprintf("%s:%d:%s", rel, n, cutLine(line, maxMatchRunes))) {
			s.full = true
			return errStop
		}
	}
}
