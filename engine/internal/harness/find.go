package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// scanWidth is how many harnesses are asked at once.
const scanWidth = 2

const namePrefix = "harness-"

// Found is one program that looks like a harness.
type Found struct {
	Slug    string
	Path    string      // absolute; a link is not resolved
	Info    plugin.Info // with Slug as in the file's name; empty when refused
	Refused string      // why it does not serve, for a person; "" when it does
}

// answer is what a program said of itself, as long as it stays the same file.
type answer struct {
	modified time.Time
	size     int64
	info     plugin.Info
	refused  string
}

// Scan looks for harnesses and asks each new or changed one what it is. It
// returns all that look like one, usable or not, in order of slug, then of the
// folders. A folder that does not exist is no error.
func (m *Manager) Scan(ctx context.Context) []Found {
	found := m.list()
	width := make(chan struct{}, scanWidth)
	var asked sync.WaitGroup
	for i := range found {
		if found[i].Refused != "" {
			continue
		}
		width <- struct{}{}
		asked.Go(func() {
			defer func() { <-width }()
			m.describe(ctx, &found[i])
		})
	}
	asked.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() == nil {
		m.found = found
	}
	return slices.Clone(found)
}

// Found returns what the last Scan returned.
func (m *Manager) Found() []Found {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.found)
}

// list finds the programs without starting any.
func (m *Manager) list() []Found {
	var all []Found
	first := map[string]string{}
	seen := map[string]bool{}
	for _, dir := range m.o.Dirs {
		dir, err := filepath.Abs(dir)
		if err != nil || seen[dir] {
			continue
		}
		seen[dir] = true
		for _, f := range look(dir) {
			if winner, taken := first[f.Slug]; taken {
				f.Refused = fmt.Sprintf("%s comes first", winner)
			} else {
				first[f.Slug] = f.Path
			}
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b Found) int { return strings.Compare(a.Slug, b.Slug) })
	return all
}

// look lists the harnesses of one folder.
func look(dir string) []Found {
	entries, _ := os.ReadDir(dir) // a folder that is not there has none
	var found []Found
	for _, e := range entries {
		slug, ok := strings.CutPrefix(e.Name(), namePrefix)
		if !ok {
			continue
		}
		f := Found{Slug: slug, Path: filepath.Join(dir, e.Name())}
		info, err := os.Stat(f.Path)
		switch {
		case err != nil:
			f.Refused = fmt.Sprintf("it cannot be opened: %v", errors.Unwrap(err))
		case info.IsDir():
			continue
		case !isSlug(slug):
			f.Refused = "what follows harness- in its name must be lower-case letters, digits, '-' or '_'"
		case !info.Mode().IsRegular():
			f.Refused = "it is no regular file"
		case info.Mode()&0o111 == 0:
			f.Refused = "it is not executable"
		}
		found = append(found, f)
	}
	return found
}

func isSlug(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

// describe fills in what a harness says of itself.
func (m *Manager) describe(ctx context.Context, f *Found) {
	file, err := os.Stat(f.Path)
	if err != nil {
		f.Refused = fmt.Sprintf("it cannot be opened: %v", errors.Unwrap(err))
		return
	}
	m.mu.Lock()
	known, ok := m.answers[f.Path]
	m.mu.Unlock()
	if !ok || !known.modified.Equal(file.ModTime()) || known.size != file.Size() {
		var keep bool
		known, keep = m.ask(ctx, f.Path)
		known.modified, known.size = file.ModTime(), file.Size()
		if keep {
			m.mu.Lock()
			m.answers[f.Path] = known
			m.mu.Unlock()
		}
	}
	f.Info, f.Refused = known.info, known.refused
	if f.Refused == "" {
		f.Info.Slug = f.Slug
	}
}

// ask starts a program to hear what it is, and says whether the answer is worth
// keeping: what may have other causes than the file is asked again.
func (m *Manager) ask(ctx context.Context, path string) (a answer, keep bool) {
	err := m.visit(ctx, path, nil, func(ctx context.Context, c *plugin.Client) (err error) {
		a.info, err = c.Info(ctx)
		return err
	})
	if err == nil && !json.Valid(a.info.Settings) {
		return answer{refused: "the schema of its settings is no JSON"}, true
	}
	if err == nil {
		return a, true
	}
	var r *refusal
	var lost *Lost
	switch {
	case errors.As(err, &r):
		return answer{refused: r.reason}, !r.passes
	case errors.As(err, &lost):
		return answer{refused: "it ended when it was asked what it is: " + lost.Exit + printed(lost.Stderr)}, false
	case errors.Is(err, plugin.ErrLost):
		return answer{refused: "it does not answer when it is asked what it is"}, false
	}
	return answer{refused: "it could not be asked what it is: " + cut(err.Error(), 300)}, false
}

// path finds the program of a harness that may be used.
func (m *Manager) path(slug string) (string, error) {
	for _, f := range m.Found() {
		if f.Slug == slug && f.Refused == "" {
			return f.Path, nil
		}
	}
	for _, f := range m.list() { // dropped in, or mended, since the last scan
		if f.Slug != slug {
			continue
		}
		if f.Refused != "" {
			return "", plan.Errorf(plan.Unavailable, "harness %s cannot be used: %s", slug, f.Refused)
		}
		return f.Path, nil
	}
	return "", plan.Errorf(plan.Unavailable, "there is no harness %s: no executable %s%s in %s",
		slug, namePrefix, slug, strings.Join(m.o.Dirs, ", "))
}
