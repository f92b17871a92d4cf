package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// guard decides on the calls of file tools by the paths that they name.
type guard struct {
	grants
	dir      string // the working directory, links resolved
	home     string
	writable [][]string // keys of the paths that may be written
	named    []string   // the same as people wrote them
	docsOnly bool
	readable []string // further folders that may be read: where the program keeps long results
}

// verdict is what becomes of a call.
type verdict struct {
	decision string // allow, deny or ask; "" leaves it to the program's rules
	why      string // said to the agent, or to the person
}

func newGuard(t plugin.Task, g grants, home string) *guard {
	dir, err := filepath.EvalSymlinks(t.WorkDir)
	if err != nil {
		dir = filepath.Clean(t.WorkDir)
	}
	out := &guard{grants: g, dir: dir, home: home, docsOnly: t.TaskType == "design"}
	for _, p := range t.Writable {
		rel := path.Clean(strings.ReplaceAll(p, `\`, "/"))
		out.writable, out.named = append(out.writable, keyOf(rel)), append(out.named, rel)
	}
	return out
}

// call is a tool call before it is made, as the program reports it.
type call struct {
	Tool       string          `json:"tool_name"`
	Input      json.RawMessage `json:"tool_input"`
	Cwd        string          `json:"cwd"`
	Transcript string          `json:"transcript_path"`
}

// decide judges a call of a guarded tool.
func (g *guard) decide(c call) verdict {
	v := g.judge(c)
	if v.decision == "allow" && slices.Contains(g.ruled, c.Tool) {
		return verdict{}
	}
	return v
}

func (g *guard) judge(c call) verdict {
	switch {
	case slices.Contains(shellTools, c.Tool):
		return g.beyond("commands are beyond this agent's capability")
	case slices.Contains(writeTools, c.Tool):
		return g.decideWrite(c)
	case slices.Contains(readTools, c.Tool):
		return g.decideRead(c)
	}
	return verdict{"deny", c.Tool + " is not known here"}
}

// beyond is for what the capability does not allow: a person may.
func (g *guard) beyond(why string) verdict {
	if g.ask {
		return verdict{"ask", why}
	}
	return verdict{"deny", why}
}

func (g *guard) decideWrite(c call) verdict {
	asked := field(c.Input, "file_path", "notebook_path")
	rel, err := g.resolve(asked, c.Cwd)
	switch {
	case err != nil && g.limited:
		return verdict{"deny", err.Error()}
	case err != nil:
		return g.beyond(err.Error())
	}
	if why := g.mayNotWrite(asked, rel); why != "" {
		return verdict{"deny", why}
	}
	if !g.write {
		return g.beyond("changing files is beyond this agent's capability")
	}
	return verdict{"allow", "the path may be written"}
}

var documents = []string{".md", ".txt", ".rst", ".adoc", ".svg", ".mermaid"} // what a design step writes

// mayNotWrite says why a true path is outside what the step may write; nobody can
// allow that, since other steps count on it.
func (g *guard) mayNotWrite(asked, rel string) string {
	if !g.limited {
		return ""
	}
	name := asked
	if filepath.Join(g.dir, rel) != filepath.Clean(asked) && path.Clean(filepath.ToSlash(asked)) != rel {
		name = fmt.Sprintf("%s (which is %s)", asked, rel)
	}
	key := keyOf(rel)
	if !slices.ContainsFunc(g.writable, func(w []string) bool { return len(key) >= len(w) && slices.Equal(key[:len(w)], w) }) {
		if len(g.named) == 0 {
			return name + " may not be written: this step writes no files"
		}
		return fmt.Sprintf("%s may not be written: this step may write only %s", name, strings.Join(g.named, ", "))
	}
	if g.docsOnly && !slices.Contains(documents, strings.ToLower(path.Ext(rel))) {
		return fmt.Sprintf("%s may not be written: a design step writes documents only (%s)", name, strings.Join(documents, " "))
	}
	return ""
}

func (g *guard) decideRead(c call) verdict {
	asked := field(c.Input, "file_path", "path")
	if asked == "" {
		asked = "."
	}
	if c.Tool == "Glob" {
		asked = globRoot(asked, field(c.Input, "pattern"))
	}
	_, err := g.resolve(asked, c.Cwd)
	if err == nil || g.isOwnResult(asked, c) {
		return verdict{"allow", "inside the working directory"}
	}
	return g.beyond(err.Error())
}

// isOwnResult says whether a path is one of the files in which the program puts what
// is too long for the conversation.
func (g *guard) isOwnResult(asked string, c call) bool {
	real, err := filepath.EvalSymlinks(asked)
	if err != nil {
		return false
	}
	folders := g.readable
	if session, ok := strings.CutSuffix(c.Transcript, ".jsonl"); ok && filepath.IsAbs(session) {
		folders = append(slices.Clone(folders), session)
	}
	return slices.ContainsFunc(folders, func(dir string) bool {
		dir, err := filepath.EvalSymlinks(dir)
		return err == nil && within(dir, real) != ""
	})
}

// globRoot is the folder that a pattern starts from.
func globRoot(dir, pattern string) string {
	root := pattern
	if i := strings.IndexAny(pattern, `*?[{`); i >= 0 {
		root = pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
	}
	if strings.Contains(pattern[len(root):], "..") {
		return "/" // a way up behind a wildcard could lead anywhere
	}
	if filepath.IsAbs(root) || strings.HasPrefix(root, "~") {
		return root
	}
	return dir + "/" + root
}

// resolve returns the true path of p, links resolved, relative to the working
// directory and with slashes. What does not exist yet is taken as written.
func (g *guard) resolve(p, cwd string) (string, error) {
	full := p
	switch {
	case p == "" || strings.IndexByte(p, 0) >= 0:
		return "", errors.New("the call names no path")
	case p == "~" || strings.HasPrefix(p, "~/"):
		full = filepath.Join(g.home, p[1:])
	case !filepath.IsAbs(p) && filepath.IsAbs(cwd):
		full = cwd + "/" + p
	case !filepath.IsAbs(p):
		full = g.dir + "/" + p
	}
	real, err := truePath(full)
	if err != nil {
		return "", fmt.Errorf("%s cannot be resolved: %w", p, err)
	}
	rel := within(g.dir, real)
	if rel == "" {
		return "", fmt.Errorf("%s is outside the working directory (%s)", p, g.dir)
	}
	return rel, nil
}

// truePath resolves the part of a path that exists; dots are taken out before that, as
// the program does it. A link that leads nowhere is refused: what it will lead to is
// not known.
func truePath(p string) (string, error) {
	rest := []string{}
	for at := filepath.Clean(p); ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(append([]string{real}, rest...)...), nil
		}
		if _, lerr := os.Lstat(at); lerr == nil || !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", cause(err)
		}
		rest = slices.Insert(rest, 0, filepath.Base(at))
	}
}

func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// within returns the path of full in dir, "." for dir itself, "" when it is not in it.
func within(dir, full string) string {
	rel, err := filepath.Rel(dir, full)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// keyOf makes paths comparable: two that differ in case only are one file on many
// file systems, so they are one for the limits everywhere.
func keyOf(rel string) []string {
	if rel == "." || rel == "" {
		return nil
	}
	return strings.Split(strings.ToLower(strings.ToUpper(rel)), "/")
}

// field returns the first of some texts that an input has.
func field(input json.RawMessage, names ...string) string {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(input, &m) // what is no object has no fields
	for _, name := range names {
		var s string
		if json.Unmarshal(m[name], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}
