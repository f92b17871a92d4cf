package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/handlers"
)

// How long the end of the server may take: with agents to stop, and without.
const (
	stopAgents = 5 * time.Second
	stopHTTP   = 2 * time.Second
)

// serve runs the server until it is told to end.
func serve(args []string, out, errOut io.Writer) int {
	o, err := parse(args, os.Getenv)
	var help errHelp
	if errors.As(err, &help) {
		fmt.Fprint(out, help)
		return 0
	}
	var token string
	if err == nil {
		token, err = o.token(os.Getenv)
	}
	if err != nil {
		fmt.Fprintln(errOut, "clearbox:", oneLine(err))
		return 2
	}
	// The memory that is saved by collecting more often costs a third of the
	// requests per second.
	debug.SetGCPercent(400)
	if err := serveUntilEnd(o, token, out, errOut); err != nil {
		fmt.Fprintln(errOut, "clearbox:", oneLine(err))
		if k := plan.KindOf(err); k == plan.Invalid || k == plan.Malformed {
			return 2
		}
		return 1
	}
	return 0
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

func serveUntilEnd(o *options, token string, out, errOut io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	log := logger(o, errOut)
	o.engine.Log, o.engine.Supervisor, o.engine.HarnessDirs = log, engine.Supervisor(self), o.harnessDirs()
	ctx := context.Background()
	ln, err := listen(o)
	if err != nil {
		return err
	}
	defer ln.Close()
	e, err := engine.Open(ctx, o.engine)
	if err != nil {
		return err
	}
	port := ln.Addr().(*net.TCPAddr).Port
	base := "http://" + net.JoinHostPort(o.reachable(), strconv.Itoa(port))
	e.SetAddress(port, func(t string) string { return fmt.Sprintf("http://127.0.0.1:%d/mcp-agent/%s", port, t) })
	end := make(chan engine.OnExit, 1)
	srv := handlers.New(e, handlers.Options{Version: version, URL: base, Host: o.host, Port: port,
		AllowedHosts: o.allowedHosts, AuthToken: token, Log: log, Shutdown: func(how engine.OnExit) {
			select {
			case end <- how:
			default:
			}
		}})
	if err := banner(out, o, e, base); err != nil {
		return err
	}
	return runUntil(e, srv, ln, o.awaitEnd(end))
}

// runUntil serves until end says how to leave, and leaves in order: no new work,
// streams closed, agents stopped or let go, then the database.
func runUntil(e *engine.Engine, srv *http.Server, ln net.Listener, end <-chan engine.OnExit) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var g errgroup.Group
	failed := make(chan error, 2)
	g.Go(func() error {
		err := e.Run(ctx)
		if err != nil {
			failed <- err
		}
		return err
	})
	g.Go(func() error {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	how := engine.ExitStop
	select {
	case how = <-end:
	case <-failed:
	}
	go func() { // a second signal ends at once
		if _, again := <-end; again {
			e.Kill()
			os.Exit(1)
		}
	}()
	late, done := context.WithTimeout(context.Background(), stopAgents)
	defer done()
	err := e.Shutdown(late, how)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // an agent is slow to end; Run waits for it
	}
	cancel()
	quick, done2 := context.WithTimeout(context.Background(), stopHTTP)
	defer done2()
	if srv.Shutdown(quick) != nil {
		srv.Close()
	}
	return errors.Join(err, g.Wait(), e.Close())
}

// awaitEnd passes on the first and the second reason to end: a signal, or a
// client that asks for it.
func (o *options) awaitEnd(asked <-chan engine.OnExit) <-chan engine.OnExit {
	end := make(chan engine.OnExit, 2)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for {
			select {
			case how := <-asked:
				end <- how
			case s := <-signals:
				if s == syscall.SIGTERM {
					end <- engine.OnExit(o.onExit)
				} else {
					end <- engine.ExitStop
				}
			}
		}
	}()
	return end
}

// reachable is the name under which people reach the server.
func (o *options) reachable() string {
	switch o.host {
	case "", "0.0.0.0", "::":
		if len(o.allowedHosts) > 0 {
			host, _, err := net.SplitHostPort(o.allowedHosts[0])
			if err != nil {
				host = o.allowedHosts[0]
			}
			return host
		}
		return "127.0.0.1"
	}
	return o.host
}

// listen opens the port, or says who has it.
func listen(o *options) (net.Listener, error) {
	addr := net.JoinHostPort(o.host, strconv.Itoa(o.port))
	ln, err := net.Listen("tcp", addr)
	if err == nil {
		return ln, nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return nil, fmt.Errorf("port %d is in use by %s: stop that, or choose another --port", o.port, whoHolds(addr))
}

// whoHolds asks what answers at an address.
func whoHolds(addr string) string {
	c := http.Client{Timeout: 2 * time.Second}
	r, err := c.Get("http://" + addr + "/api/health")
	if err != nil {
		return "another program"
	}
	defer r.Body.Close()
	var health struct{ App, Version string }
	if json.NewDecoder(io.LimitReader(r.Body, 4096)).Decode(&health) == nil && health.App == "clearbox" {
		return "a Clearbox " + health.Version + " that is running already"
	}
	return "another program, which is not Clearbox"
}

func logger(o *options, w io.Writer) *slog.Logger {
	level := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[o.logLevel]
	opts := &slog.HandlerOptions{Level: level}
	if o.logFormat == "text" || o.logFormat == "" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
