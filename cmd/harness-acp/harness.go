package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

// harness implements [plugin.Harness].
type harness struct {
	farewell time.Duration // from the end of the work to the end of the program
}

func newHarness() *harness { return &harness{farewell: 2 * time.Second} }

// Info implements [plugin.Harness].
func (h *harness) Info(context.Context) (plugin.Info, error) {
	schema, err := catalogue().Schema()
	if err != nil {
		return plugin.Info{}, fmt.Errorf("describe the settings: %w", err)
	}
	return plugin.Info{
		Slug: "acp", Name: "ACP agent", Version: version(),
		// No capability is named: an agent that does not ask, or calls a command a
		// search, is not kept from anything by this side of the protocol.
		Features: plugin.Features{MCP: true, Resume: true, Ask: true, Usage: true, Cost: true},
		Settings: schema,
	}, nil
}

func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "dev"
}

// find looks for the agent program.
func (s setup) find() *settings.Fault {
	if _, err := exec.LookPath(s.command[0]); err != nil {
		return settings.Wrong("params.command", "params.command: the program %s was not found on the PATH of Clearbox: install it, or name its whole path", s.command[0])
	}
	return nil
}

// Run implements [plugin.Harness].
func (h *harness) Run(ctx context.Context, t plugin.Task, host plugin.Host) (plugin.Result, error) {
	scrub := secrets.New(t.Profile.Secret, secrets.OfURL(t.MCPURL))
	set, bad := readProfile(t.Profile)
	if bad == nil {
		bad = set.find()
	}
	if bad != nil {
		return plugin.Result{}, fmt.Errorf("the agent profile %q cannot run: %s", t.Profile.Name, scrub.Text(bad.Text))
	}
	s, err := h.open(set, t, secrets.Host{Host: host, Scrub: scrub})
	if err != nil {
		return plugin.Result{}, err
	}
	defer s.kit.Close()
	res, err := s.run(ctx)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s", scrub.Text(err.Error()))
	}
	return scrub.Result(res), err
}
