package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"github.com/clearbox-go/clearbox/plugin"
)

// Reattach comes back to a run that an earlier server launched. Following the
// session from the last stored event on loses none and repeats none.
//
// A process that is gone gives a [*Lost], one that never got its task
// [ErrNotStarted]; in both cases nothing of it is left running. Its folder stays
// for [Manager.Sweep], so that asking again gives the same answer.
func (m *Manager) Reattach(ctx context.Context, attach []byte) (plugin.Session, error) {
	var r record
	if err := json.Unmarshal(attach, &r); err != nil {
		return nil, fmt.Errorf("read how to come back to a run: %w", err)
	}
	if r.Version != recordVersion || r.Dir == "" || r.Run == "" {
		return nil, fmt.Errorf("read how to come back to a run: version %d of the record is not known", r.Version)
	}
	p, err := m.adopt(ctx, r)
	if err != nil {
		return nil, err
	}
	inner, err := p.resume(ctx, r)
	switch {
	case err == nil:
		return m.newSession(p, inner), nil
	case p.isDetached():
		return nil, ErrDetached
	case ctx.Err() != nil: // a slow machine is no reason to end the run
		p.detach()
		m.forget(r.Dir)
		return nil, ctx.Err()
	}
	p.disconnect()
	gone := p.wait(silentFor)
	if !gone {
		p.kill()
	}
	m.forget(r.Dir)
	if errors.Is(err, ErrNotStarted) {
		return nil, fmt.Errorf("come back to run %s: %w", r.Run, ErrNotStarted)
	}
	l := p.ending().lost()
	if !gone {
		l.Exit = fmt.Sprintf("could not be reached again (%v), and was ended: %s", err, l.Exit)
	}
	return nil, l
}

// adopt connects to the supervisor of a run and holds its process.
func (m *Manager) adopt(ctx context.Context, r record) (*process, error) {
	p := &process{folder: folder{r.Dir, r.Sockets}, addr: r.Address}
	l, err := dialLink(ctx, p.folder.supervisorSocket(), r.Supervisor)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, p.abandoned(r)
	}
	p.link = l
	if err := m.hold(p); err != nil {
		l.detach()
		return nil, err
	}
	if err := m.spawn(l.watch); err != nil {
		return nil, err
	}
	return p, nil
}

// abandoned ends what may be left of a run whose supervisor cannot be reached.
func (p *process) abandoned(r record) error {
	r.Supervisor.signal(syscall.SIGKILL)
	killStrays(r.Dir, r.Harness)
	return p.folder.readExit().lost()
}

// resume connects to the harness and makes sure that it knows the run.
func (p *process) resume(ctx context.Context, r record) (plugin.Session, error) {
	if _, err := p.link.hello(ctx); err != nil {
		return nil, err
	}
	if r.Protocol != plugin.ProtocolVersion {
		return nil, fmt.Errorf("it speaks version %d of the harness contract, this Clearbox speaks %d", r.Protocol, plugin.ProtocolVersion)
	}
	client, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	// Asking for the events from the start on acknowledges nothing. It is refused
	// when some were acknowledged, which says as well that the run is there.
	_, err = client.Next(ctx, plugin.Request{Run: r.Run, Max: 1})
	var answer *plugin.Error
	switch {
	case errors.As(err, &answer) && answer.Kind == plugin.KindNotFound:
		return nil, ErrNotStarted
	case err != nil && answer == nil:
		return nil, err
	}
	return client.Attach(r.Run), nil
}
