package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// command is one row of the table of commands: something to run, or a group of
// further commands.
type command struct {
	name    string
	args    string // its arguments, as usage shows them: "PLAN [FILE]"
	summary string // one line
	text    string // what help says further, with examples
	section string // heading in the overview; that of the row before when empty
	hidden  bool   // works, and is not shown
	setup   func(s *streams, f *flags) action
	sub     []command
}

// action runs a command, once its flags are read, on its arguments.
type action func(ctx context.Context, args []string) error

// choice is a table to choose a command from, and the words that led to it.
type choice struct {
	table []command
	path  string
}

// choose runs the command that the first word names.
func choose(ctx context.Context, s *streams, from choice, args []string) error {
	c := find(from.table, args[0])
	if c == nil {
		return wrongUse("unknown command %q: %stry %q", args[0], suggestion(args[0], from.table), helpFor(from.path))
	}
	path := from.path + " " + c.name
	if c.sub == nil {
		return c.run(ctx, s, path, args[1:])
	}
	switch {
	case len(args) == 1:
		return wrongUse("%s what? It is one of %s; try %q", c.name, strings.Join(names(c.sub), ", "), path+" --help")
	case wantsHelp(args[1]):
		fmt.Fprint(s.out, c.help(path, nil))
		return nil
	}
	return choose(ctx, s, choice{c.sub, path}, args[1:])
}

// helpFor is the command line that explains what there is.
func helpFor(path string) string {
	if path == "clearbox" {
		return "clearbox help"
	}
	return path + " --help"
}

func (c *command) run(ctx context.Context, s *streams, path string, args []string) error {
	f := newFlags()
	do := c.setup(s, f)
	rest, err := f.parse(args, os.Getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(s.out, c.help(path, f))
		return nil
	case err != nil:
		return usageError{flagError(path, err)}
	}
	if err := c.checkArgs(path, rest); err != nil {
		return err
	}
	return do(ctx, rest)
}

// checkArgs makes sure that there are as many arguments as usage shows.
func (c *command) checkArgs(path string, args []string) error {
	most, least := 0, 0
	for word := range strings.FieldsSeq(c.args) {
		most++
		if word[0] != '[' {
			least++
		}
	}
	endless := strings.HasSuffix(c.args, "...]")
	switch {
	case len(args) < least:
		return wrongUse("%s needs %s; usage: %s %s", strings.TrimPrefix(path, "clearbox "), strings.Fields(c.args)[len(args)], path, c.args)
	case len(args) > most && !endless:
		return wrongUse("unexpected argument %q; usage: %s", args[most], strings.TrimSpace(path+" "+c.args))
	}
	return nil
}

func find(table []command, name string) *command {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// names lists the commands that are shown.
func names(table []command) []string {
	var out []string
	for _, c := range table {
		if !c.hidden {
			out = append(out, c.name)
		}
	}
	return out
}
