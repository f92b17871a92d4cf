package toolkit

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// claim is a path that may be written, with everything under it.
type claim struct {
	spelling string
	key      []string
}

func parseClaims(paths []string) ([]claim, error) {
	var out []claim
	for _, p := range paths {
		clean := path.Clean(strings.ReplaceAll(p, `\`, "/"))
		if clean == ".." || strings.HasPrefix(clean, "../") || path.IsAbs(clean) || filepath.IsAbs(p) {
			return nil, fmt.Errorf("writable path %q is not inside the working directory", p)
		}
		out = append(out, claim{spelling: clean, key: keyOf(clean)})
	}
	return out, nil
}

// keyOf makes paths comparable: two that differ in case only are one file on many
// file systems, so they are one for the limits everywhere.
func keyOf(rel string) []string {
	if rel == "." || rel == "" {
		return nil
	}
	return strings.Split(strings.ToLower(strings.ToUpper(rel)), "/")
}

func (c claim) covers(key []string) bool {
	return len(key) >= len(c.key) && slices.Equal(key[:len(c.key)], c.key)
}

var documents = []string{".md", ".txt", ".rst", ".adoc", ".svg", ".mermaid"}

// mayWrite says why a true path may not be written. asked is what the model called it.
func (j *jail) mayWrite(asked, rel string) error {
	name := asked
	if path.Clean(filepath.ToSlash(asked)) != rel {
		name = fmt.Sprintf("%s (which is %s)", asked, rel)
	}
	if rel == "." {
		return fmt.Errorf("%s is the working directory itself", asked)
	}
	if slices.ContainsFunc(strings.Split(rel, "/"), isGitName) {
		return fmt.Errorf("%s belongs to git, whose files are not written here", name)
	}
	key := keyOf(rel)
	if j.limited && !slices.ContainsFunc(j.writable, func(c claim) bool { return c.covers(key) }) {
		return fmt.Errorf("%s may not be written: this step may write only %s", name, j.claims())
	}
	if j.docsOnly && !slices.Contains(documents, strings.ToLower(path.Ext(rel))) {
		return fmt.Errorf("%s may not be written: a design step writes documents only (%s)", name, strings.Join(documents, " "))
	}
	return nil
}

func (j *jail) claims() string {
	if len(j.writable) == 0 {
		return "nothing"
	}
	var out []string
	for _, c := range j.writable {
		out = append(out, c.spelling)
	}
	return strings.Join(out, ", ")
}

// isGitName reports whether some file system would take a name for .git: by case, by
// dots or spaces at its end, by its short name, by a stream suffix, or by characters
// that do not show.
func isGitName(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	name = strings.ToLower(strings.TrimRight(name, ". "))
	return name == ".git" || name == "git~1"
}
