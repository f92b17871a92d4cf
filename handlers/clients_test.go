package handlers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page and the command line must not tell different things.
func TestStartPageShowsWhatTheCommandLinePrints(t *testing.T) {
	page := startPageOf("http://127.0.0.1:9000", true)
	c := Connection{"clearbox", "http://127.0.0.1:9000/mcp", true}
	var got, want []string
	for _, m := range page.Clients {
		got = append(got, m.ID+" "+m.Code)
	}
	for _, m := range MCPClients() {
		text := m.Config(c)
		if m.Command != nil {
			text = m.Command(c)
		}
		want = append(want, m.ID+" "+text)
	}
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Error(diff)
	}
	for _, text := range got {
		if !strings.Contains(text, "http://127.0.0.1:9000/mcp") || !strings.Contains(text, "CLEARBOX_AUTH_TOKEN") && !strings.Contains(text, "clearbox-token") {
			t.Errorf("%s has no address, or no token", text)
		}
	}
	if last := got[len(got)-1]; !strings.Contains(last, "/mcp/observe") {
		t.Errorf("the last one is %s", last)
	}
}
