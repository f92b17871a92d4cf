package toolkit

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
)

func (k *Kit) editFile() tool {
	return tool{
		name: "edit_file",
		doc: "Replace a piece of a text file. old_string must be in the file exactly as given, spaces and tabs included, " +
			"and only once unless replace_all is true; take some lines around it to make it unique. Line numbers of read_file are not part of the file.",
		params: []param{
			{name: "path", kind: isString, required: true, doc: "File, relative to the working directory."},
			{name: "old_string", kind: isString, required: true, doc: "The text to replace."},
			{name: "new_string", kind: isString, required: true, blank: true, doc: "The text to put there."},
			{name: "replace_all", kind: isBoolean, doc: "Replace every occurrence; false when left out."},
		},
		run: k.runEdit,
	}
}

func (k *Kit) runEdit(_ context.Context, a args) (string, error) {
	name := a.str("path")
	rel, err := k.target(name)
	if err != nil {
		return "", err
	}
	data, err := k.whole(rel)
	if err != nil {
		return "", fmt.Errorf("edit %s: %w", name, reason(err))
	}
	e := newEdit(string(data), a.str("old_string"), a.str("new_string"))
	if err := e.check(name, a.yes("replace_all")); err != nil {
		return "", err
	}
	if _, err := k.jail.replace(rel, []byte(e.apply())); err != nil {
		return "", fmt.Errorf("edit %s: %w", name, reason(err))
	}
	return e.report(name), nil
}

// edit is one replacement in a text. Lines are compared without regard to how they
// end, so that a model need not know, and the new ones end like their neighbours.
type edit struct {
	raw      string
	flat     string // raw with \n only
	returns  []int  // where in flat a \r was left out before a \n
	old, new string
	found    []int // in flat
}

func newEdit(raw, old, new string) *edit {
	e := &edit{raw: raw, old: flatten(old), new: new}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\r' && i+1 < len(raw) && raw[i+1] == '\n' {
			e.returns = append(e.returns, b.Len())
			continue
		}
		b.WriteByte(raw[i])
	}
	e.flat = b.String()
	for at := 0; e.old != ""; {
		i := strings.Index(e.flat[at:], e.old)
		if i < 0 {
			break
		}
		e.found = append(e.found, at+i)
		at += i + len(e.old)
	}
	return e
}

func flatten(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func (e *edit) check(name string, all bool) error {
	switch {
	case e.old == flatten(e.new):
		return errors.New("edit_file: old_string and new_string are the same")
	case len(e.found) == 0:
		return fmt.Errorf("old_string is not in %s: it must match exactly, spaces and tabs included%s", name, e.hint())
	case len(e.found) > 1 && !all:
		return fmt.Errorf("old_string is in %s %d times (lines %s): add lines around it to make it unique, or set replace_all", name, len(e.found), e.where())
	}
	return nil
}

// hint looks for the usual reason why a text was not found.
func (e *edit) hint() string {
	want := squeeze(e.old)
	have := strings.Split(e.flat, "\n")
	n := strings.Count(strings.Trim(e.old, "\n"), "\n") + 1
	if want == "" || len(have)*n > 1_000_000 {
		return ""
	}
	for i := 0; i+n <= len(have); i++ {
		if strings.Contains(squeeze(strings.Join(have[i:i+n], "\n")), want) {
			return fmt.Sprintf(". Line %d differs from it in spaces only", i+1)
		}
	}
	return ""
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func (e *edit) where() string {
	var out []string
	for _, at := range e.found[:min(len(e.found), 20)] {
		out = append(out, fmt.Sprint(e.line(at)))
	}
	if len(e.found) > 20 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

func (e *edit) line(at int) int { return strings.Count(e.flat[:at], "\n") + 1 }

// apply returns the text with everything that was found replaced.
func (e *edit) apply() string {
	var b strings.Builder
	at := 0
	for _, i := range e.found {
		start, end := e.rawAt(i), e.rawAt(i+len(e.old))
		b.WriteString(e.raw[at:start])
		b.WriteString(e.replacement(e.raw[start:end]))
		at = end
	}
	b.WriteString(e.raw[at:])
	return b.String()
}

// rawAt turns a place in flat into the one in raw. A \r belongs to the line end that
// follows it: a place just before a line end is before its \r.
func (e *edit) rawAt(i int) int { return i + sort.SearchInts(e.returns, i) }

// replacement gives the new text the line ends of what it replaces, or else those
// that most lines of the file have. A file of one line tells nothing.
func (e *edit) replacement(old string) string {
	sample := old
	if !strings.Contains(sample, "\n") {
		sample = e.raw
	}
	all := strings.Count(sample, "\n")
	if all == 0 {
		return e.new
	}
	if crlf := strings.Count(sample, "\r\n"); 2*crlf <= all {
		return flatten(e.new)
	}
	return strings.ReplaceAll(flatten(e.new), "\n", "\r\n")
}

// report says what was done and shows the first place with two lines around it.
func (e *edit) report(name string) string {
	first := e.found[0]
	after := strings.Split(e.flat[:first]+flatten(e.new)+e.flat[first+len(e.old):], "\n")
	if after[len(after)-1] == "" {
		after = after[:len(after)-1]
	}
	from := max(e.line(first)-2, 1)
	to := min(e.line(first)+strings.Count(e.new, "\n")+2, len(after), from+40)
	var out lines
	out.add(fmt.Sprintf("edited %s: %s, line %s", name, plural(len(e.found), "replacement", "replacements"), e.where()))
	for n := from; n <= to; n++ {
		out.add(numberedLine(n, after[n-1]))
	}
	return out.text("")
}
