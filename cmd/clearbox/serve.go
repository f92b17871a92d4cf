package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/handlers"
)

// How long the end of the server may take: with agents to stop, and without.
const (
	stopAgents = 5 * time.Second
	stopHTTP   = 2 * time.Second
)

// serveCommand runs the server until it is told to end.
func serveCommand(s *streams, f *flags) action {
	o := serverFlags(f)
	return func(context.Context, []string) error {
		if err := o.complete(f, os.Getenv); err != nil {
			return err
		}
		token, err := o.token(os.Getenv)
		if err != nil {
			return usageError{err}
		}
		// The memory that is saved by collecting more often costs a third of the
		// requests per second.
		debug.SetGCPercent(400)
		return serveUntilEnd(o, token, s.out, s.err)
	}
}

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
	defer ln.TCPListener.Close()
	e, err := engine.Open(ctx, o.engine)
	if err != nil {
		return err
	}
	port := ln.Addr().(*net.TCPAddr).Port
	base := o.url(port)
	e.SetAddress(port, func(t string) string { return fmt.Sprintf("http://127.0.0.1:%d/mcp-agent/%s", port, t) })
	e.SetPublicURL(base)
	end := make(chan engine.OnExit, 1)
	srv := handlers.New(e, handlers.Options{Version: version, URL: base, Host: o.host, Port: port,
		AllowedHosts: o.allowedHosts, AuthToken: token, MCPMayApprove: o.mcpMayApprove, Log: log, Shutdown: func(how engine.OnExit) {
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

func logger(o *options, w io.Writer) *slog.Logger {
	level := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[o.logLevel]
	opts := &slog.HandlerOptions{Level: level}
	if o.logFormat == "text" || o.logFormat == "" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}
