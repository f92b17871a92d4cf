package plugintest

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/clearbox-go/clearbox/plugin"
)

const (
	startTimeout = 10 * time.Second
	endTimeout   = 3 * time.Second // after SIGKILL
)

// process is one run of the executable.
type process struct {
	client *goplugin.Client
	cmd    *exec.Cmd
	addr   net.Addr
	stderr *buffer
	conns  []*connection
}

// command is the executable with the environment that it gets from Clearbox,
// more or less.
func (c *check) command() *exec.Cmd {
	cmd := exec.Command(c.path, c.o.Args...)
	cmd.Dir = c.folder("run")
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+c.folder("run"), plugin.GraceEnv+"=30s", c.mark())
	cmd.Env = append(cmd.Env, c.o.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// launch starts the executable up to the handshake.
func (c *check) launch() (*process, bool) {
	p := &process{cmd: c.command(), stderr: &buffer{}}
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: plugin.Handshake(), Plugins: plugin.PluginMap(),
		Cmd: p.cmd, SkipHostEnv: true, Stderr: p.stderr,
		StartTimeout: startTimeout, Logger: hclog.NewNullLogger(),
	})
	c.processes = append(c.processes, p)
	var err error
	if p.addr, err = p.client.Start(); err != nil {
		c.fail("start %s: %v", c.path, err)
		return nil, false
	}
	return p, true
}

// mark is a variable that all descendants of the case's processes inherit.
func (c *check) mark() string { return "HARNESS_TEST_MARK=" + filepath.Base(c.dir) }

// survivors are the processes that still run with the mark. Only Linux tells.
func (c *check) survivors() []int {
	var out []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		b, err := os.ReadFile(file) // that of others cannot be read, that of a zombie is empty
		if err == nil && bytes.Contains(b, []byte(c.mark())) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			out = append(out, pid)
		}
	}
	return out
}

// end kills the process with everything in its group.
func (p *process) end() {
	for _, conn := range p.conns {
		conn.cut()
	}
	if p.cmd.Process != nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if p.cmd.Process != nil && !p.exited(ctx) {
		return // something that left the group holds its stderr: Kill would wait for that
	}
	p.client.Kill()
}

// exited waits for the process to end by itself.
func (p *process) exited(ctx context.Context) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !p.client.Exited() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// connection is one connection to a process. It can be cut without a word, as by
// the death of a host; go-plugin's own client would say quit.
type connection struct {
	conn   net.Conn
	client *plugin.Client
	run    string
}

// connect dials p.
func (c *check) connect(p *process) (*connection, bool) {
	conn, err := net.DialTimeout(p.addr.Network(), p.addr.String(), startTimeout)
	if err != nil {
		c.fail("connect to the harness: %v", err)
		return nil, false
	}
	out := &connection{conn: conn}
	p.conns = append(p.conns, out)
	r, err := goplugin.NewRPCClient(quiet{conn}, plugin.PluginMap())
	if err == nil {
		out.client, err = plugin.NewClient(r)
	}
	if err != nil {
		c.fail("connect to the harness: %v", err)
		return nil, false
	}
	return out, true
}

// quiet keeps yamux from writing to stderr that it cannot say good bye to a
// harness that was cut off or killed. The end of a connection shows in Read.
type quiet struct{ net.Conn }

func (q quiet) Write(p []byte) (int, error) {
	_, _ = q.Conn.Write(p)
	return len(p), nil
}

func (c *connection) cut() { _ = c.conn.Close() }

// buffer keeps the end of what is written to it.
type buffer struct {
	mu sync.Mutex
	b  []byte
}

const keepStderr = 1 << 20

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = append(b.b, p...)
	if len(b.b) > keepStderr {
		b.b = append(b.b[:0], b.b[len(b.b)-keepStderr/2:]...)
	}
	return len(p), nil
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.ToValidUTF8(string(b.b), "?")
}
