// Command demo starts the demo plan in a running Clearbox, as the button on its
// start page does, and prints the plan's link.
//
//	clearbox --mock &
//	go run ./examples/demo
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/examples/connect"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := flag.String("server", connect.Server(), "address of Clearbox")
	wait := flag.Duration("wait", 0, "how long to wait for Clearbox to answer")
	flag.Parse()
	if err := demo(ctx, os.Stdout, strings.TrimRight(*server, "/"), *wait); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, out io.Writer, server string, wait time.Duration) error {
	if err := await(ctx, server, wait); err != nil {
		return err
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/demo", nil)
	if err != nil {
		return err
	}
	if token := os.Getenv("CLEARBOX_AUTH_TOKEN"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := c.Do(req)
	if err != nil {
		return fmt.Errorf("start the demo plan: %w", err)
	}
	defer r.Body.Close()
	link := r.Header.Get("Location")
	if r.StatusCode >= 400 || link == "" {
		return fmt.Errorf("start the demo plan: the server answers %s", r.Status)
	}
	fmt.Fprintf(out, "The demo plan is running: %s%s\n", server, link)
	return nil
}

// await waits until a server answers.
func await(ctx context.Context, server string, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Second))
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/api/health", nil)
		if err != nil {
			return err
		}
		r, err := http.DefaultClient.Do(req)
		if err == nil {
			r.Body.Close()
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("nothing answers at %s: is Clearbox running there?", server), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
