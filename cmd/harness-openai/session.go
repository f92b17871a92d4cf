package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

// session is one run: the conversation with its tools and counts.
type session struct {
	setup
	task   plugin.Task
	host   plugin.Host
	scrub  secrets.Scrubber
	id     string
	kit    *toolkit.Kit
	remote *remote // nil when there are no tools of Clearbox
	client *client

	history []message
	ids     map[string]bool // of tool calls, over the whole run
	turns   int
	said    string // the last text that was not blank
	nudged  bool   // an empty reply was asked for once more

	in, out int64
	counted bool // the endpoint gave counts
}

// openSession makes the tools ready. Tools of Clearbox that cannot be reached cost
// the run those tools, not more.
func openSession(ctx context.Context, set setup, t plugin.Task, host plugin.Host) (*session, error) {
	c, err := toolkit.ForTask(t, host)
	if err != nil {
		return nil, err
	}
	kit, err := toolkit.New(c)
	if err != nil {
		return nil, err
	}
	s := &session{setup: set, task: t, host: host, id: "openai-" + strings.ToLower(rand.Text()[:16]), kit: kit, ids: map[string]bool{}}
	s.tools = c.Tools
	s.begin()
	if t.MCPURL != "" && s.tools.WantsMCP() {
		if s.remote, err = connectRemote(ctx, t.MCPURL); err != nil {
			host.Emit(plugin.Err(fmt.Sprintf("the tools of Clearbox are not there in this run: %v", err)))
		}
	}
	return s, nil
}

func (s *session) close() {
	s.remote.close()
	_ = s.kit.Close()
}

// begin tells that the session started, with where its model is.
func (s *session) begin() {
	e := plugin.System("session started", plugin.SessionInfo{SessionID: s.id, Model: s.model, Cwd: s.task.WorkDir})
	var data map[string]any
	if json.Unmarshal(e.Data, &data) == nil {
		data["base_url"] = s.endpoint.shown()
		if raw, err := json.Marshal(data); err == nil {
			e.Data = raw
		}
	}
	s.host.Emit(e)
}

// note tells of waiting, so that a run that waits is not taken for one that hangs.
func (s *session) note(text string) { s.host.Emit(plugin.Log(text, "")) }

func (s *session) toolDefs() []toolDef {
	var out []toolDef
	for _, t := range s.kit.Tools() {
		out = append(out, toolDef{Type: "function", Function: toolSpec{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	return append(out, s.remote.defs(s.tools)...)
}

func (s *session) offers(name string) bool {
	return slices.ContainsFunc(s.client.defs, func(d toolDef) bool { return d.Function.Name == name })
}

// runTool runs one call for the model and returns what to tell it.
func (s *session) runTool(ctx context.Context, name string, input json.RawMessage) (text string, isErr bool) {
	switch {
	case !s.offers(name):
		return s.noSuchTool(name), true
	case strings.HasPrefix(name, toolkit.RemotePrefix):
		return s.remote.call(ctx, name, input)
	}
	return s.kit.Call(ctx, name, input)
}

func (s *session) noSuchTool(name string) string {
	if len(s.client.defs) == 0 {
		return fmt.Sprintf("there is no tool %q: you have no tools in this session", name)
	}
	var have []string
	for _, d := range s.client.defs {
		have = append(have, d.Function.Name)
	}
	return fmt.Sprintf("there is no tool %q: you have %s", name, strings.Join(have, ", "))
}

// newID returns an id for a tool call that no other call of the run has. Endpoints
// leave ids out, or use the same ones again in every turn.
func (s *session) newID(given string, n int) string {
	id := given
	for i := 0; id == "" || s.ids[id]; i++ {
		id = fmt.Sprintf("call_%d_%d", s.turns, n+1+i)
	}
	s.ids[id] = true
	return id
}

func (s *session) count(u *wireUsage) {
	if u == nil {
		return
	}
	s.counted = true
	s.in, s.out = s.in+u.In, s.out+u.Out
	s.host.Emit(plugin.Usage(u.In, u.Out))
}
