package harness

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
)

// starter starts a supervisor on go-plugin's behalf. go-plugin drives only the
// start and the handshake through it; once they are done it is closed, and the
// life of the process is this package's business.
type starter struct {
	supervisor []string // program and arguments
	folder     folder
	env        []string
	adopted    func(*link) error // told of the process as soon as it exists

	link           *link
	stdout, stderr *os.File
	first          head // of standard output
	closed         chan struct{}
	once           sync.Once
}

// runner is go-plugin's RunnerFunc: cmd holds the variables that the handshake
// needs.
func (s *starter) runner(_ hclog.Logger, cmd *exec.Cmd, tmp string) (runner.Runner, error) {
	// One folder less in the socket's name, which has to be short.
	_ = os.Remove(tmp)
	s.env = slices.Concat(s.env, cmd.Env, []string{goplugin.EnvUnixSocketDir + "=" + s.folder.sockets})
	return s, nil
}

// Start implements [runner.Runner].
func (s *starter) Start(context.Context) error {
	var outW, errW *os.File
	var err error
	if s.stdout, outW, err = os.Pipe(); err != nil {
		return err
	}
	defer outW.Close()
	if s.stderr, errW, err = os.Pipe(); err != nil {
		return err
	}
	defer errW.Close()
	cmd := exec.Command(s.supervisor[0], s.supervisor[1:]...)
	cmd.Dir, cmd.Env = s.folder.dir, s.env
	cmd.Stdout, cmd.Stderr = outW, errW
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.link, err = pairedLink(cmd); err != nil {
		return err
	}
	return s.adopted(s.link)
}

// close ends go-plugin's part: its goroutines see the end of their streams and
// of the process, though the process goes on.
func (s *starter) close() {
	s.once.Do(func() {
		close(s.closed)
		for _, f := range []*os.File{s.stdout, s.stderr} {
			if f != nil {
				_ = f.Close()
			}
		}
	})
}

// Wait implements [runner.AttachedRunner].
func (s *starter) Wait(context.Context) error {
	<-s.closed
	return nil
}

// Kill implements [runner.AttachedRunner].
func (s *starter) Kill(context.Context) error {
	if s.link != nil {
		s.link.stop(stopKill)
	}
	return nil
}

// Stdout implements [runner.Runner].
func (s *starter) Stdout() io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(s.stdout, &s.first), s.stdout}
}

// Stderr implements [runner.Runner]. It is the supervisor's own, which tells
// only why it cannot do its work.
func (s *starter) Stderr() io.ReadCloser { return s.stderr }

// Name implements [runner.Runner].
func (s *starter) Name() string {
	return filepath.Base(s.supervisor[len(s.supervisor)-1]) // the harness
}

// ID implements [runner.AttachedRunner].
func (s *starter) ID() string {
	if s.link == nil {
		return ""
	}
	return strconv.Itoa(s.link.supervisor.Pid)
}

// Diagnose implements [runner.Runner]. What there is to say, refusal says.
func (s *starter) Diagnose(context.Context) string { return "" }

// PluginToHost implements [runner.AddrTranslator]. Only sockets in the file
// system are private to this user.
func (s *starter) PluginToHost(network, addr string) (string, string, error) {
	if network != "unix" {
		return "", "", errNotUnix
	}
	return network, addr, nil
}

// HostToPlugin implements [runner.AddrTranslator].
func (s *starter) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}

var errNotUnix = errors.New("it listens on the network; only unix sockets are taken")

// head keeps the beginning of what is written to it.
type head struct {
	mu  sync.Mutex
	buf []byte
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf = append(h.buf, p[:min(len(p), maxHandshake+1-len(h.buf))]...)
	return len(p), nil
}

// line is the first line, and whether there is one.
func (h *head) line() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	line, _, ok := strings.Cut(string(h.buf), "\n")
	return strings.TrimSpace(line), ok
}
