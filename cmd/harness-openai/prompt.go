package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

const autonomy = `You work on your own: nobody reads along, and no question of yours is answered. Decide what is open yourself, in the way that fits the task best, and say in the end what you decided.
Work through the tools you are given. Do not describe a change: make it. Read a file before you edit it. When a tool says that something went wrong, find out why and try otherwise; do not repeat the same call.
Stay with the task you are given. When it is done, or cannot be done, answer without calling a tool: that ends your session, and this last answer is all that is handed on.`

const bare = `You work on your own: nobody reads along, and no question of yours is answered. You have no tools: answer in one reply, which ends your session and is handed on.`

const emptyReply = "Your last reply was empty. If there is work left, go on with it; else answer with what you did and found."

// systemText puts together what the model is told before its task: how to work here,
// its role, what the profile adds, where it is.
func systemText(t plugin.Task, withTools, withShell bool) string {
	parts := []string{bare}
	if withTools {
		parts[0] = autonomy
	}
	parts = append(parts, t.System)
	if own := strings.TrimSpace(t.Profile.SystemAppend); !strings.Contains(t.System, own) {
		parts = append(parts, own)
	}
	if withTools {
		parts = append(parts, environment(t.WorkDir, withShell))
	}
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n\n")
}

func environment(dir string, withShell bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Environment:\n- working directory: %s\n- system: %s/%s\n", dir, runtime.GOOS, runtime.GOARCH)
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		b.WriteString("- the working directory is a git repository\n")
	}
	if !withShell {
		b.WriteString("- there is no shell in this session\n")
	}
	return b.String()
}
