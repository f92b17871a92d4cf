package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/clearbox-go/clearbox/plugin"
)

// process is one harness process under its supervisor, as the server sees it.
type process struct {
	folder  folder
	link    *link
	addr    string // of the harness's socket
	secrets []string

	mu       sync.Mutex // guards what follows
	conn     *conn
	detached bool
}

// open makes the folder of a process and starts the harness at path in it.
func (m *Manager) open(ctx context.Context, id, path string, orphanAfter time.Duration) (*process, error) {
	f, err := m.reserve(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := m.start(ctx, path, f, orphanAfter)
	if err != nil && !errors.Is(err, ErrDetached) {
		err = errors.Join(err, f.remove())
	}
	if err != nil {
		m.forget(f.dir)
		return nil, err
	}
	return p, nil
}

// start starts a harness and takes its handshake.
func (m *Manager) start(ctx context.Context, path string, f folder, orphanAfter time.Duration) (*process, error) {
	p := &process{folder: f}
	d := duty{folder: f, orphanAfter: orphanAfter, attached: true, argv: []string{path}}
	forget := func() bool { return true }
	s := &starter{
		supervisor: slices.Concat(m.o.Supervisor, d.args()),
		folder:     f,
		env:        environment(os.Environ(), m.o.PassEnv, f.dir),
		closed:     make(chan struct{}),
		adopted: func(l *link) error {
			p.link = l
			// go-plugin has no context; the end of the process ends its wait.
			forget = context.AfterFunc(ctx, func() { l.stop(stopKill) })
			return errors.Join(m.spawn(l.watch), m.hold(p))
		},
	}
	defer s.close()
	addr, err := m.handshake(s)
	forget()
	if err != nil {
		return nil, m.refused(ctx, p, s, err)
	}
	p.addr = addr.String()
	return p, nil
}

// handshake lets go-plugin start the process and read where it listens.
func (m *Manager) handshake(s *starter) (net.Addr, error) {
	return goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  plugin.Handshake(),
		Plugins:          plugin.PluginMap(),
		RunnerFunc:       s.runner,
		StartTimeout:     m.o.StartTimeout,
		SkipHostEnv:      true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolNetRPC},
		Logger:           newQuietLog(m.log),
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: s.folder.sockets},
	}).Start()
}

// connect connects to the harness.
func (p *process) connect(ctx context.Context) (*plugin.Client, error) {
	c, client, err := dialHarness(ctx, p.addr)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.detached {
		_ = c.Close()
		return nil, ErrDetached
	}
	p.conn = c
	return client, nil
}

// disconnect lets go of the harness, but not of its supervisor.
func (p *process) disconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		_ = p.conn.Close()
	}
}

// detach lets go of the process without ending it.
func (p *process) detach() {
	p.mu.Lock()
	p.detached = true
	p.mu.Unlock()
	p.link.detach()
	p.disconnect()
}

func (p *process) isDetached() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.detached
}

// kill ends the process with all its descendants and waits for that. It is the
// last means and always ends.
func (p *process) kill() {
	p.link.stop(stopKill)
	if p.wait(endWithin) {
		return
	}
	p.link.killSupervisor()
	if !p.wait(3 * reapWithin) {
		p.link.detach()
	}
}

// wait waits for the end of the process, at most d.
func (p *process) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.link.gone:
		return true
	case <-t.C:
		return false
	}
}

// ending is how a process that is gone ended. When its supervisor could not
// tell, what may be left of it is killed.
func (p *process) ending() exitRecord {
	e, ok := p.link.ending()
	if !ok {
		killStrays(p.folder.dir, p.link.lastHarness())
		e = p.folder.readExit()
	}
	e.Stderr = p.scrub(e.Stderr)
	return e
}

// scrub takes the secrets of the run out of a text.
func (p *process) scrub(s string) string {
	for _, secret := range p.secrets {
		s = strings.ReplaceAll(s, secret, "[secret]")
	}
	return s
}

// secretsOf are the texts of a task that no one may read in an output: the key,
// and the token at the end of the tools' address.
func secretsOf(t plugin.Task) []string {
	token := t.MCPURL[strings.LastIndexByte(t.MCPURL, '/')+1:]
	return slices.DeleteFunc([]string{t.Profile.Secret, token}, func(s string) bool {
		return len(s) < 4 // would take apart the text, and protects nothing
	})
}

// discard ends a process that did its work and removes every trace of it.
func (m *Manager) discard(p *process) error {
	if p.isDetached() {
		return ErrDetached
	}
	p.disconnect()
	p.kill()
	defer m.forget(p.folder.dir)
	if err := p.folder.remove(); err != nil {
		return fmt.Errorf("remove the run folder: %w", err)
	}
	return nil
}
