// Package toolkit holds the file, search and shell tools of harnesses that bring
// none of their own. What a [Kit] offers and does is bounded by the capability of
// the run, its task type, the profile's tool settings and its folder.
//
// File tools never leave the working directory: paths are resolved component by
// component, symbolic links that lead out are refused, and what was resolved is
// then opened from a directory handle without following any link, so that a link
// swapped in during a call makes the call fail. bash has no such jail: a shell can
// always change its directory, and only a sandbox holds it. The programs that it
// starts are the business of [plugin.Host].
package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// Config says for what a kit is made.
type Config struct {
	// Host starts the programs of bash.
	Host plugin.Host
	// WorkDir is the absolute path of the folder that the file tools stay in.
	WorkDir string
	// Allowed is the capability of the run.
	Allowed plugin.Capability
	// TaskType narrows Allowed; "" does not.
	TaskType string
	// Writable lists the only paths that may be written, relative to WorkDir; a
	// directory stands for everything under it. It counts when LimitWrites is set
	// and whenever there is a TaskType.
	Writable    []string
	LimitWrites bool
	// Tools is the profile's own choice. It can take tools away, not add any.
	Tools Selection
}

// ForTask returns the configuration of a run. Reviewers and planners get what their
// capability gives them, whatever the profile chooses for its ordinary work.
func ForTask(t plugin.Task, h plugin.Host) (Config, error) {
	c := Config{Host: h, WorkDir: t.WorkDir, Allowed: t.Allowed, TaskType: t.TaskType, Writable: t.Writable, LimitWrites: t.LimitWrites}
	switch t.Kind {
	case "review", "plan_review", "judge", "planner":
		return c, nil
	}
	var err error
	c.Tools, err = ParseSelection(t.Profile.Tools)
	return c, err
}

// Tool is one tool as a model is told of it.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object schema
}

// Kit is the tools of one run. Its methods may be called from several goroutines.
type Kit struct {
	jail  *jail
	host  plugin.Host
	shell string
	tools []tool
}

type tool struct {
	name   string
	doc    string
	params []param
	run    func(context.Context, args) (string, error)
}

// New opens the working directory and returns the tools that c allows. The caller
// closes the kit.
func New(c Config) (*Kit, error) {
	granted, err := grant(c)
	if err != nil {
		return nil, err
	}
	j, err := openJail(c)
	if err != nil {
		return nil, err
	}
	k := &Kit{jail: j, host: c.Host, shell: findShell()}
	for _, t := range k.all() {
		if granted[t.name] && c.Tools.Offers(t.name) {
			k.tools = append(k.tools, t)
		}
	}
	return k, nil
}

func (k *Kit) all() []tool {
	return []tool{k.readFile(), k.writeFile(), k.editFile(), k.listDir(), k.glob(), k.grep(), k.bash()}
}

// Close gives the working directory back.
func (k *Kit) Close() error { return k.jail.root.Close() }

// Tools lists what is offered, in a fixed order.
func (k *Kit) Tools() []Tool {
	out := make([]Tool, 0, len(k.tools))
	for _, t := range k.tools {
		out = append(out, Tool{Name: t.name, Description: t.doc, Schema: schemaOf(t.params)})
	}
	return out
}

// Has reports whether a tool of that name is offered.
func (k *Kit) Has(name string) bool { return k.find(name) != nil }

func (k *Kit) find(name string) *tool {
	i := slices.IndexFunc(k.tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return &k.tools[i]
}

// Call runs a tool and returns what to tell the model. isErr marks a refusal, a
// failure or a command that ended with another exit code than 0; the text then says
// what was wrong. Only bash and the walks notice the end of ctx.
func (k *Kit) Call(ctx context.Context, name string, arguments json.RawMessage) (text string, isErr bool) {
	t := k.find(name)
	if t == nil {
		return fmt.Sprintf("there is no tool %q here; there is: %s", name, strings.Join(k.names(), ", ")), true
	}
	a, err := parseArgs(t, arguments)
	if err != nil {
		return err.Error(), true
	}
	text, err = t.run(ctx, a)
	if err != nil {
		return clean(err.Error()), true
	}
	return clean(text), false
}

func (k *Kit) names() []string {
	var out []string
	for _, t := range k.tools {
		out = append(out, t.name)
	}
	return out
}
