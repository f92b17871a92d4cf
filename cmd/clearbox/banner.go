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
	if old := filepath.Join(filepath.Dir(o.engine.DB), "clearbox.db"); old != o.engine.DB && exists(old) {
		fmt.Fprintf(w, "  %-10s %s holds plans of the Python program clearbox; they are left alone\n", "note", old)
	}
	return nil
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
