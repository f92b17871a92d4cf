package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

// harness implements [plugin.Harness].
type harness struct {
	http *http.Client
	pace pace
}

// pace is what the harness does with time, apart from the settings of a profile.
type pace struct {
	sleep    func(context.Context, time.Duration) error // between attempts
	farewell time.Duration                              // for the rest of a stream after its finish reason
}

func newHarness() *harness {
	return &harness{http: newHTTPClient(), pace: pace{sleep: sleep, farewell: 5 * time.Second}}
}

// newHTTPClient returns a client that follows no redirect: one would turn the POST
// into a GET, or take the key to another host.
func newHTTPClient() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Info implements [plugin.Harness].
func (h *harness) Info(context.Context) (plugin.Info, error) {
	schema, err := catalogue().Schema()
	if err != nil {
		return plugin.Info{}, fmt.Errorf("describe the settings: %w", err)
	}
	return plugin.Info{
		Slug:         "openai",
		Name:         "OpenAI-compatible endpoint",
		Version:      version(),
		Capabilities: []plugin.Capability{plugin.Read, plugin.Run, plugin.Edit, plugin.Full},
		Features:     plugin.Features{MCP: true, Usage: true, Cost: true, Model: true},
		Settings:     schema,
	}, nil
}

func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "dev"
}

// setup is a profile that has been read and found good.
type setup struct {
	endpoint endpoint
	params   params
	tools    toolkit.Selection
	model    string
}

// readProfile checks a profile without touching the network.
func readProfile(p plugin.Profile) (setup, *settings.Fault) {
	var s setup
	var err error
	if p.Model == "" {
		return s, settings.Wrong("model", "no model is set: enter the model's name as the endpoint knows it")
	}
	s.model = p.Model
	var bad *settings.Fault
	if s.endpoint, bad = readEndpoint(p); bad != nil {
		return s, bad
	}
	if s.params, bad = readParams(p.Params); bad != nil {
		return s, bad
	}
	if s.tools, err = toolkit.ParseSelection(p.Tools); err != nil {
		return s, settings.Wrong("tools", "%v", err)
	}
	return s, nil
}

// Run implements [plugin.Harness].
func (h *harness) Run(ctx context.Context, t plugin.Task, host plugin.Host) (plugin.Result, error) {
	scrub := secrets.New(t.Profile.Secret, secrets.OfURL(t.MCPURL))
	set, bad := readProfile(t.Profile)
	if bad != nil {
		return plugin.Result{}, fmt.Errorf("the agent profile %q cannot run: %s", t.Profile.Name, scrub.Text(bad.Text))
	}
	host = secrets.Host{Host: host, Scrub: scrub}
	s, err := openSession(ctx, set, t, host)
	if err != nil {
		return plugin.Result{}, fmt.Errorf("%s", scrub.Text(err.Error()))
	}
	defer s.close()
	s.client = &client{http: h.http, pace: h.pace, setup: set, note: s.note, defs: s.toolDefs()}
	s.scrub = scrub
	res, err := s.run(ctx)
	return scrub.Result(res), err
}
