// Command goal-model plays the model for the example goal: an OpenAI-compatible
// server that plans, works and judges. What it says is written down; what its tool
// calls do to the service is real, and its verdicts follow what they show.
//
//	go run ./examples/goal/goal-model --addr 127.0.0.1:8100 &
//	clearbox --openai-base-url http://127.0.0.1:8100/v1 --openai-model scripted-model &
//	go run ./examples/goal --agent openai
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("goal-model", flag.ContinueOnError)
	f.SetOutput(errs)
	addr := f.String("addr", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	pace := f.Int("pace", 0, "milliseconds before each reply, to make it easier to watch")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	r, err := scriptedmodel.New(scripts(*pace)...).Start(*addr)
	if err != nil {
		fmt.Fprintln(errs, "goal-model:", err)
		return 1
	}
	defer r.Close()
	fmt.Fprintln(out, r.URL)
	<-ctx.Done()
	return 0
}
