package plugin

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
)

const (
	// GraceEnv names the environment variable that says how long a harness waits
	// for a host after its run ended, as a Go duration such as "10m".
	GraceEnv = "CLEARBOX_RESULT_GRACE"

	defaultGrace = 10 * time.Minute
	firstGrace   = time.Minute // for the very first connection

	maxSocketPath = 103 // what macOS allows; Linux allows 107

	quitWait = 1500 * time.Millisecond // go-plugin's Kill waits 2 s
	termWait = 2500 * time.Millisecond // Clearbox kills 4 s after its SIGTERM
	termTell = time.Second             // then, for the host to take the results
)

// Serve runs a harness process: it connects h with the host that started it and
// returns when it is not needed any more. main calls nothing else.
//
// The process outlives its host. It goes on with its run, keeps what it has to
// tell, and waits for a host to come back; 10 minutes after the run ended it
// gives up. It ends earlier when the host says so or at SIGTERM, and then stops
// its run first. SIGINT and SIGHUP, which reach whole terminals, are ignored.
//
// os.Stdout belongs to the handshake. What is printed there later goes where
// os.Stderr goes; both may be used at any time, host or no host.
func Serve(h Harness) {
	if err := serve(h); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(h Harness) error {
	hs := Handshake()
	switch {
	case os.Getenv(hs.MagicCookieKey) != hs.MagicCookieValue:
		return fmt.Errorf("%s is a harness of Clearbox, which starts it by itself.\nTry it with: clearbox harness check %[1]s", os.Args[0])
	case os.Getenv("PLUGIN_CLIENT_CERT") != "":
		return errors.New("the host asks for TLS, which rules out that it comes back after a restart: turn AutoMTLS off")
	}
	grace, err := graceTime()
	if err != nil {
		return err
	}
	term := heedSignals()
	socket, remove, err := listen()
	if err != nil {
		return fmt.Errorf("open the harness's socket: %w", err)
	}
	defer remove()
	if err := announce(socket.Addr()); err != nil {
		return fmt.Errorf("tell the host the address: %w", err)
	}
	i := newIdle(firstGrace, grace)
	runs := newTable(i)
	quit := make(chan struct{})
	rpcServer := &goplugin.RPCServer{
		Plugins: goplugin.PluginSet{Name: &bridge{&server{h, runs}}},
		Stdout:  nothing{}, Stderr: nothing{},
		DoneCh: quit,
	}
	go rpcServer.Serve(listener{socket, i}) // until the process ends
	select {
	case <-quit:
		endQuickly(runs)
	case <-i.over:
	case <-term:
		endGently(runs, i, term)
	}
	return nil
}

// nothing stands for the two streams that go-plugin would carry over the
// connection. Its own Serve puts pipes in the place of os.Stdout and os.Stderr,
// which fill up and block as soon as no host reads them; here they stay the
// descriptors that the process was born with, where a dead reader is an error
// that nobody has to look at.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

func graceTime() (time.Duration, error) {
	s := os.Getenv(GraceEnv)
	if s == "" {
		return defaultGrace, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s=%q must be a duration such as 10m", GraceEnv, s)
	}
	return d, nil
}

// heedSignals returns the channel of SIGTERM. The others are caught rather than
// ignored, because programs inherit what is ignored: with SIGPIPE ignored,
// `yes | head` of an agent would complain. A caught SIGPIPE makes writing to a
// dead host's pipe a plain error.
func heedSignals() <-chan os.Signal {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGINT, syscall.SIGHUP)
	term := make(chan os.Signal, 2)
	signal.Notify(term, syscall.SIGTERM)
	return term
}

// listen opens a socket in a new folder that only this user can enter: where
// go-plugin wants it, else in TMPDIR, else, when those names are too long for a
// socket, in /tmp.
func listen() (net.Listener, func(), error) {
	dir := os.Getenv(goplugin.EnvUnixSocketDir)
	for _, base := range []string{dir, os.TempDir(), "/tmp"} {
		if base == "" {
			continue
		}
		folder, err := os.MkdirTemp(base, "h-")
		if err != nil {
			return nil, nil, err
		}
		remove := func() { _ = os.RemoveAll(folder) }
		path := filepath.Join(folder, "s")
		if len(path) > maxSocketPath && base != "/tmp" {
			remove()
			continue
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			remove()
			return nil, nil, err
		}
		return l, remove, nil
	}
	return nil, nil, errors.New("no folder for it has a short enough name")
}

// announce tells the host where to connect, in go-plugin's words, and gives up
// stdout: go-plugin stops reading it after one long line, and the next writer
// would block for ever.
func announce(a net.Addr) error {
	_, err := fmt.Printf("%d|%d|%s|%s|%s|\n", goplugin.CoreProtocolVersion, ProtocolVersion,
		a.Network(), a.String(), goplugin.ProtocolNetRPC)
	if err != nil {
		return err
	}
	return stderrForStdout()
}

// endQuickly is for a host that said quit: it will kill this process soon.
func endQuickly(runs *table) {
	runs.killAll()
	select {
	case <-runs.stopAll():
	case <-time.After(quitWait):
	}
}

// endGently stops the runs and lets the host have their results. A second
// SIGTERM ends the patience.
func endGently(runs *table, i *idle, term <-chan os.Signal) {
	i.hurry()
	done := runs.stopAll()
	select {
	case <-done:
	case <-term:
	case <-time.After(termWait):
	}
	runs.killAll()
	select {
	case <-done:
	case <-time.After(quitWait / 3):
		return // there is no result to hand over
	}
	select {
	case <-i.over: // the host took them and left
	case <-term:
	case <-time.After(termTell):
	}
}
