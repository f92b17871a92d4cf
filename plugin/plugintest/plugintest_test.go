package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/clearbox-go/clearbox/plugin"
)

// roleEnv makes the test binary a harness with a fault.
const roleEnv = "PLUGINTEST_FAULT"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleEnv); {
	case role == "":
		os.Exit(m.Run())
	case strings.HasPrefix(role, "wire "):
		serveRaw(strings.TrimPrefix(role, "wire "))
	case role == "by hand":
		if os.Getenv(plugin.Handshake().MagicCookieKey) == "" {
			os.Exit(0)
		}
		plugin.Serve(faulty{})
	default:
		plugin.Serve(faulty{role})
	}
}

// faulty is a harness with one fault, built with the package.
type faulty struct{ fault string }

func (f faulty) Info(context.Context) (plugin.Info, error) {
	i := plugin.Info{Slug: "faulty", Name: "Faulty", Version: "1", Settings: json.RawMessage(`{"type":"object","properties":{}}`)}
	switch f.fault {
	case "slug":
		i.Slug, i.Version = "Not A Slug", ""
	case "capabilities":
		i.Capabilities = []plugin.Capability{"root"}
	case "schema":
		i.Settings = json.RawMessage(`{"type":"object","properties":{"a":{"type":"text"},"b":3},"required":["c"]}`)
	case "no schema":
		i.Settings = json.RawMessage(`[]`)
	case "info":
		return i, errors.New("no idea")
	}
	return i, nil
}

func (f faulty) Check(_ context.Context, p plugin.Profile, _ bool) (plugin.Report, error) {
	switch f.fault {
	case "check says nothing":
		return plugin.Report{}, nil
	case "check panics":
		panic("oh")
	case "secret":
		return plugin.Report{Detail: "bad key " + p.Secret}, nil
	case "check takes anything":
		return plugin.Report{OK: true}, nil
	}
	if len(p.Params) > 0 && p.Params[0] != '{' {
		return plugin.Report{Detail: "params must be an object"}, nil
	}
	return plugin.Report{OK: true}, nil
}

func (f faulty) Run(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	if f.fault != "no system event" {
		h.Emit(plugin.System("session started", plugin.SessionInfo{}))
	}
	switch f.fault {
	case "no system event":
		h.Emit(plugin.Text("hello", ""))
	case "tool results":
		h.Emit(plugin.ToolUse("t1", "Read", nil, ""))
		h.Emit(plugin.ToolUse("t1", "", nil, ""))
		h.Emit(plugin.ToolResult("t2", "x", false, ""))
	case "secret":
		fmt.Fprintln(os.Stderr, "key:", t.Profile.Secret)
		h.Emit(plugin.Text("my key is "+t.Profile.Secret, ""))
	case "ignores stop":
		select {}
	case "calls a stop a success":
		<-ctx.Done()
		return plugin.Result{Text: "fine"}, nil
	case "memory":
		// Not from Go's heap, whose every byte the race detector watches.
		hoard, err := syscall.Mmap(-1, 0, 700<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return plugin.Result{}, err
		}
		for i := 0; i < len(hoard); i += os.Getpagesize() {
			hoard[i] = 1
		}
		h.Emit(plugin.Text(fmt.Sprint("hoarded ", hoard[0]), ""))
	case "orphan":
		if err := startDaemon("sleep", "30"); err != nil {
			return plugin.Result{}, err
		}
	case "heir of stderr":
		cmd := exec.Command("sleep", "30")
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return plugin.Result{}, err
		}
	}
	return plugin.Result{Text: "ready"}, nil
}

// startDaemon starts a program in a session of its own.
func startDaemon(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// serveRaw serves the wire's methods without the package's care.
func serveRaw(fault string) {
	hs := plugin.Handshake()
	if fault == "version" {
		hs.ProtocolVersion = 99
	}
	goplugin.Serve(&goplugin.ServeConfig{HandshakeConfig: hs, Plugins: goplugin.PluginSet{plugin.Name: rawPlugin{fault}}})
}

type rawPlugin struct{ fault string }

func (p rawPlugin) Server(*goplugin.MuxBroker) (any, error) { return &rawServer{p.fault}, nil }

func (p rawPlugin) Client(*goplugin.MuxBroker, *rpc.Client) (any, error) {
	return nil, errors.New("not a host")
}

type rawServer struct{ fault string }

func (s *rawServer) Start(plugin.Request, *plugin.Reply) error { return nil }

func (s *rawServer) Release(plugin.Request, *plugin.Reply) error { return nil }

// Next gives the same two events whatever was acknowledged, and one of them has
// the fault.
func (s *rawServer) Next(req plugin.Request, rep *plugin.Reply) error {
	first := plugin.System("session started", plugin.SessionInfo{})
	first.Seq, first.At = 1, time.Now()
	second := plugin.Text("hello", "")
	second.Seq, second.At = 2, time.Now()
	switch s.fault {
	case "numbers":
		second.Seq = 7
	case "bytes":
		second.Data = json.RawMessage("{\"text\":\"\xff\",\"parent_tool_use_id\":null}")
	case "keys":
		second.Data = json.RawMessage(`{"text":"hello"}`)
	case "kind":
		second.Kind = "zzz"
	case "blank":
		second.Data = json.RawMessage(`{"text":" ","parent_tool_use_id":null}`)
	case "result":
		rep.Result = []byte(`nonsense`)
	case "empty result":
		rep.Result = []byte(`{"IsError":true}`)
	}
	if rep.Result == nil {
		rep.Result = []byte(`{"Text":"x","Subtype":"success"}`)
	}
	if s.fault == "forgets" && req.After > 0 {
		rep.Err = &plugin.Error{Kind: plugin.KindGone, Text: "what events?"}
		return nil
	}
	if s.fault == "repeats" || req.After == 0 {
		rep.Events = []plugin.Event{first, second}
	}
	rep.Done = true
	return nil
}

func TestFaultsAreFound(t *testing.T) {
	for _, tt := range []struct {
		fault string
		in    string // the case that must fail
		want  []string
	}{
		{"by hand", "refuses a start by hand", []string{"ends with exit code 0"}},
		{"slug", "says what it is", []string{`Info.Slug "Not A Slug" must be`, "Info.Name and Info.Version"}},
		{"capabilities", "says what it is", []string{`Info.Capabilities has "root"`}},
		{"info", "says what it is", []string{"Info: no idea"}},
		{"schema", "describes its settings", []string{`property a has the unknown type "text"`, "property b is not a schema", "requires c, which is no property"}},
		{"no schema", "describes its settings", []string{"is not a JSON Schema"}},
		{"check says nothing", "checks a profile", []string{"Check of the profile says no without saying why"}},
		{"check panics", "checks a profile", []string{"the harness panicked: oh"}},
		{"check takes anything", "checks a profile", []string{"Check accepts params that are no object"}},
		{"no system event", "tells a run in order, with one result", []string{`the first event must be of kind system`}},
		{"tool results", "answers each tool call", []string{`the id "t1" of a tool use is empty or was used before`, "a tool use without a name", `a tool result for "t2", which is not an open`, "1 tool calls have no result"}},
		{"plain", "answers each tool call", []string{"the run called no tool"}},
		{"plain", "asks and hears the answer", []string{"the run asked nothing"}},
		{"ignores stop", "stops when asked", []string{"not done within 3s"}},
		{"calls a stop a success", "stops when asked", []string{"ended as a success: fine"}},
		{"memory", "survives big output", []string{"MB of memory, more than 512 MB"}},
		{"orphan", "ends when it is let go", []string{"what it started outlives it: ", "(sleep 30)"}},
		{"heir of stderr", "ends when it is let go", []string{"4s after the host let go of it, the process still runs, or something that holds its stderr"}},
		{"secret", "keeps the secret", []string{"secret is in event 2 (text)", "secret is in the report of Check", "secret is in stderr"}},
		{"wire version", "starts and shakes hands", []string{"incompatible API version"}},
		{"wire numbers", "tells a run in order, with one result", []string{"event 7 came after event 1"}},
		{"wire bytes", "tells a run in order, with one result", []string{"event 2 (text) lacks a key, is larger than"}},
		{"wire keys", "tells a run in order, with one result", []string{"event 2 (text) lacks a key"}},
		{"wire kind", "tells a run in order, with one result", []string{`event 2 has the unknown kind "zzz"`}},
		{"wire blank", "tells a run in order, with one result", []string{"event 2 (text) is blank"}},
		{"wire result", "tells a run in order, with one result", []string{"the result cannot be read"}},
		{"wire empty result", "tells a run in order, with one result", []string{"the result is an error that says nothing", "the result has no subtype"}},
		{"wire repeats", "works without a host and hands over all", []string{"the third host got 2 events"}},
		{"wire forgets", "works without a host and hands over all", []string{"what events?"}},
	} {
		t.Run(tt.fault+": "+tt.in, func(t *testing.T) {
			task := plugin.Task{Title: "given", Prompt: "given"}
			o := Options{
				Env: []string{roleEnv + "=" + tt.fault}, Profile: plugin.Profile{Secret: "sk-12345"},
				Tools: task, Big: task, Ask: task, Long: task, LeaveGrace: 4 * time.Second,
			}
			if tt.fault == "ignores stop" {
				o.Timeout = 3 * time.Second
			}
			got := oneCase(t, o, tt.in)
			if got.Status != Fail {
				t.Fatalf("got %+v", got)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.Detail, want) {
					t.Errorf("no %q in:\n%s", want, got.Detail)
				}
			}
		})
	}
}

// oneCase runs the case with this name alone.
func oneCase(t *testing.T, o Options, name string) Outcome {
	t.Helper()
	s := newSuite(os.Args[0], o)
	for _, c := range cases() {
		if c.name == name {
			return s.outcome(t.Context(), c)
		}
	}
	t.Fatalf("no case %q", name)
	return Outcome{}
}

func TestAGoodHarnessPassesWithoutTasks(t *testing.T) {
	for _, got := range Check(t.Context(), os.Args[0], Options{Env: []string{roleEnv + "=plain"}}) {
		if got.Status == Fail || got.Status == Skip && got.Detail == "" {
			t.Errorf("%+v", got)
		}
	}
}

func TestWhatCannotStartIsReportedOnce(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "harness-none")
	got := Check(t.Context(), missing, Options{})
	if len(got) != 1 || got[0].Status != Fail || !strings.Contains(got[0].Detail, "no such file") {
		t.Errorf("got %+v", got)
	}
}
