package plugin_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/plugintest"
)

var _ = plugin.Role("shout", Example)

func TestTheExampleIsAGoodHarness(t *testing.T) {
	plugintest.Run(t, os.Args[0], plugintest.Options{
		Env:     []string{plugin.RoleEnv + "=shout"},
		Profile: plugin.Profile{Secret: "sk-never-to-be-seen", Params: json.RawMessage(`{"ending":"?"}`)},
		Tools:   plugin.Task{Title: "list"},
	})
}

func TestTheExampleFitsOnAScreen(t *testing.T) {
	b, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n >= 80 {
		t.Errorf("the example has %d lines, want less than 80", n)
	}
}
