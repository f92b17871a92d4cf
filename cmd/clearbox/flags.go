package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// option is one row of a table of flags.
type option struct {
	name string
	env  string // variable that gives the default, "" for none
	help string
	bind func(fs *flag.FlagSet, name, help string)
}

// flags are the flags of one command, in the order in which help shows them.
type flags struct {
	set      *flag.FlagSet
	sections []section
	given    map[string]bool // on the command line, once it is read
}

// section is a part of the flags under a heading.
type section struct {
	title string
	rows  []option
}

func newFlags() *flags {
	f := &flags{set: flag.NewFlagSet("", flag.ContinueOnError), given: map[string]bool{}}
	f.set.SetOutput(io.Discard)
	return f
}

// add adds flags under a heading; "" is the command's own.
func (f *flags) add(title string, rows ...option) {
	for _, r := range rows {
		hint := r.help
		if r.env != "" {
			hint += " [" + r.env + "]"
		}
		r.bind(f.set, r.name, hint)
	}
	f.sections = append(f.sections, section{title, rows})
}

// tolerate takes flags without showing them, but for those that are there
// already.
func (f *flags) tolerate(rows ...option) {
	for _, r := range rows {
		if f.set.Lookup(r.name) == nil {
			r.bind(f.set, r.name, r.help)
		}
	}
}

// parse reads flags, which may stand before and after arguments, and returns the
// arguments. A flag that is given goes before its variable.
func (f *flags) parse(args []string, env func(string) string) ([]string, error) {
	var rest []string
	for {
		if err := f.set.Parse(args); err != nil {
			return nil, err
		}
		left := f.set.Args()
		if len(left) == 0 {
			break
		}
		if read := len(args) - len(left); read > 0 && args[read-1] == "--" {
			rest = append(rest, left...)
			break
		}
		rest, args = append(rest, left[0]), left[1:]
	}
	f.set.Visit(func(x *flag.Flag) { f.given[x.Name] = true })
	return rest, f.readEnv(env)
}

func (f *flags) readEnv(env func(string) string) error {
	for _, s := range f.sections {
		for _, r := range s.rows {
			if r.env == "" || f.given[r.name] || env(r.env) == "" {
				continue
			}
			if err := f.set.Set(r.name, env(r.env)); err != nil {
				return fmt.Errorf("%s=%q: %w", r.env, env(r.env), err)
			}
		}
	}
	return nil
}

// arguments returns the flags among rows that were given, as arguments for
// another process.
func (f *flags) arguments(rows []option) []string {
	var out []string
	for _, r := range rows {
		if f.given[r.name] {
			out = append(out, "--"+r.name+"="+f.set.Lookup(r.name).Value.String())
		}
	}
	return out
}

// flagError says in the words of this program what package flag refuses.
func flagError(path string, err error) error {
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return fmt.Errorf("unknown option --%s: %q lists those that there are", strings.TrimLeft(name, "-"), path+" --help")
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag needs an argument: -"); ok {
		return fmt.Errorf("option --%s needs a value", strings.TrimLeft(name, "-"))
	}
	return err
}

// describe lists flags for people.
func (f *flags) describe() string {
	var out strings.Builder
	for _, s := range f.sections {
		title := s.title
		if title == "" {
			title = "flags"
		}
		fmt.Fprintf(&out, "\n%s:\n", title)
		for _, r := range s.rows {
			f.describeOne(&out, r.name)
		}
	}
	return out.String()
}

func (f *flags) describeOne(out *strings.Builder, name string) {
	x := f.set.Lookup(name)
	value, text := flag.UnquoteUsage(x)
	fmt.Fprintf(out, "  --%s\n      %s", strings.TrimSpace(name+" "+value), text)
	if x.DefValue != "" && x.DefValue != "0" && x.DefValue != "0s" && x.DefValue != "false" {
		fmt.Fprintf(out, " (default %s)", x.DefValue)
	}
	out.WriteByte('\n')
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(v string) error {
	for s := range strings.SplitSeq(v, ",") {
		if s = strings.TrimSpace(s); s != "" {
			*l = append(*l, s)
		}
	}
	return nil
}

// words is a flag that may be given several times and is taken as it is.
type words []string

func (w *words) String() string { return strings.Join(*w, " ") }

func (w *words) Set(v string) error {
	*w = append(*w, v)
	return nil
}

func text(to *string, def string) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, help string) { fs.StringVar(to, name, def, help) }
}

func number(to *int, def int) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, help string) { fs.IntVar(to, name, def, help) }
}

func decimal(to *float64, def float64) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, help string) { fs.Float64Var(to, name, def, help) }
}

func truth(to *bool) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, help string) { fs.BoolVar(to, name, false, help) }
}

func span(to *time.Duration, def time.Duration) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, help string) { fs.DurationVar(to, name, def, help) }
}

func many(to *list) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, help string) { fs.Var(to, name, help) }
}

func each(to *words) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, help string) { fs.Var(to, name, help) }
}
