// Command stranger is a harness by somebody else: it knows of Clearbox nothing
// but the package plugin. Its result says how its task arrived.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

func main() { plugin.Serve(stranger{}) }

type stranger struct{}

func (stranger) Info(context.Context) (plugin.Info, error) {
	return plugin.Info{Slug: "stranger", Name: "A stranger", Version: "7.8.9", Capabilities: []plugin.Capability{plugin.Read},
		Settings: json.RawMessage(`{"type":"object","properties":{"mood":{"type":"string","title":"Mood"}}}`)}, nil
}

func (stranger) Check(context.Context, plugin.Profile, bool) (plugin.Report, error) {
	return plugin.Report{OK: true, Detail: "glad to be here"}, nil
}

// arrival is what the result tells of a task.
type arrival struct {
	Length int
	SHA256 string
	Params json.RawMessage
	Secret bool // there is one
}

// Run waits for the file go. A step called leak then prints its key and dies.
func (stranger) Run(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	h.Emit(plugin.Text("waiting", ""))
	for {
		if _, err := os.Stat(filepath.Join(t.WorkDir, "go")); err == nil {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return plugin.Result{}, ctx.Err()
		}
	}
	if t.Title == "leak" && t.Attempt == 1 {
		fmt.Fprintf(os.Stderr, "my key is %s, can you help?\n", t.Profile.Secret)
		os.Exit(9)
	}
	text, err := json.Marshal(arrival{len(t.Prompt), fmt.Sprintf("%x", sha256.Sum256([]byte(t.Prompt))), t.Profile.Params, t.Profile.Secret != ""})
	return plugin.Result{Text: string(text)}, err
}
