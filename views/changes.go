package views

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// How much of a step's changes is laid out. The rest is to be had as raw patches.
const (
	mostFiles     = 300
	mostPanel     = 4000 // lines of all files together
	mostLines     = 400  // lines of one file
	mostOpenLines = 1200 // lines that are unfolded at first
	mostLineBytes = 2000
)

// Changes is what the last run of a step changed.
type Changes struct {
	Node       plan.Ref
	Empty      string // why no file is listed; "" : there are some
	Undeclared []UndeclaredFile
	More       int  // undeclared ones without a name
	Shared     bool // another step ran at the same time
	Files      []FileChange
	MoreFiles  int
	Total      int // files
	Added      int // lines, of all files
	Removed    int
	LeftOut    []plan.LeftOut
}

// UndeclaredFile is a file that the step did not say it would change.
type UndeclaredFile struct{ Path, Word string }

// FileChange is what became of one file.
type FileChange struct {
	Path           string
	DOM            string // id of its element
	Kind           plan.DiffKind
	Words          []string // what else there is to say of it
	Added, Removed int
	Lines          []diffLine
	Hidden         int    // lines that are not shown
	Cut            bool   // the diff as it is stored is not whole
	Patch          string // path of the raw patch, "" : there is none
	Open           bool
}

func newChanges(n *plan.Node, runs []plan.Run, diffs []plan.FileDiff) *Changes {
	c := &Changes{Node: n.Ref(), More: n.UndeclaredMore, Shared: n.UndeclaredShared}
	run := runOf(n, runs)
	if run != nil {
		c.LeftOut = run.LeftOut
	}
	kinds := map[string]plan.DiffKind{}
	for i := range diffs {
		kinds[diffs[i].Path] = diffs[i].Kind
		if diffs[i].Declared {
			c.add(&diffs[i])
		}
	}
	for _, path := range n.Undeclared {
		u := UndeclaredFile{Path: path}
		if k, ok := kinds[path]; ok {
			u.Word = kindWord(k)
		}
		c.Undeclared = append(c.Undeclared, u)
	}
	if c.Total == 0 {
		c.Empty = whyNoChanges(n, run, len(c.Undeclared) > 0)
	}
	return c
}

// runOf is the run that the step's changes are of.
func runOf(n *plan.Node, runs []plan.Run) *plan.Run {
	for i := range runs {
		if runs[i].ID == n.RunID && n.RunID != "" {
			return &runs[i]
		}
	}
	return nil
}

func whyNoChanges(n *plan.Node, run *plan.Run, undeclared bool) string {
	switch {
	case undeclared:
		return "It changed none of the files that it declares."
	case run == nil && n.Kind == plan.KindUser:
		return "This step is a person's: what they change is not followed."
	case run == nil:
		return "It has not run yet."
	case run.BaseTree == "":
		return "Nothing is known of what it changed: no snapshot was taken when it started. Snapshots may be off, or the server finds no git."
	case run.Open():
		return "It is at work. What it changed is shown when its run has ended."
	case run.EndTree == "":
		return "Nothing is known of what it changed: no snapshot was taken at the end of its run."
	}
	return "It changed nothing."
}

// add takes in the change of one declared file.
func (c *Changes) add(d *plan.FileDiff) {
	c.Total++
	c.Added, c.Removed = c.Added+d.Added, c.Removed+d.Removed
	if len(c.Files) == mostFiles {
		c.MoreFiles++
		return
	}
	shown := 0
	for i := range c.Files {
		shown += len(c.Files[i].Lines)
	}
	f := FileChange{Path: d.Path, DOM: "file-" + token(d.Path), Kind: d.Kind, Added: d.Added, Removed: d.Removed, Cut: d.Cut}
	head, lines, more := parseDiff(d.Diff, min(mostLines, mostPanel-shown))
	f.Lines, f.Hidden, f.Words = lines, more, changeWords(d, head)
	if d.Diff != "" {
		f.Patch = NodeURL(c.Node) + "/patch?path=" + url.QueryEscape(d.Path)
	}
	f.Open = shown+len(lines) <= mostOpenLines
	c.Files = append(c.Files, f)
}

func kindWord(k plan.DiffKind) string {
	switch k {
	case plan.DiffAdded:
		return "added"
	case plan.DiffDeleted:
		return "deleted"
	case plan.DiffMode:
		return "mode changed"
	}
	return "changed"
}

// changeWords says of a file what its lines do not.
func changeWords(d *plan.FileDiff, h diffHead) []string {
	var words []string
	add := func(is bool, text string) {
		if is {
			words = append(words, text)
		}
	}
	created := d.Kind == plan.DiffAdded
	mode := cmp.Or(h.newMode, h.oldMode)
	add(d.Binary && d.Note == "", "A binary file: its content is not shown.")
	add(mode == "120000", "It is a symbolic link.")
	add(mode == "160000", "It is a repository of its own.")
	add(created && mode == "100755", "It is executable.")
	add(!created && h.oldMode == "100644" && h.newMode == "100755", "It was made executable.")
	add(!created && h.oldMode == "100755" && h.newMode == "100644", "It is no longer executable.")
	add(d.Note != "", d.Note)
	add(created && d.Diff != "" && !d.Binary && d.Added == 0 && d.Note == "", "It is empty.")
	return words
}

// Kind words and counts for the head of a file.
func (f *FileChange) word() string { return kindWord(f.Kind) }

func (f *FileChange) rest() string {
	if f.Hidden == 0 {
		return "The stored diff ends here; the change goes on."
	}
	text := plural(f.Hidden, "more line", "more lines")
	if f.Cut {
		text += ", and the stored diff is not the whole change"
	}
	return text + "."
}

func (c *Changes) summary() string {
	return fmt.Sprintf("%s, %d lines added, %d removed", plural(c.Total, "file", "files"), c.Added, c.Removed)
}

// diffLine is a line of a unified diff: of the file (' ', '+' or '-'), the head
// of a hunk ('@') or a remark ('\').
type diffLine struct {
	class    byte
	old, new int // its numbers; 0: it has none
	text     string
}

// diffHead is what the lines before the first hunk say.
type diffHead struct{ oldMode, newMode string }

// parseDiff reads a diff in git's format, at most most lines of its hunks; more
// is how many there are beyond.
func parseDiff(diff string, most int) (h diffHead, lines []diffLine, more int) {
	var old, new int
	body := false
	for text := range strings.Lines(diff) {
		text = strings.TrimSuffix(text, "\n")
		if !body && !strings.HasPrefix(text, "@@") {
			h.read(text)
			continue
		}
		body = true
		l := diffLine{class: ' ', text: text}
		if text != "" {
			l.class, l.text = text[0], text[1:]
		}
		switch l.class {
		case '@':
			l.text = text
			old, new = hunkStart(text)
		case '\\':
			l.text = strings.TrimSpace(l.text)
		case '+':
			l.new, new = new, new+1
		case '-':
			l.old, old = old, old+1
		default:
			l.class, l.old, l.new = ' ', old, new
			old, new = old+1, new+1
		}
		if len(lines) >= most {
			more++
			continue
		}
		lines = append(lines, l)
	}
	return h, lines, more
}

func (h *diffHead) read(line string) {
	for _, p := range []struct {
		prefix string
		to     *string
	}{{"old mode ", &h.oldMode}, {"new mode ", &h.newMode}, {"new file mode ", &h.newMode}, {"deleted file mode ", &h.oldMode}} {
		if mode, ok := strings.CutPrefix(line, p.prefix); ok {
			*p.to = strings.TrimSpace(mode)
		}
	}
}

// hunkStart reads the first line numbers of "@@ -3,7 +4,8 @@".
func hunkStart(head string) (old, new int) {
	var a, b string
	if _, err := fmt.Sscanf(head, "@@ -%s +%s @@", &a, &b); err != nil {
		return 1, 1
	}
	for _, p := range []struct {
		text string
		to   *int
	}{{a, &old}, {b, &new}} {
		first, _, _ := strings.Cut(p.text, ",")
		if _, err := fmt.Sscan(first, p.to); err != nil {
			*p.to = 1
		}
	}
	return old, new
}
