// Command model plays the model for the example fix-the-tests: it is an
// OpenAI-compatible server that answers each step of the plan from model.json, with
// tool calls that really read, edit and test the library.
//
//	go run ./examples/fix-the-tests/model --addr 127.0.0.1:8100 &
//	clearbox --openai-base-url http://127.0.0.1:8100/v1 --openai-model scripted-model &
//	go run ./examples/fix-the-tests --agent openai
//
// To play the same steps with another scripted server that picks a script by a mark
// in the step's text, print the scripts as lists of blocks, and the marks for the
// poster's --extra:
//
//	model --print-script blocks > script.json
//	model --print-marks '[[scenario:%s]]' > marks.json
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
)

//go:embed model.json
var modelJSON []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type options struct{ addr, format, marks string }

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	var o options
	f := flag.NewFlagSet("model", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.addr, "addr", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.StringVar(&o.format, "print-script", "", "print the scripts instead of serving: blocks")
	f.StringVar(&o.marks, "print-marks", "", "print a mark for each step instead of serving, made from this form with %s for the step")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if err := serve(ctx, out, o); err != nil {
		fmt.Fprintln(errs, "model:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, out io.Writer, o options) error {
	scripts, err := scriptedmodel.Load(bytes.NewReader(modelJSON))
	if err != nil {
		return err
	}
	switch {
	case o.format == "blocks":
		all, err := blocks(scripts)
		if err != nil {
			return err
		}
		return printJSON(out, all)
	case o.format != "":
		return fmt.Errorf("--print-script %q: it must be blocks", o.format)
	case o.marks != "":
		return printJSON(out, marked(scripts, o.marks))
	}
	r, err := scriptedmodel.New(scripts...).Start(o.addr)
	if err != nil {
		return err
	}
	defer r.Close()
	fmt.Fprintln(out, r.URL)
	<-ctx.Done()
	return nil
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// marked gives each step the mark of its script.
func marked(scripts []scriptedmodel.Script, form string) map[string]string {
	out := map[string]string{}
	for _, s := range scripts {
		out[s.Name] = strings.ReplaceAll(form, "%s", s.Name)
	}
	return out
}
