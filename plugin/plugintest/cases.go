package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

func (c *check) starts(ctx context.Context) {
	if p, ok := c.launch(); ok {
		c.connect(p)
	}
}

// byHand starts the executable without the cookie: it must say what it is and
// end, not wait for a host.
func (c *check) byHand(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, c.o.Args...)
	cmd.Env = c.command().Env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		c.fail("started by hand, it does not end within %s", startTimeout)
	case err == nil:
		c.fail("started by hand, it ends with exit code 0 as if all were well")
	case strings.TrimSpace(string(out)) == "":
		c.fail("started by hand, it does not say why it ends")
	}
}

// about gets the description, which must not take long.
func (c *check) about(ctx context.Context) (plugin.Info, bool) {
	p, ok := c.launch()
	if !ok {
		return plugin.Info{}, false
	}
	conn, ok := c.connect(p)
	if !ok {
		return plugin.Info{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	info, err := conn.client.Info(ctx)
	if err != nil {
		c.fail("Info: %v", err)
	}
	return info, err == nil
}

var slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (c *check) info(ctx context.Context) {
	info, ok := c.about(ctx)
	if !ok {
		return
	}
	if !slugForm.MatchString(info.Slug) {
		c.fail("Info.Slug %q must be lower-case letters, digits and single dashes", info.Slug)
	}
	file := strings.TrimSuffix(filepath.Base(c.path), ".exe")
	if slug, ok := strings.CutPrefix(file, "harness-"); ok && slugForm.MatchString(slug) && slug != info.Slug {
		c.fail("Info.Slug is %q, but the file is named %s", info.Slug, file)
	}
	if info.Name == "" || info.Version == "" {
		c.fail("Info.Name and Info.Version must not be empty")
	}
	seen := map[plugin.Capability]bool{}
	for _, x := range info.Capabilities {
		if !slices.Contains([]plugin.Capability{plugin.Read, plugin.Run, plugin.Edit, plugin.Full}, x) || seen[x] {
			c.fail("Info.Capabilities has %q, which is unknown or there twice", x)
		}
		seen[x] = true
	}
}

// settings checks the parts of JSON Schema that the form is built from.
func (c *check) settings(ctx context.Context) {
	info, ok := c.about(ctx)
	if !ok {
		return
	}
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(info.Settings, &schema); err != nil {
		c.fail("Info.Settings is not a JSON Schema: %v", err)
		return
	}
	if schema.Type != "object" {
		c.fail(`Info.Settings must have "type": "object", but it has %q`, schema.Type)
	}
	for name, raw := range schema.Properties {
		if err := checkSetting(raw); err != nil {
			c.fail("Info.Settings: property %s %v", name, err)
		}
	}
	for _, name := range schema.Required {
		if _, ok := schema.Properties[name]; !ok {
			c.fail("Info.Settings requires %s, which is no property", name)
		}
	}
}

// checkSetting says what is wrong with the schema of one property.
func checkSetting(raw json.RawMessage) error {
	var anything bool
	if json.Unmarshal(raw, &anything) == nil {
		return nil // true and false are schemas, too
	}
	var p map[string]json.RawMessage
	if err := json.Unmarshal(raw, &p); err != nil {
		return errors.New("is not a schema")
	}
	var types []string
	if json.Unmarshal(p["type"], &types) != nil && len(p["type"]) > 0 {
		types = make([]string, 1)
		if json.Unmarshal(p["type"], &types[0]) != nil {
			return errors.New(`has a "type" that is neither a name nor a list of names`)
		}
	}
	known := []string{"string", "number", "integer", "boolean", "object", "array", "null"}
	for _, t := range types {
		if !slices.Contains(known, t) {
			return fmt.Errorf("has the unknown type %q", t)
		}
	}
	return nil
}

// profile calls Check without a connection, with the profile of the options and
// with one that no harness can like.
func (c *check) profile(ctx context.Context) {
	p, ok := c.launch()
	if !ok {
		return
	}
	conn, ok := c.connect(p)
	if !ok {
		return
	}
	bad := c.o.Profile
	bad.Params = json.RawMessage(`["no","object"]`)
	for _, tt := range []struct {
		what    string
		profile plugin.Profile
	}{{"the profile", c.o.Profile}, {"params that are no object", bad}} {
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		r, err := conn.client.Check(short, tt.profile, false)
		cancel()
		var refused *plugin.Error
		switch {
		case err != nil && !errors.As(err, &refused):
			c.fail("Check of %s: %v", tt.what, err)
		case refused != nil && refused.Kind == plugin.KindPanic:
			c.fail("Check of %s: %v", tt.what, err)
		case err == nil && !r.OK && r.Detail == "":
			c.fail("Check of %s says no without saying why", tt.what)
		case err == nil && r.OK && tt.what != "the profile":
			c.fail("Check accepts %s", tt.what)
		}
	}
}

func (c *check) quick(ctx context.Context) {
	if _, conn, ok := c.start(ctx, c.o.Quick); ok {
		if t, ok := c.read(ctx, conn, 0, nil); ok && t.unanswered() > 0 && !t.result.IsError {
			c.fail("%d tool calls have no result", t.unanswered())
		}
	}
}

func (c *check) tools(ctx context.Context) {
	if !known(c.o.Tools) {
		c.skip("no task that uses tools was given")
		return
	}
	_, conn, ok := c.start(ctx, c.o.Tools)
	if !ok {
		return
	}
	t, ok := c.read(ctx, conn, 0, nil)
	if !ok {
		return
	}
	if t.tools == 0 {
		c.fail("the run called no tool; its result: %.300s", t.result.Text)
	}
	if t.unanswered() > 0 {
		c.fail("%d tool calls have no result", t.unanswered())
	}
}

func (c *check) stop(ctx context.Context) {
	task := c.o.Long
	if !known(task) {
		task = c.o.Quick
	}
	_, conn, ok := c.start(ctx, task)
	if !ok {
		return
	}
	var asked time.Time
	session := conn.client.Attach(conn.run)
	t, ok := c.read(ctx, conn, 0, func(plugin.Event) {
		if asked.IsZero() {
			asked = time.Now()
			if err := session.Stop(ctx); err != nil {
				c.fail("Stop: %v", err)
			}
		}
	})
	switch took := time.Since(asked); {
	case !ok:
	case asked.IsZero():
		c.skip("the run ended without an event to stop at: %.300s", t.result.Text)
	case took > c.o.StopGrace:
		c.fail("the result came %s after the stop, more than %s", took.Round(time.Millisecond), c.o.StopGrace)
	case !t.result.IsError && known(c.o.Long):
		c.fail("a run that was stopped ended as a success: %.300s", t.result.Text)
	}
}

// maxMemory is what a harness may take while it swallows big output, in kB.
const maxMemory = 512 << 10

func (c *check) big(ctx context.Context) {
	if !known(c.o.Big) {
		c.skip("no task with big output was given")
		return
	}
	p, conn, ok := c.start(ctx, c.o.Big)
	if !ok {
		return
	}
	if _, ok := c.read(ctx, conn, 0, nil); !ok {
		return
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return // only Linux tells
	}
	var kb int
	if m := regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(status); m != nil {
		fmt.Sscan(string(m[1]), &kb)
	}
	if kb > maxMemory {
		c.fail("it took %d MB of memory, more than %d MB", kb>>10, maxMemory>>10)
	}
}

func (c *check) ask(ctx context.Context) {
	if !known(c.o.Ask) {
		c.skip("no task that asks was given")
		return
	}
	_, conn, ok := c.start(ctx, c.o.Ask)
	if !ok {
		return
	}
	t, ok := c.read(ctx, conn, 0, nil)
	switch {
	case !ok:
	case len(t.asked) == 0:
		c.fail("the run asked nothing; its result: %.300s", t.result.Text)
	case t.taken != len(t.asked):
		c.fail("of %d answers %d were taken", len(t.asked), t.taken)
	}
}
