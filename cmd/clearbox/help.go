package main

import (
	"context"
	"fmt"
	"strings"
)

// overview is what clearbox help prints.
func overview(table []command) string {
	var b strings.Builder
	b.WriteString(`Clearbox runs plans of coding-agent work and shows them live in a browser.

usage: clearbox [serve] [flags]     start the server; without flags: http://127.0.0.1:8765
       clearbox COMMAND [flags]     talk to the server that runs
`)
	width := 0
	for _, c := range table {
		width = max(width, len(c.title()))
	}
	for _, c := range table {
		if c.hidden {
			continue
		}
		if c.section != "" {
			fmt.Fprintf(&b, "\n%s:\n", c.section)
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", width, c.title(), c.summary)
	}
	b.WriteString(`
"clearbox COMMAND --help" explains a command, with examples.
Exit codes: 0 fine, 1 it did not work, 2 it was called wrongly.
`)
	return b.String()
}

// title is a command with what belongs after it.
func (c *command) title() string {
	if c.sub != nil {
		return c.name + " …"
	}
	return strings.TrimSpace(c.name + " " + c.args)
}

// help explains one command. f are its flags, nil for a group.
func (c *command) help(path string, f *flags) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", path, c.summary)
	if c.sub != nil {
		fmt.Fprintf(&b, "usage: %s COMMAND [flags]\n\n", path)
		width := 0
		for _, s := range c.sub {
			width = max(width, len(s.title()))
		}
		for _, s := range c.sub {
			if !s.hidden {
				fmt.Fprintf(&b, "  %-*s  %s\n", width, s.title(), s.summary)
			}
		}
	} else {
		fmt.Fprintf(&b, "usage: %s [flags]\n", strings.TrimSpace(path+" "+c.args))
	}
	if c.text != "" {
		b.WriteString("\n" + strings.Trim(c.text, "\n") + "\n")
	}
	if f != nil {
		b.WriteString(f.describe())
	}
	return b.String()
}

// helpCommand explains what its arguments name, or everything.
func helpCommand(s *streams, _ *flags) action {
	return func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			fmt.Fprint(s.out, overview(commands()))
			return nil
		}
		return choose(ctx, s, choice{commands(), "clearbox"}, append(args, "--help"))
	}
}

// versionCommand prints the version.
func versionCommand(s *streams, _ *flags) action {
	return func(context.Context, []string) error {
		fmt.Fprintln(s.out, "clearbox", version)
		return nil
	}
}

// suggestion is "did you mean …? " with the command that comes nearest to a word
// that is none; "" when nothing comes near.
func suggestion(word string, table []command) string {
	best, nearest := "", min(3, (len(word)+1)/2) // of a short word less may be wrong
	for _, name := range names(table) {
		d := distance(strings.ToLower(word), name)
		if len(word) > 1 && strings.HasPrefix(name, word) {
			d = 1
		}
		if d < nearest && d < len(name) {
			best, nearest = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q? Or ", best)
}

// distance counts the letters to add, drop, change or swap with their neighbour
// to make b of a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
