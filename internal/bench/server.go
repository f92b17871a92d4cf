package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// server is a Clearbox that runs on a free port with a database of its own.
type server struct {
	base    string // its URL
	dir     string // of its database
	pid     int
	startup time.Duration // from starting the process to its first answer

	cmd     *exec.Cmd
	ended   chan error // receives once
	stopped bool
	streams *http.Transport // every stream has a connection of its own
}

// startServer starts the server and returns when it has answered once.
func startServer(ctx context.Context, bin, dir string, flags ...string) (_ *server, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for a database: %w", err)
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return nil, fmt.Errorf("make a log file: %w", err)
	}
	defer log.Close()
	args := append([]string{"serve", "--mock", "--port", "0", "--db", filepath.Join(dir, "clearbox.sqlite"), "--log-level", "warn"}, flags...)
	s := &server{dir: dir, cmd: exec.Command(filepath.Join(bin, "clearbox"), args...), ended: make(chan error, 1),
		streams: &http.Transport{DisableKeepAlives: true, DisableCompression: true, ReadBufferSize: 64 << 10}}
	s.cmd.Env, s.cmd.Stderr = environment(), log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	s.pid = s.cmd.Process.Pid
	banner := make(chan string, 1)
	go func() {
		banner <- address(out)
		_, _ = io.Copy(io.Discard, out)
		s.ended <- s.cmd.Wait()
	}()
	select {
	case s.base = <-banner:
	case <-ctx.Done():
	}
	if s.base != "" {
		err = newClient(s.base).get(ctx, "/api/health", nil)
	}
	s.startup = time.Since(began)
	if s.base == "" || err != nil {
		return nil, errors.Join(fmt.Errorf("the server did not start: %s", tail(log.Name())), err, s.stop())
	}
	return s, nil
}

// environment is this program's own without what configures a Clearbox.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CLEARBOX_") && !strings.HasPrefix(v, "OPENAI_") {
			env = append(env, v)
		}
	}
	return env
}

// address reads the banner as far as the server's URL, "" when there is none.
func address(banner io.Reader) string {
	lines := bufio.NewScanner(banner)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 2 && f[0] == "UI" {
			return strings.TrimSuffix(f[1], "/")
		}
	}
	return ""
}

// tail returns the end of a file.
func tail(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b[max(0, len(b)-2000):]))
}

// stop ends the server in order, or at once when it does not end in ten seconds.
// It may be called again.
func (s *server) stop() error {
	if s.stopped {
		return nil
	}
	s.stopped = true
	if s.cmd.Process.Signal(os.Interrupt) != nil {
		_ = s.cmd.Process.Kill()
	}
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("end the server: %w: %s", err, tail(filepath.Join(s.dir, "server.log")))
		}
		return nil
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
		return errors.New("the server did not end within ten seconds")
	}
}

// client returns a client with connections that stay open.
func (s *server) client() *client { return newClient(s.base) }

// stream opens a request that is answered for as long as it lasts.
func (s *server) stream(ctx context.Context, path, after string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("open a stream: %w", err)
	}
	q.Header.Set("Accept", "text/event-stream")
	if after != "" {
		q.Header.Set("Last-Event-ID", after)
	}
	res, err := s.streams.RoundTrip(q)
	if err != nil {
		return nil, fmt.Errorf("open a stream: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("open a stream: %s", res.Status)
	}
	return res, nil
}
