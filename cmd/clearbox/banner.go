package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/clearbox-go/clearbox/engine"
)

// banner says where everything is, when the server has started.
func banner(w io.Writer, o *options, e *engine.Engine, base string) error {
	profiles, err := e.Profiles(context.Background())
	if err != nil {
		return err
	}
	var agents []string
	for _, p := range profiles {
		name := p.Name
		if p.ID == e.Server().DefaultProfile {
			name += "*"
		}
		agents = append(agents, name)
	}
	rows := [][2]string{
		{"UI", base + "/"},
		{"MCP", base + "/mcp         for a session that plans: claude mcp add --transport http clearbox " + base + "/mcp"},
		{"", base + "/mcp/observe for a session that tracks its own work"},
		{"agents", strings.Join(agents, " ") + "   (* runs steps for which none is chosen)"},
		{"may do", mayDo(o.engine.DefaultCapability)},
		{"database", o.engine.DB},
		{"harnesses", strings.Join(o.engine.HarnessDirs, ", ")},
	}
	fmt.Fprintln(w, "Clearbox", version)
	for _, r := range rows {
		fmt.Fprintf(w, "  %-10s %s\n", r[0], r[1])
	}
	note, err := importable(o.engine.DB, e)
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintf(w, "  %-10s %s\n", "note", note)
	}
	return nil
}

// importable says that a database of the Python program lies beside ours and has
// not been imported, "" when it is not so.
func importable(db string, e *engine.Engine) (string, error) {
	old := filepath.Join(filepath.Dir(db), "clearbox.db")
	if old == db || !exists(old) {
		return "", nil
	}
	if was, err := e.ImportedFrom(context.Background(), old); was || err != nil {
		return "", err
	}
	return fmt.Sprintf("%s holds plans of the Python program clearbox, which are left alone: `clearbox import %s` takes them over", old, old), nil
}

// mayDo says in words what agents whose profile names no capability may do.
func mayDo(capability string) string {
	return map[string]string{
		"read": "read (read and search) unless their profile says otherwise",
		"run":  "run (read, search, run commands) unless their profile says otherwise",
		"edit": "edit (read, search, change files) unless their profile says otherwise",
		"full": "full (read, change files, run any command, with your rights) unless their profile says otherwise",
	}[capability]
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
