package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

const ensureText = `
Starts a server in the background unless one answers on the port already, and
prints one line. It is safe to run at every start of a session: when there is
nothing to do it takes a few milliseconds, and of several at once one wins. The
server outlives the command and the terminal; "clearbox stop" ends it.

The flags are those of serve. What the server prints goes to server.log in the
data directory.

examples:
  clearbox ensure
  clearbox ensure --port 9000 --db ~/plans.sqlite
  clearbox ensure --mock && clearbox plan submit plan.yaml --start`

// ensured is what ensure says with --json.
type ensured struct {
	State   string `json:"state"` // running: it was there; started: in the background, now
	URL     string `json:"url"`
	Version string `json:"version"`
}

// ensureCommand makes sure that a server answers.
func ensureCommand(s *streams, f *flags) action {
	o := serverFlags(f)
	var asJSON bool
	f.add("output", option{"json", "", "print JSON", truth(&asJSON)})
	return func(ctx context.Context, _ []string) error {
		b, err := newBackground(f, o)
		if err != nil {
			return err
		}
		found, err := probe(ctx, o.dialURL())
		if err != nil {
			return fmt.Errorf("look for a server at %s: %w", o.dialURL(), err)
		}
		state := "running"
		switch found.who {
		case stranger:
			return b.stranger("choose another --port")
		case nobody:
			var won bool
			if found, won, err = b.start(ctx); err != nil {
				return err
			}
			if won {
				state = "started"
			}
		}
		if asJSON {
			return printJSON(s.out, ensured{state, b.url(), found.version})
		}
		fmt.Fprintln(s.out, ensuredLine(state, b.url(), found.version))
		return nil
	}
}

func ensuredLine(state, url, found string) string {
	switch {
	case state == "started":
		return fmt.Sprintf("Clearbox %s started in the background: %s", found, url)
	case found != version:
		return fmt.Sprintf("Clearbox %s is running: %s (this is %s; \"clearbox restart\" replaces it)", found, url, version)
	}
	return fmt.Sprintf("Clearbox %s is running: %s", found, url)
}

const stopText = `
Ends the server on the port, as Ctrl-C would, and waits until it is gone. Agents
at work are stopped and their steps wait for the next start of the server;
"clearbox restart" leaves them working. A program that is not Clearbox is not
touched.

examples:
  clearbox stop
  clearbox stop --port 9000`

// How long a server may take to end: it promises five seconds.
const endTimeout = 20 * time.Second

// stopCommand ends a server.
func stopCommand(s *streams, f *flags) action {
	r := remoteFlags(f)
	f.tolerate((&options{}).table()...) // scripts give it the flags of the server
	return func(ctx context.Context, _ []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		return end(ctx, s.out, c, "stop")
	}
}

// end ends the server that a client talks to, if there is one, and says so.
func end(ctx context.Context, out io.Writer, c *client, how string) error {
	found, err := probe(ctx, c.base)
	if err != nil {
		return fmt.Errorf("look for a server at %s: %w", c.base, err)
	}
	switch found.who {
	case nobody:
		fmt.Fprintf(out, "No Clearbox is running at %s\n", c.base)
		return nil
	case stranger:
		return fmt.Errorf("what answers at %s is not Clearbox: not touching it", c.base)
	}
	if err := c.post(ctx, "/api/shutdown", map[string]string{"on_exit": how}, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	if err := awaitGone(ctx, c.base); err != nil {
		return err
	}
	note := ""
	if how == "detach" {
		note = "; agents at work go on"
	}
	fmt.Fprintf(out, "Stopped Clearbox %s at %s%s\n", found.version, c.base, note)
	return nil
}

const restartText = `
Ends the server on the port and starts one in the background, for example after
an upgrade. Agents at work are not stopped: they go on, and the new server finds
them again. Nothing running is fine, too.

The flags are those of serve. Without any but --host and --port, the new server
gets those that the old one was started with by ensure or restart. Where systemd
runs the server, use systemctl instead.

examples:
  clearbox restart
  clearbox restart --max-concurrency 5`

// restartCommand replaces a server by a new one.
func restartCommand(s *streams, f *flags) action {
	o := serverFlags(f)
	return func(ctx context.Context, _ []string) error {
		b, err := newBackground(f, o)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(b.args, isOwnFlag) {
			if err := b.recall(); err != nil {
				return err
			}
		}
		token, err := b.options.token(os.Getenv)
		if err != nil {
			return usageError{err}
		}
		if err := end(ctx, s.out, newClient(b.options.dialURL(), token), "detach"); err != nil {
			return err
		}
		found, _, err := b.start(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Started Clearbox %s in the background: %s\n", found.version, b.url())
		return nil
	}
}

// isOwnFlag reports whether an argument says more than where the server is.
func isOwnFlag(arg string) bool {
	return !strings.HasPrefix(arg, "--host=") && !strings.HasPrefix(arg, "--port=")
}

// printJSON writes a value for programs.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
