// Command bench measures a built Clearbox and writes BENCHMARKS.md.
//
// It starts the real server with databases of its own, talks to it over HTTP as
// clients do, and runs all scenarios in rounds, one after the other, so that a
// slow minute of the machine is shared by all. A figure is the median over the
// rounds with the smallest and the largest; the load of the machine and a fixed
// piece of work beside it tell how much a number can be trusted. Nothing here
// asserts anything: a bar that is missed is written down as missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	bin   string
	out   string
	quick bool
	only  []string
	soak  time.Duration // 0: measure
}

// run measures and returns an exit code: 0 done, 1 a scenario broke, 2 called
// wrongly. Bars that are missed do not change it.
func run(args []string, out, errOut io.Writer) int {
	o, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(errOut, "bench:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := measureAll
	if o.soak > 0 {
		do = soak
	}
	if err := do(ctx, o, out); err != nil {
		fmt.Fprintln(errOut, "bench:", err)
		return 1
	}
	return 0
}

func parse(args []string, errOut io.Writer) (*options, error) {
	o := &options{}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(errOut)
	fs.StringVar(&o.bin, "bin", "bin", "`folder` with the built binaries")
	fs.StringVar(&o.out, "out", "", "`file` to write; its block of notes is kept (default: print only)")
	fs.BoolVar(&o.quick, "quick", false, "few and short rounds, to see that everything works")
	only := fs.String("only", "", "measure only these scenarios, by `name`, separated by commas; nothing is written")
	fs.DurationVar(&o.soak, "soak", 0, "run a plan again and again for so long before a browser, and see that nothing grows; nothing is measured")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	var err error
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return nil, fmt.Errorf("-bin: %w", err)
	}
	if _, err := os.Stat(filepath.Join(o.bin, "clearbox")); err != nil {
		return nil, fmt.Errorf("-bin: there is no clearbox in %s: build it first", o.bin)
	}
	return o, nil
}

// measureAll runs the scenarios and writes what came out.
func measureAll(ctx context.Context, o *options, out io.Writer) error {
	chosen, err := choose(scenarios(), o.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "clearbox-bench-")
	if err != nil {
		return fmt.Errorf("make a folder to work in: %w", err)
	}
	defer os.RemoveAll(dir)
	b := &bench{bin: o.bin, dir: dir, sizes: fullSizes, out: out, scenarios: chosen}
	if o.quick {
		b.sizes = quickSizes
	}
	m := examine(ctx, dir)
	fmt.Fprintf(out, "%s, %s, load %.2f\n", m.cpu, m.memory, load())
	broken := b.runAll(ctx)
	text := report{machine: m, when: time.Now(), quick: o.quick, rounds: b.sizes.rounds, calibration: b.calibration,
		scenarios: chosen}.markdown()
	fmt.Fprintf(out, "\n%s", text)
	if o.out != "" && o.only == nil && ctx.Err() == nil {
		if err := writeReport(o.out, text); err != nil {
			return err
		}
	}
	return errors.Join(broken, ctx.Err())
}

// choose picks scenarios by name.
func choose(all []*scenario, names []string) ([]*scenario, error) {
	if names == nil {
		return all, nil
	}
	var known []string
	byName := map[string]*scenario{}
	for _, s := range all {
		byName[s.name] = s
		known = append(known, s.name)
	}
	var chosen []*scenario
	for _, name := range names {
		s, ok := byName[strings.TrimSpace(name)]
		if !ok {
			return nil, fmt.Errorf("-only: unknown scenario %q; there are %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, s)
	}
	return chosen, nil
}
