package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

// session is one run. Usually it is one process of the program; one more when the
// session to be resumed turns out to be gone.
type session struct {
	setup
	h       *harness
	task    plugin.Task
	host    plugin.Host
	secrets secrets.Scrubber
	program string
	folder  folder
	proxy   *proxy // nil with the login
	guard   *guard

	id     string // of the session, for the program
	resume string // the session to go on with, "" for none
	mark   string // of everything that the run starts

	count counter // of the goroutine that reads lines, as ids is
	ids   ids

	mu    sync.Mutex // guards what follows
	begun bool       // "session started" was told
	early []plugin.Event
}

// openSession makes everything ready that a run needs. The caller closes it.
func (h *harness) openSession(ctx context.Context, set setup, t plugin.Task, host secrets.Host) (*session, error) {
	s := &session{setup: set, h: h, task: t, host: host, secrets: host.Scrub, id: newUUID(), resume: t.ResumeSession, mark: rand.Text()}
	g, err := newGrants(t, set)
	if err != nil {
		return nil, err
	}
	s.guard = newGuard(t, g, h.getenv("HOME"))
	var bad *settings.Fault
	if s.program, bad = h.findProgram(set.program); bad != nil {
		return nil, bad
	}
	if _, bad = programVersion(ctx, s.program); bad != nil {
		return nil, bad
	}
	if set.access.base != nil {
		if s.proxy, err = startProxy(set.access, s.secrets, h.pace.now); err != nil {
			return nil, err
		}
		s.secrets = secrets.New(t.Profile.Secret, set.access.key, secrets.OfURL(t.MCPURL), s.proxy.token)
		s.host = secrets.Host{Host: host.Host, Scrub: s.secrets}
	}
	if s.folder, err = openFolder(t.RunDir); err != nil {
		s.proxy.close()
		return nil, err
	}
	s.guard.readable = []string{s.folder.temp()}
	return s, nil
}

// close ends the proxy and removes the files of the run.
func (s *session) close() {
	s.proxy.close()
	s.folder.remove()
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// run plays the session to its end.
func (s *session) run(ctx context.Context) (plugin.Result, error) {
	if s.modeSet && s.mode != s.guard.mode {
		s.note("the permission mode %s counts only at capability full without limits; this run has %s", s.mode, s.guard.mode)
	}
	for {
		l, err := s.prepare()
		if err != nil {
			return plugin.Result{}, err
		}
		a := newAttempt(s)
		if err := a.play(ctx, l); err != nil {
			return plugin.Result{SessionID: s.sessionID()}, err
		}
		if s.resume != "" && a.noSuchSession() {
			s.note("the session %s is not there any more: a new one begins", s.resume)
			s.resume = ""
			continue
		}
		return a.verdict(), nil
	}
}

// sessionID is the id under which a later run can go on, "" when there is none yet.
func (s *session) sessionID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		return s.resume
	}
	return s.id
}

// begin tells that the session started, once; what came before follows.
func (s *session) begin(i initLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		return
	}
	s.begun = true
	if i.SessionID != "" {
		s.id = i.SessionID
	}
	s.host.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: s.id, Model: i.Model, Cwd: i.Cwd}))
	for _, e := range s.early {
		s.host.Emit(e)
	}
	s.early = nil
}

// emit tells an event, not before the session started.
func (s *session) emit(e plugin.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.early = append(s.early, e)
		return
	}
	s.host.Emit(e)
}

// note tells something that is only for who looks for a fault.
func (s *session) note(format string, args ...any) {
	s.emit(plugin.Log(fmt.Sprintf(format, args...), ""))
}

// ids makes the ids of tool calls unique in the run: a model may use one twice.
type ids struct {
	used map[string]int
	open map[string][]string
}

// call returns the id under which a call is told.
func (i *ids) call(id string) string {
	if i.used == nil {
		i.used, i.open = map[string]int{}, map[string][]string{}
	}
	unique := id
	if i.used[id]++; i.used[id] > 1 || id == "" {
		unique = fmt.Sprintf("%s#%d", id, i.used[id])
	}
	i.open[id] = append(i.open[id], unique)
	return unique
}

// answer returns the id of the oldest call that waits for this result.
func (i *ids) answer(id string) (string, bool) {
	waiting := i.open[id]
	if len(waiting) == 0 {
		return "", false
	}
	i.open[id] = waiting[1:]
	return waiting[0], true
}

// oneLine shortens a text to what fits in a sentence.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > 500 {
		return string(r[:500]) + "…"
	}
	return s
}
