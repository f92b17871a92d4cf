package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

// harness implements [plugin.Harness].
type harness struct {
	getenv func(string) string
	root   bool // this process has the rights of root
	pace   pace
}

// pace is what the harness does with time, apart from the settings of a profile.
type pace struct {
	now      func() time.Time
	farewell time.Duration // from the result to the end of the program
}

func newHarness() *harness {
	return &harness{getenv: os.Getenv, root: os.Geteuid() == 0, pace: pace{now: time.Now, farewell: 5 * time.Second}}
}

// Info implements [plugin.Harness].
func (h *harness) Info(context.Context) (plugin.Info, error) {
	schema, err := catalogue().Schema()
	if err != nil {
		return plugin.Info{}, fmt.Errorf("describe the settings: %w", err)
	}
	return plugin.Info{
		Slug:         "claude",
		Name:         "Claude Code",
		Version:      version(),
		Capabilities: []plugin.Capability{plugin.Read, plugin.Run, plugin.Edit, plugin.Full},
		Features:     plugin.Features{MCP: true, Resume: true, Ask: true, Usage: true, Cost: true},
		Settings:     schema,
	}, nil
}

func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "dev"
}

// Run implements [plugin.Harness].
func (h *harness) Run(ctx context.Context, t plugin.Task, host plugin.Host) (plugin.Result, error) {
	set, bad := h.readProfile(t.Profile)
	scrub := secrets.New(t.Profile.Secret, set.access.key, secrets.OfURL(t.MCPURL))
	if bad != nil {
		return plugin.Result{}, fmt.Errorf("the agent profile %q cannot run: %s", t.Profile.Name, scrub.Text(bad.Text))
	}
	s, err := h.openSession(ctx, set, t, secrets.Host{Host: host, Scrub: scrub})
	switch {
	case err != nil && ctx.Err() != nil:
		return plugin.Result{}, ctx.Err() // it was stopped meanwhile
	case err != nil:
		return plugin.Result{}, fmt.Errorf("%s", scrub.Text(err.Error()))
	}
	defer s.close()
	res, err := s.run(ctx)
	return scrub.Result(res), err
}
