package toolkit

import (
	"fmt"

	"github.com/clearbox-go/clearbox/plugin"
)

// rights are what a run may do beside reading and searching.
type rights struct{ write, run bool }

var capabilityRights = map[plugin.Capability]rights{
	plugin.Read: {},
	plugin.Run:  {run: true},
	plugin.Edit: {write: true},
	plugin.Full: {write: true, run: true},
}

// typeRights narrow a capability. An implementing step may run commands only with
// everything allowed.
func typeRights(taskType string, c plugin.Capability) (rights, bool) {
	switch taskType {
	case "":
		return rights{write: true, run: true}, true
	case "design":
		return rights{write: true}, true
	case "implement", "configure":
		return rights{write: true, run: c == plugin.Full}, true
	case "test", "integrate":
		return rights{write: true, run: true}, true
	case "review":
		return rights{run: true}, true
	}
	return rights{}, false
}

// grant returns the names of the tools that a run may have.
func grant(c Config) (map[string]bool, error) {
	byCap, ok := capabilityRights[c.Allowed]
	if !ok {
		return nil, fmt.Errorf("unknown capability %q: it must be read, run, edit or full", c.Allowed)
	}
	byType, ok := typeRights(c.TaskType, c.Allowed)
	if !ok {
		return nil, fmt.Errorf("unknown task type %q: it must be design, implement, configure, test, review or integrate", c.TaskType)
	}
	write := byCap.write && byType.write && !(limited(c) && len(c.Writable) == 0)
	run := byCap.run && byType.run
	return map[string]bool{
		"read_file": true, "list_dir": true, "glob": true, "grep": true,
		"write_file": write, "edit_file": write,
		"bash": run,
	}, nil
}

// limited reports whether only the writable paths may be written. A task type
// always limits: a typed step writes what it declared and nothing else.
func limited(c Config) bool { return c.LimitWrites || c.TaskType != "" }
