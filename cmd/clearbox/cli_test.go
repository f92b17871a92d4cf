package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3"
)

// outcome is how a command ended.
type outcome struct {
	code        int
	out, errOut string
}

// execute runs the program to its end. Entries of args that look like NAME=VALUE
// go to its environment.
func execute(t *testing.T, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t, "clearbox"))
	cmd.Env = append(cleanEnv(), "GORACE=atexit_sleep_ms=0", "XDG_DATA_HOME="+t.TempDir())
	for _, a := range args {
		if name, _, ok := strings.Cut(a, "="); ok && strings.ToUpper(name) == name {
			cmd.Env = append(cmd.Env, a)
		} else {
			cmd.Args = append(cmd.Args, a)
		}
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("clearbox %v did not end; it printed:\n%s%s", args, &out, &errOut)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// checkRefused makes sure that a command ended with a code and one line on
// stderr that has all these parts.
func checkRefused(t *testing.T, o outcome, code int, parts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d", o.code, code)
	}
	if strings.Count(o.errOut, "\n") != 1 || !strings.HasPrefix(o.errOut, "clearbox: ") || o.out != "" {
		t.Errorf("it printed %q and, on stderr, %q; want one line there", o.out, o.errOut)
	}
	for _, part := range parts {
		if !strings.Contains(o.errOut, part) {
			t.Errorf("%q is not in %q", part, o.errOut)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(outcome{0, "clearbox 0.1.0\n", ""}, execute(t, "version"), cmp.AllowUnexported(outcome{})); diff != "" {
		t.Error(diff)
	}
}

// The flags are written down here once more, as the contract that they are.
func TestHelpListsEveryFlag(t *testing.T) {
	t.Parallel()
	o := execute(t, "serve", "--help")
	if o.code != 0 || o.errOut != "" {
		t.Errorf("exit code %d, stderr %q", o.code, o.errOut)
	}
	for flag, env := range map[string]string{
		"host": "CLEARBOX_HOST", "port": "CLEARBOX_PORT", "allowed-host": "CLEARBOX_ALLOWED_HOSTS", "db": "CLEARBOX_DB",
		"workdir": "CLEARBOX_WORKDIR", "mock": "CLEARBOX_AGENT=mock", "mock-speed": "", "max-concurrency": "CLEARBOX_MAX_CONCURRENCY",
		"agent-profile": "CLEARBOX_AGENT_PROFILE", "default-capability": "CLEARBOX_DEFAULT_CAPABILITY",
		"permission-mode": "CLEARBOX_PERMISSION_MODE", "model": "CLEARBOX_MODEL", "max-turns": "", "openai-base-url": "OPENAI_BASE_URL",
		"openai-model": "CLEARBOX_OPENAI_MODEL", "openai-api-key-env": "", "no-agent-mcp": "", "isolation": "CLEARBOX_ISOLATION", "no-snapshots": "",
		"planner-agent": "CLEARBOX_PLANNER_AGENT", "planner-max-nodes": "", "mcp-may-approve": "", "harness-dir": "CLEARBOX_HARNESS_DIR",
		"pass-env": "", "auth-token-file": "CLEARBOX_AUTH_TOKEN_FILE", "orphan-after": "", "on-exit": "", "log-format": "CLEARBOX_LOG_FORMAT", "log-level": "",
	} {
		entry := regexp.MustCompile(`(?m)^  --` + flag + `( .*)?\n      (.*)$`).FindStringSubmatch(o.out)
		if entry == nil || entry[2] == "" {
			t.Errorf("--%s is not explained in:\n%s", flag, o.out)
		} else if env != "" && !strings.Contains(entry[2], "["+env+"]") {
			t.Errorf("--%s does not name %s: %s", flag, env, entry[2])
		}
	}
	if got := strings.Count(o.out, "\n  --"); got != len((&options{}).table()) {
		t.Errorf("%d flags are listed, there are %d", got, len((&options{}).table()))
	}
}

func TestWrongOptionsStopTheStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args  []string
		parts []string
	}{
		{[]string{"--nope"}, []string{"--nope", "clearbox serve --help"}},
		{[]string{"frobnicate"}, []string{`"frobnicate"`, "clearbox help"}},
		{[]string{"serve", "extra"}, []string{`"extra"`}},
		{[]string{"--port", "many"}, []string{"port", `"many"`}},
		{[]string{"CLEARBOX_PORT=many"}, []string{"CLEARBOX_PORT", `"many"`}},
		{[]string{"--port", "65536"}, []string{"--port", "65536"}},
		{[]string{"--max-concurrency", "0"}, []string{"--max-concurrency", "at least 1"}},
		{[]string{"--mock-speed", "-1"}, []string{"--mock-speed", "above 0"}},
		{[]string{"--orphan-after", "-1s"}, []string{"--orphan-after", "above 0"}},
		{[]string{"--log-format", "yaml"}, []string{"--log-format", `"yaml"`, "text, json"}},
		{[]string{"--log-level", "loud"}, []string{"--log-level", `"loud"`, "debug, info, warn, error"}},
		{[]string{"--on-exit", "run"}, []string{"--on-exit", `"run"`, "stop, detach"}},
		{[]string{"--default-capability", "fly"}, []string{"--default-capability", `"fly"`, "read, run, edit, full"}},
		{[]string{"CLEARBOX_DEFAULT_CAPABILITY=fly"}, []string{`"fly"`, "read, run, edit, full"}},
		{[]string{"--port", "0", "--agent-profile", "nobody"}, []string{"nobody", "claude, mock"}},
		{[]string{"--host", "0.0.0.0"}, []string{"--host 0.0.0.0", "--auth-token-file", "CLEARBOX_AUTH_TOKEN"}},
		{[]string{"--host", "::"}, []string{"--host ::", "--auth-token-file"}},
		{[]string{"--host", "example.test"}, []string{"--host example.test", "--auth-token-file"}},
		{[]string{"--host", "0.0.0.0", "CLEARBOX_AUTH_TOKEN=short"}, []string{"16 characters"}},
		{[]string{"--auth-token-file", "/no/such/file"}, []string{"--auth-token-file", "/no/such/file"}},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Parallel()
			checkRefused(t, execute(t, tt.args...), 2, tt.parts...)
		})
	}
}

func TestASecondServerOnADatabaseIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	o := execute(t, "serve", "--port", "0", "--db", r.database())
	checkRefused(t, o, 1, fmt.Sprintf("process %d", r.pid()), "another --db")
	if !regexp.MustCompile(`since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).MatchString(o.errOut) {
		t.Errorf("it does not say since when: %s", o.errOut)
	}
	r.get("/api/health", nil)
	r.kill() // and a lock of the dead holds nobody back
	r.restart()
}

// foreign makes a database of another program.
func foreign(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sqlx.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestAForeignDatabaseIsRefusedAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	original := foreign(t, "CREATE TABLE agent_profiles (id INTEGER)", "CREATE TABLE node_files (id INTEGER)", "CREATE TABLE plans (id INTEGER)")
	for name, tt := range map[string]struct {
		path  string
		parts []string
	}{
		"the original's":     {original, []string{"clearbox import " + original, "another --db"}},
		"a newer Clearbox's": {foreign(t, "PRAGMA journal_mode = WAL", "PRAGMA application_id = 0x436c6278", "PRAGMA user_version = 9999"), []string{"newer"}},
		"another program's":  {foreign(t, "CREATE TABLE bookmarks (url TEXT)"), []string{"another program", "bookmarks"}},
		"a text file":        {text, []string{"not a database"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := os.ReadFile(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			checkRefused(t, execute(t, "serve", "--port", "0", "--db", tt.path), 2, tt.parts...)
			if after, err := os.ReadFile(tt.path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

func TestAPortInUseNamesItsHolder(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	mute, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mute.Close() })
	r := newRig(t, "--mock")
	for name, tt := range map[string]struct{ addr, holder string }{
		"Clearbox":                 {strings.TrimPrefix(r.url(), "http://"), "a Clearbox 0.1.0 that is running already"},
		"a web server":             {web.Listener.Addr().String(), "another program"},
		"a program that says none": {mute.Addr().String(), "another program"},
	} {
		t.Run(name, func(t *testing.T) {
			_, port, err := net.SplitHostPort(tt.addr)
			if err != nil {
				t.Fatal(err)
			}
			db := filepath.Join(t.TempDir(), "clearbox.sqlite")
			checkRefused(t, execute(t, "serve", "--port", port, "--db", db), 1, "port "+port, tt.holder, "another --port")
			if _, err := os.Stat(db); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("it has made a database: %v", err)
			}
		})
	}
}

func TestTheBannerNamesEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock", "--default-capability", "edit", "--harness-dir", "/some/harnesses")
	for _, want := range []string{"Clearbox 0.1.0", r.url() + "/\n", r.url() + "/mcp ", r.url() + "/mcp/observe", "mock*", "claude ",
		"edit (read, search, change files)", r.database(), "/some/harnesses"} {
		if !strings.Contains(r.printed(), want) {
			t.Errorf("%q is not in:\n%s", want, r.printed())
		}
	}
}

func TestBeyondThisMachineOnlyTheTokenLetsIn(t *testing.T) {
	t.Parallel()
	const token = "a-token-that-nobody-guesses"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "--mock", "--host", "0.0.0.0", "--auth-token-file", file)
	for _, path := range []string{"/api/plans", "/api/stream", "/mcp", "/mcp/observe"} {
		for sent, want := range map[string]int{"": 401, "Bearer wrong-" + token: 401, "Bearer " + token: 200} {
			method := http.MethodGet
			var body io.Reader
			if strings.HasPrefix(path, "/mcp") {
				method, body = http.MethodPost, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
			}
			q, err := http.NewRequest(method, r.url()+path, body)
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Authorization", sent)
			q.Header.Set("Content-Type", "application/json")
			q.Header.Set("Accept", "application/json, text/event-stream")
			res, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s with %q: %s, want %d", path, sent, res.Status, want)
			}
		}
	}
	if strings.Contains(r.printed()+r.log(), token) {
		t.Error("the token was printed")
	}
}
