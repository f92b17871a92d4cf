package main

import (
	"os"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/plugintest"
)

// The harness passes the suite for harnesses with the real program, too.
func TestRealAsAProcess(t *testing.T) {
	path := claude(t)
	srv := scriptedmessages.New(
		script{Match: "take long", Turns: []turn{use("Bash", m{"command": "sleep 300 & setsid sleep 300 & sleep 300"})}},
		script{Match: "use tools", Turns: []turn{
			use("Write", m{"file_path": "a.txt", "content": "a\n"}),
			{Calls: []scriptedmessages.Call{{Name: "Bash", Input: m{"command": "cat a.txt; sleep 300 >/dev/null 2>&1 &"}}, {Name: "Read", Input: m{"file_path": "a.txt"}}}},
			say1("Done."),
		}},
		script{Match: "print a lot", Turns: []turn{use("Bash", m{"command": "head -c 100000000 /dev/zero | tr '\\0' x"}), say1("Printed.")}},
		script{Match: "ask first", Turns: []turn{use("Bash", m{"command": "echo may I"}), say1("Asked.")}},
		script{Turns: []turn{{Text: "ready", Thinking: "They want one word."}}},
	)
	srv.Key = apiKey
	plugintest.Run(t, os.Args[0], plugintest.Options{
		Env: []string{asHarness + "=1", "HOME=" + t.TempDir()},
		Profile: plugin.Profile{Name: "test", BaseURL: serve(t, srv), Secret: apiKey, Credential: "literal",
			Params: encoded(t, m{"path": path, "ask": true})},
		Long:      plugin.Task{Prompt: "take long"},
		Tools:     plugin.Task{Prompt: "use tools"},
		Big:       plugin.Task{Prompt: "print a lot"},
		Ask:       plugin.Task{Prompt: "ask first", Allowed: plugin.Read},
		StopGrace: 10 * time.Second, // the program starts slowly on a busy machine
		Timeout:   3 * time.Minute,
	})
}
