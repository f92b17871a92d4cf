package main

import (
	"os"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/plugintest"
)

// asHarness makes the test binary a harness.
const asHarness = "TEST_AS_HARNESS"

func TestMain(m *testing.M) {
	if os.Getenv(asHarness) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The harness passes the suite for harnesses as a process of its own, with a scripted
// model in the place of the endpoint.
func TestAsAProcess(t *testing.T) {
	url := serve(t, scriptedmodel.New(
		scriptedmodel.Script{Match: "take long", Turns: []turn{use("bash", m{"command": "sleep 300 & sleep 300"}), say("Too late.")}},
		scriptedmodel.Script{Match: "use tools", Turns: []turn{
			use("write_file", m{"path": "a.txt", "content": "a\n"}),
			{Calls: []toolUse{{Name: "bash", Args: m{"command": "cat a.txt; sleep 300 >/dev/null 2>&1 &"}}, {Name: "read_file", Args: m{"path": "a.txt"}}}},
			{Text: "Done.", Expect: `(?s)a\n\[exit code 0\].*1\ta`},
		}},
		scriptedmodel.Script{Match: "print a lot", Turns: []turn{
			use("bash", m{"command": "head -c 100000000 /dev/zero | tr '\\0' x"}),
			{Text: "Printed.", Expect: "bytes left out"},
		}},
		scriptedmodel.Script{Turns: []turn{{Text: "ready", Thinking: "They want one word."}}},
	))
	plugintest.Run(t, os.Args[0], plugintest.Options{
		Env:     []string{asHarness + "=1"},
		Profile: plugin.Profile{Name: "test", Model: model, BaseURL: url, Secret: "sk-of-the-process", Credential: "literal"},
		Long:    plugin.Task{Prompt: "take long"},
		Tools:   plugin.Task{Prompt: "use tools"},
		Big:     plugin.Task{Prompt: "print a lot"},
	})
}
