package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// background is a server to start, or to find, behind an address.
type background struct {
	options *options
	args    []string // flags of serve
	dir     string   // where it is started; "" here
}

// How long a server that was started may take to its first answer. It takes
// milliseconds, but for a database that a new version has to convert.
const startTimeout = 2 * time.Minute

// maxLog is the size in bytes from which on a log is put aside.
const maxLog = 10 << 20

// newBackground prepares a server with the flags of a command.
func newBackground(f *flags, o *options) (*background, error) {
	if err := o.complete(f, os.Getenv); err != nil {
		return nil, err
	}
	if o.port == 0 {
		return nil, wrongUse("--port 0: a server in the background needs a port of its own, or it would not be found again")
	}
	if _, err := o.token(os.Getenv); err != nil {
		return nil, usageError{err}
	}
	return &background{options: o, args: f.arguments(o.table())}, nil
}

// url is where people reach the server.
func (b *background) url() string { return b.options.url(b.options.port) + "/" }

// stranger is the error for a port that another program has.
func (b *background) stranger(then string) error {
	return fmt.Errorf("port %d of %s is held by a program that is not Clearbox: %s", b.options.port, dialHost(b.options.host), then)
}

// start starts the server and waits until it answers. When another one was
// faster, as with two sessions that begin at once, that one is as good; then won
// is false.
func (b *background) start(ctx context.Context) (found sighting, won bool, err error) {
	log, err := openLog()
	if err != nil {
		return sighting{}, false, err
	}
	defer log.Close()
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return sighting{}, false, fmt.Errorf("open the server's log: %w", err)
	}
	ended, err := b.launch(log)
	if err != nil {
		return sighting{}, false, err
	}
	found, won, err = b.await(ctx, ended)
	switch {
	case err != nil:
		return found, false, fmt.Errorf("%w; its log is %s", err, log.Name())
	case found.who != ours:
		return found, false, fmt.Errorf("the server exited at once: %s; its log is %s", lastLine(log.Name(), from), log.Name())
	case won:
		err = b.remember()
	}
	return found, won, err
}

// launch starts the server in a session of its own: no terminal that closes and
// no command that ends takes it along. ended is closed when it has ended.
func (b *background) launch(log *os.File) (ended <-chan struct{}, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, append([]string{"serve"}, b.args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(over)
	}()
	return over, nil
}

// await waits until a server answers, or the one that was started has ended: then
// it is not the one that is found.
func (b *background) await(ctx context.Context, ended <-chan struct{}) (found sighting, won bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for pause := 4 * time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		select {
		case <-ended:
			found, err = probe(ctx, b.options.dialURL())
			return found, false, err
		case <-ctx.Done():
			return sighting{}, false, fmt.Errorf("the server has not answered within %s and is left to go on", startTimeout)
		case <-time.After(pause):
		}
		if b.answers(ctx) {
			found, err = probe(ctx, b.options.dialURL())
			return found, true, err
		}
	}
}

func (b *background) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	found, err := probeOnce(ctx, b.options.dialURL())
	return err == nil && found.who == ours
}

// openLog opens the log of servers in the background, for appending.
func openLog() (*os.File, error) {
	dir := dataDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	path := filepath.Join(dir, "server.log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, fmt.Errorf("put the server's log aside: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	return f, nil
}

// lastLine returns the last thing that was written to a log after a place.
func lastLine(path string, from int64) string {
	b, err := os.ReadFile(path)
	if err != nil || int64(len(b)) <= from {
		return "it said nothing"
	}
	lines := strings.Split(strings.TrimSpace(string(b[from:])), "\n")
	return cut(plain(strings.TrimPrefix(lines[len(lines)-1], "clearbox: ")), 300)
}

// lastLaunch is how a server was started, for the next restart.
type lastLaunch struct {
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
}

// launchFile is where the last launch of the server on a port is kept.
func launchFile(port int) string {
	return filepath.Join(dataDir(), "background-"+strconv.Itoa(port)+".json")
}

func (b *background) remember() error {
	dir := b.dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return fmt.Errorf("find the current folder: %w", err)
		}
	}
	kept, err := json.Marshal(lastLaunch{b.args, dir})
	if err == nil {
		err = os.WriteFile(launchFile(b.options.port), kept, 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember how the server was started: %w", err)
	}
	return nil
}

// recall takes over how the server on the port was started, if that is known.
// The flags at hand come after those of then.
func (b *background) recall() error {
	kept, err := os.ReadFile(launchFile(b.options.port))
	var l lastLaunch
	if err != nil || json.Unmarshal(kept, &l) != nil {
		return nil
	}
	if info, err := os.Stat(l.Dir); err != nil || !info.IsDir() {
		return nil
	}
	args, f := append(l.Args, b.args...), newFlags()
	o := serverFlags(f)
	if _, err := f.parse(args, os.Getenv); err != nil {
		return nil // from a version with other flags
	}
	if err := o.complete(f, os.Getenv); err != nil {
		return err
	}
	if o.authToken != "" && !filepath.IsAbs(o.authToken) {
		o.authToken = filepath.Join(l.Dir, o.authToken)
	}
	b.options, b.args, b.dir = o, args, l.Dir
	return nil
}
