package harness

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// checkOrphan is how long a process that was started only to be asked something
// outlives its server.
const checkOrphan = time.Second

// record is what a later server needs to come back to a run: the attach bytes
// of Launch and Reattach.
type record struct {
	Version    int    `json:"version"`  // of this record
	Protocol   int    `json:"protocol"` // of the contract
	Run        string `json:"run"`
	Dir        string `json:"dir"`
	Sockets    string `json:"sockets"`
	Address    string `json:"address"` // the harness's socket
	Supervisor procID `json:"supervisor"`
	Harness    procID `json:"harness"`
}

const recordVersion = 1

// Launch starts a process for the run t.RunID and gives it its task. saved gets
// the record for [Manager.Reattach] when the process is there and before it has
// the task; when saved fails, or anything after it, the process is ended and its
// folder removed. A harness that is missing or refused is a [plan.Unavailable]
// error, a task that the harness refuses a [plan.Invalid] one. When the harness
// dies once it has the task, that is told by the session's Follow.
//
// The returned session is a [*Session]. ctx counts only until Launch returns.
func (m *Manager) Launch(ctx context.Context, slug string, t plugin.Task, saved func(attach []byte) error) (plugin.Session, error) {
	if err := checkRunID(t.RunID); err != nil {
		return nil, err
	}
	path, err := m.path(slug)
	if err != nil {
		return nil, err
	}
	p, err := m.open(ctx, t.RunID, path, m.o.OrphanAfter)
	if err != nil {
		return nil, startError(slug, err)
	}
	p.secrets = secretsOf(t)
	inner, err := m.begin(ctx, p, t, saved)
	if err != nil {
		if p.isDetached() {
			return nil, ErrDetached
		}
		return nil, errors.Join(startError(slug, err), m.discard(p))
	}
	return m.newSession(p, inner), nil
}

// begin has the record saved and gives the harness its task.
func (m *Manager) begin(ctx context.Context, p *process, t plugin.Task, saved func([]byte) error) (plugin.Session, error) {
	attach, err := p.record(ctx, t.RunID)
	if err != nil {
		return nil, err
	}
	if err := saved(attach); err != nil {
		return nil, fmt.Errorf("save how to come back to run %s: %w", t.RunID, err)
	}
	t.RunDir = p.folder.dir
	ctx, cancel := context.WithTimeout(ctx, m.o.StartTimeout)
	defer cancel()
	client, err := p.connect(ctx)
	if err != nil {
		return nil, p.explain(err)
	}
	s, err := client.Start(ctx, t)
	if errors.Is(err, plugin.ErrLost) {
		return client.Attach(t.RunID), nil // it may have begun: Follow tells how it ended
	}
	return s, err
}

func (p *process) record(ctx context.Context, run string) ([]byte, error) {
	h, err := p.link.hello(ctx)
	if err != nil {
		return nil, err
	}
	return json.Marshal(record{
		Version: recordVersion, Protocol: plugin.ProtocolVersion, Run: run,
		Dir: p.folder.dir, Sockets: p.folder.sockets, Address: p.addr,
		Supervisor: p.link.supervisor, Harness: h,
	})
}

// explain gives the end of the process in the place of an error that comes of it.
func (p *process) explain(err error) error {
	var answer *plugin.Error
	if err == nil || errors.As(err, &answer) || !p.wait(silentFor) {
		return err
	}
	return p.ending().lost()
}

// startError gives the error of a start its kind.
func startError(slug string, err error) error {
	var refused *refusal
	var answer *plugin.Error
	var lost *Lost
	switch {
	case errors.As(err, &refused):
		return &plan.Error{Kind: plan.Unavailable, Msg: fmt.Sprintf("harness %s does not start: %s", slug, refused.reason)}
	case errors.As(err, &lost):
		return &plan.Error{Kind: plan.Unavailable, Msg: fmt.Sprintf("harness %s ended at once: %s%s", slug, lost.Exit, printed(lost.Stderr)), Err: lost}
	case errors.As(err, &answer) && answer.Kind == plugin.KindInvalid:
		return &plan.Error{Kind: plan.Invalid, Msg: fmt.Sprintf("harness %s refuses the task: %s", slug, answer.Text)}
	case errors.Is(err, plugin.ErrLost):
		return &plan.Error{Kind: plan.Unavailable, Msg: fmt.Sprintf("harness %s does not answer", slug), Err: err}
	}
	return fmt.Errorf("start harness %s: %w", slug, err)
}

// Check asks a harness whether a profile would work here, in a process of its
// own that ends with the answer. Only with connect may it open connections.
func (m *Manager) Check(ctx context.Context, slug string, profile plugin.Profile, connect bool) (plugin.Report, error) {
	path, err := m.path(slug)
	if err != nil {
		return plugin.Report{}, err
	}
	var r plugin.Report
	err = m.visit(ctx, path, secretsOf(plugin.Task{Profile: profile}), func(ctx context.Context, c *plugin.Client) (err error) {
		r, err = c.Check(ctx, profile, connect)
		return err
	})
	if err != nil {
		return plugin.Report{}, startError(slug, err)
	}
	return r, nil
}

// visit starts a process only to ask it something.
func (m *Manager) visit(ctx context.Context, path string, secrets []string, ask func(context.Context, *plugin.Client) error) error {
	p, err := m.open(ctx, "check-"+strings.ToLower(rand.Text()), path, checkOrphan)
	if err != nil {
		return err
	}
	p.secrets = secrets
	start, cancel := context.WithTimeout(ctx, m.o.StartTimeout)
	defer cancel()
	client, err := p.connect(start)
	if err == nil {
		err = ask(ctx, client)
	}
	return errors.Join(p.explain(err), m.discard(p))
}
