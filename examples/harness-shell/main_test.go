package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/plugintest"
)

// The test binary is the harness, too, so that the suite needs nothing built.
func TestMain(m *testing.M) {
	if os.Getenv("AS_HARNESS") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func prompt(lines string) plugin.Task {
	return plugin.Task{Prompt: "Do this:\n```sh\n" + lines + "\n```"}
}

func TestItKeepsTheContract(t *testing.T) {
	plugintest.Run(t, os.Args[0], plugintest.Options{
		Env:   []string{"AS_HARNESS=1"},
		Quick: prompt("echo ready"),
		Tools: prompt("echo one\necho two"),
		Long:  prompt("sleep 300 & sleep 300"),
		Big:   prompt("head -c 50000000 /dev/zero | tr '\\0' x"),
	})
}

func TestLinesAreRunUntilOneFails(t *testing.T) {
	for lines, want := range map[string]string{
		"echo one\necho two": "2 lines were run.",
		"exit 3\ntouch x":    "line 1 ended with exit code 3: exit 3",
	} {
		p := plugintest.Play(t, shell{}, prompt(lines), nil)
		if p.Result.Text != want || p.Result.IsError != strings.HasPrefix(want, "line") {
			t.Errorf("%q: %+v", lines, p.Result)
		}
	}
}

func TestReadersRunNothing(t *testing.T) {
	task := prompt("touch x")
	task.Allowed = plugin.Read
	if p := plugintest.Play(t, shell{}, task, nil); !p.Result.IsError || !strings.Contains(p.Result.Text, "give it run or full") {
		t.Errorf("%+v", p.Result)
	}
}

func TestProfilesAreChecked(t *testing.T) {
	for params, field := range map[string]string{`{}`: "", `{"shell":"none-such"}`: "params.shell", `{"timeout":0}`: "params.timeout"} {
		r, err := shell{}.Check(t.Context(), plugin.Profile{Params: json.RawMessage(params)}, false)
		if err != nil || r.Field != field || r.OK != (field == "") {
			t.Errorf("%s: %+v, %v", params, r, err)
		}
	}
}
