package toolkit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/google/go-cmp/cmp"
)

// tree is files by path; one that ends in a slash is a folder, and a content that
// begins with "-> " makes a link.
type tree map[string]string

func plant(t *testing.T, dir string, files tree) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		target, link := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(full, 0o755))
		case link:
			must(t, os.Symlink(target, full))
		default:
			must(t, os.WriteFile(full, []byte(content), 0o644))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newKit makes a kit with everything allowed, in a folder with the given files.
func newKit(t *testing.T, files tree, change ...func(*Config)) (*Kit, string) {
	t.Helper()
	dir := t.TempDir()
	plant(t, dir, files)
	c := Config{WorkDir: dir, Allowed: plugin.Full}
	for _, f := range change {
		f(&c)
	}
	k, err := New(c)
	must(t, err)
	t.Cleanup(func() { k.Close() })
	return k, dir
}

func limitedTo(paths ...string) func(*Config) {
	return func(c *Config) { c.Writable, c.LimitWrites = paths, true }
}

func call(t *testing.T, k *Kit, name string, arguments any) (string, bool) {
	t.Helper()
	raw, err := json.Marshal(arguments)
	must(t, err)
	return k.Call(t.Context(), name, raw)
}

func wantOK(t *testing.T, k *Kit, name string, arguments any) string {
	t.Helper()
	text, isErr := call(t, k, name, arguments)
	if isErr {
		t.Fatalf("%s %v: %s", name, arguments, text)
	}
	return text
}

func wantErr(t *testing.T, k *Kit, name string, arguments any, fragments ...string) {
	t.Helper()
	text, isErr := call(t, k, name, arguments)
	if !isErr {
		t.Fatalf("%s %v was not refused: %s", name, arguments, text)
	}
	for _, f := range fragments {
		if !strings.Contains(text, f) {
			t.Errorf("%s %v: %q does not mention %q", name, arguments, text, f)
		}
	}
}

func content(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	must(t, err)
	return string(data)
}

type m = map[string]any

const (
	reading = "read_file list_dir glob grep"
	editing = "read_file write_file edit_file list_dir glob grep"
	running = "read_file list_dir glob grep bash"
	all     = "read_file write_file edit_file list_dir glob grep bash"
)

func TestToolsFollowCapabilityTypeAndProfile(t *testing.T) {
	tests := []struct {
		name     string
		allowed  plugin.Capability
		taskType string
		writable []string
		tools    string
		want     string
	}{
		{name: "read", allowed: plugin.Read, want: reading},
		{name: "run", allowed: plugin.Run, want: running},
		{name: "edit", allowed: plugin.Edit, want: editing},
		{name: "full", allowed: plugin.Full, want: all},

		{name: "design never runs", allowed: plugin.Full, taskType: "design", writable: []string{"a.md"}, want: editing},
		{name: "implement runs with full", allowed: plugin.Full, taskType: "implement", writable: []string{"a.go"}, want: all},
		{name: "implement does not run with less", allowed: plugin.Run, taskType: "implement", writable: []string{"a.go"}, want: reading},
		{name: "implement edits", allowed: plugin.Edit, taskType: "implement", writable: []string{"a.go"}, want: editing},
		{name: "configure is like implement", allowed: plugin.Full, taskType: "configure", writable: []string{"a.toml"}, want: all},
		{name: "test writes and runs", allowed: plugin.Full, taskType: "test", writable: []string{"a_test.go"}, want: all},
		{name: "test is not widened", allowed: plugin.Read, taskType: "test", writable: []string{"a_test.go"}, want: reading},
		{name: "integrate", allowed: plugin.Full, taskType: "integrate", writable: []string{"a.go"}, want: all},
		{name: "review never writes", allowed: plugin.Full, taskType: "review", writable: []string{"a.go"}, want: running},
		{name: "a type without declared files writes nothing", allowed: plugin.Full, taskType: "implement", want: running},

		{name: "preset all", allowed: plugin.Full, tools: `{"preset":"all"}`, want: all},
		{name: "preset all does not widen", allowed: plugin.Read, tools: `{"preset":"all"}`, want: reading},
		{name: "preset readonly", allowed: plugin.Full, tools: `{"preset":"readonly"}`, want: reading},
		{name: "preset none", allowed: plugin.Full, tools: `{"preset":"none"}`, want: ""},
		{name: "allow adds to the preset", allowed: plugin.Full, tools: `{"preset":"readonly","allow":["bash"]}`, want: running},
		{name: "allow alone is all there is", allowed: plugin.Full, tools: `{"allow":["grep"]}`, want: "grep"},
		{name: "allow does not widen", allowed: plugin.Read, tools: `{"allow":["grep","bash"]}`, want: "grep"},
		{name: "deny takes away", allowed: plugin.Full, tools: `{"deny":["bash"]}`, want: editing},
		{name: "deny wins over allow", allowed: plugin.Full, tools: `{"allow":["bash","grep"],"deny":["bash"]}`, want: "grep"},
		{name: "null is nothing said", allowed: plugin.Full, tools: `null`, want: all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			task := plugin.Task{
				WorkDir: t.TempDir(), Allowed: tt.allowed, TaskType: tt.taskType, Writable: tt.writable,
				Profile: plugin.Profile{Tools: json.RawMessage(tt.tools)},
			}
			c, err := ForTask(task, nil)
			must(t, err)
			k, err := New(c)
			must(t, err)
			defer k.Close()
			if diff := cmp.Diff(tt.want, strings.Join(k.names(), " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReviewersAndPlannersIgnoreTheProfilesTools(t *testing.T) {
	for _, kind := range []string{"review", "plan_review", "judge", "planner"} {
		c, err := ForTask(plugin.Task{Kind: kind, WorkDir: t.TempDir(), Allowed: plugin.Run, Profile: plugin.Profile{Tools: json.RawMessage(`{"preset":"none"}`)}}, nil)
		must(t, err)
		k, err := New(c)
		must(t, err)
		if !k.Has("bash") {
			t.Errorf("%s: bash is not offered", kind)
		}
		k.Close()
	}
}

func TestABadConfigurationIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		c    Config
		want string
	}{
		{"capability", Config{WorkDir: dir, Allowed: "write"}, `capability "write"`},
		{"no capability", Config{WorkDir: dir}, `capability ""`},
		{"task type", Config{WorkDir: dir, Allowed: plugin.Full, TaskType: "deploy"}, `task type "deploy"`},
		{"folder", Config{WorkDir: filepath.Join(dir, "none"), Allowed: plugin.Full}, "open working directory"},
		{"absolute writable path", Config{WorkDir: dir, Allowed: plugin.Full, Writable: []string{"/etc"}}, `"/etc"`},
		{"escaping writable path", Config{WorkDir: dir, Allowed: plugin.Full, Writable: []string{`a\..\..\b`}}, "writable path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestABadToolsSettingIsRefusedByName(t *testing.T) {
	for raw, want := range map[string]string{
		`{"preset":"some"}`:       "tools.preset",
		`{"deny":["bsh"]}`:        `tools.deny names "bsh"`,
		`{"allow":["Read"]}`:      `tools.allow names "Read"`,
		`{"denied":["bash"]}`:     "denied",
		`{"deny":"bash"}`:         "deny",
		`["bash"]`:                "read tools",
		`{"allow":["vc_x", "y"]}`: `"y"`,
	} {
		if _, err := ParseSelection(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", raw, err, want)
		}
	}
}

func TestSelectionOfRemoteTools(t *testing.T) {
	for raw, want := range map[string]bool{
		``:                                true,
		`{"preset":"none"}`:               true,
		`{"mcp":false}`:                   false,
		`{"deny":["vc_add_node"]}`:        false,
		`{"mcp":true}`:                    true,
		`{"allow":["read_file"]}`:         true,
		`{"mcp":false,"deny":["vc_get"]}`: false,
	} {
		s, err := ParseSelection(json.RawMessage(raw))
		must(t, err)
		if got := s.Offers("vc_add_node"); got != want {
			t.Errorf("%s: offers vc_add_node = %v, want %v", raw, got, want)
		}
	}
}

func TestBadArgumentsAreNamed(t *testing.T) {
	k, _ := newKit(t, tree{"a.txt": "a\n"})
	tests := []struct {
		tool, raw string
		want      []string
	}{
		{"read_file", `{}`, []string{`missing argument "path" (string)`}},
		{"read_file", `{"path":null}`, []string{`missing argument "path"`}},
		{"read_file", ``, []string{`missing argument "path"`}},
		{"read_file", `{"file":"a.txt"}`, []string{`unknown argument "file"`, `missing argument "path"`, "It takes path (string, required), offset (integer), limit (integer)"}},
		{"read_file", `{"path":7}`, []string{`argument "path" must be a string, not a number`}},
		{"read_file", `{"path":["a.txt"]}`, []string{`must be a string, not an array`}},
		{"read_file", `{"path":{"a":1}}`, []string{`must be a string, not an object`}},
		{"read_file", `{"path":""}`, []string{`argument "path" must not be empty`}},
		{"read_file", `{"path":"a.txt","offset":"1"}`, []string{`argument "offset" must be an integer, not a string`}},
		{"read_file", `{"path":"a.txt","offset":1.5}`, []string{`argument "offset" must be an integer, not 1.5`}},
		{"read_file", `{"path":"a.txt","offset":1e99}`, []string{`argument "offset" must be an integer`}},
		{"read_file", `{"path":"a.txt","offset":0}`, []string{`argument "offset" must be from 1 to`}},
		{"read_file", `{"path":"a.txt","limit":-1}`, []string{`argument "limit" must be from 1 to`}},
		{"edit_file", `{"path":"a.txt","old_string":"a","new_string":"b","replace_all":"yes"}`, []string{`argument "replace_all" must be a boolean, not a string`}},
		{"bash", `{"command":"true","timeout_ms":600001}`, []string{`argument "timeout_ms" must be from 1 to 600000`}},
		{"bash", `{"command":true}`, []string{`argument "command" must be a string, not a boolean`}},
		{"list_dir", `[]`, []string{`must be a JSON object, not an array`}},
		{"list_dir", `"x"`, []string{`must be a JSON object, not a string`}},
		{"list_dir", `{"path":`, []string{`invalid JSON`}},
		{"list_dir", `{} {}`, []string{`invalid JSON`}},
		{"remove_file", `{}`, []string{`no tool "remove_file"`, "read_file, write_file"}},
	}
	for _, tt := range tests {
		t.Run(tt.tool+tt.raw, func(t *testing.T) {
			text, isErr := k.Call(t.Context(), tt.tool, json.RawMessage(tt.raw))
			if !isErr {
				t.Fatalf("not refused: %s", text)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q does not mention %q", text, want)
				}
			}
		})
	}
}

func TestHarmlessArgumentsAreTaken(t *testing.T) {
	k, _ := newKit(t, tree{"a.txt": "one\ntwo\n"})
	for _, raw := range []string{`{"path":"a.txt","offset":2.0}`, `{"path":"a.txt","offset":2,"limit":null}`, `{"path":"./a.txt","offset":2e0}`} {
		if text, isErr := k.Call(t.Context(), "read_file", json.RawMessage(raw)); isErr || text != "     2\ttwo" {
			t.Errorf("%s: %q", raw, text)
		}
	}
	if text, isErr := k.Call(t.Context(), "list_dir", nil); isErr || !strings.HasPrefix(text, "a.txt") {
		t.Errorf("list_dir without arguments: %q", text)
	}
}

func TestSchemasAreStrictObjects(t *testing.T) {
	k, _ := newKit(t, nil)
	for _, tool := range k.Tools() {
		var s struct {
			Type                 string
			Properties           map[string]struct{ Type, Description string }
			Required             []string
			AdditionalProperties *bool
		}
		must(t, json.Unmarshal(tool.Schema, &s))
		if s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties || tool.Description == "" {
			t.Errorf("%s: %s", tool.Name, tool.Schema)
		}
		for name, p := range s.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s.%s has no type or description", tool.Name, name)
			}
		}
		for _, name := range s.Required {
			if _, ok := s.Properties[name]; !ok {
				t.Errorf("%s requires %s, which it does not take", tool.Name, name)
			}
		}
	}
}
