package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// servers lists the processes of servers of a desk, without supervisors.
func (d *desk) servers() []process {
	var out []process
	for _, p := range processesIn(d.data) {
		if p.isClearbox() && strings.Contains(p.args, " serve") {
			out = append(out, p)
		}
	}
	return out
}

func TestEnsureStartsAServerInTheBackgroundOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out := d.fine([]string{"ensure", "--mock"}, "background", d.url()+"/")
	if strings.Count(out, "\n") != 1 {
		t.Errorf("it printed more than a line: %q", out)
	}
	if diff := cmp.Diff(map[string]any{"app": "clearbox", "version": version}, healthOf(t, d.url())); diff != "" {
		t.Error(diff)
	}
	first := d.servers()
	if len(first) != 1 {
		t.Fatalf("these servers run: %v", first)
	}
	if !strings.Contains(d.log(), "mock*") || !strings.Contains(d.log(), d.url()) {
		t.Errorf("the log has no banner of a server with --mock: %s", d.log())
	}
	if info, err := os.Stat(d.logFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log's mode is %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(d.data, "clearbox", "clearbox.sqlite")); err != nil {
		t.Error(err)
	}
	d.fine([]string{"ensure", "--mock"}, "running", d.url()+"/")
	got := parseJSON[ensured](t, d.fine([]string{"ensure", "--json"}))
	if diff := cmp.Diff(ensured{"running", d.url() + "/", version}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first[0].pid, d.servers()[0].pid); diff != "" || len(d.servers()) != 1 {
		t.Errorf("another server runs: %v, %s", d.servers(), diff)
	}
}

func TestEnsurePassesItsOptionsOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	port := strconv.Itoa(freePort(t))
	d.env = append(d.env, "CLEARBOX_PORT=1") // the flag goes before it
	d.port, _ = strconv.Atoi(port)
	t.Cleanup(func() { d.run("stop", "--port", port) })
	d.fine([]string{"ensure", "--port", port, "--db", "here.sqlite", "--mock", "--harness-dir", "one,two", "--harness-dir", "three", "--max-concurrency=7"}, "background", port)
	if _, err := os.Stat(filepath.Join(d.dir, "here.sqlite")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(d.log(), "one, two, three, ") {
		t.Errorf("the folders of harnesses are not in:\n%s", d.log())
	}
	d.fine([]string{"stop", "--port", port}, "Stopped")
}

func TestOfManyEnsuresAtOnceOneStartsTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	states := map[string]int{}
	for range 6 {
		all.Go(func() {
			o := d.run("ensure", "--mock", "--json")
			mu.Lock()
			defer mu.Unlock()
			if o.code != 0 {
				t.Errorf("exit code %d: %s", o.code, o.errOut)
				return
			}
			states[parseJSON[ensured](t, o.out).State]++
		})
	}
	all.Wait()
	if len(d.servers()) != 1 || states["started"]+states["running"] != 6 || states["started"] < 1 {
		t.Errorf("%d servers run, after %v", len(d.servers()), states)
	}
}

// neighbours are programs that hold a port and are not Clearbox.
func neighbours(t *testing.T) map[string]int {
	t.Helper()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	mute, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mute.Close() })
	rude, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rude.Close() })
	go func() { // hangs up on everyone
		for {
			conn, err := rude.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	out := map[string]int{}
	for name, addr := range map[string]net.Addr{"a web server": web.Listener.Addr(), "a mute program": mute.Addr(), "a rude program": rude.Addr()} {
		out[name] = addr.(*net.TCPAddr).Port
	}
	return out
}

func TestAPortOfAnotherProgramIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, port := range neighbours(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desk{t: t, dir: t.TempDir(), data: t.TempDir()}
			d.env = append(cleanEnv(), "XDG_DATA_HOME="+d.data)
			p := strconv.Itoa(port)
			checkRefused(t, d.run("ensure", "--mock", "--port", p), 1, p, "not Clearbox")
			checkRefused(t, d.run("stop", "--port", p), 1, p, "not touching it")
			checkRefused(t, d.run("restart", "--mock", "--port", p), 1, p, "not touching it")
			checkRefused(t, d.run("status", "--port", p), 1)
			conn, err := net.Dial("tcp", "127.0.0.1:"+p)
			if err != nil {
				t.Fatalf("it is gone: %v", err)
			}
			conn.Close()
			if got := processesIn(d.data); len(got) > 0 {
				t.Errorf("these run: %v", got)
			}
		})
	}
}

func TestEnsureTellsOfAServerThatEndsAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		args  []string
		parts []string
	}{
		{"the database is a folder", []string{"--db", "."}, nil},
		{"the agent is not known", []string{"--agent-profile", "nobody"}, []string{"nobody", "claude, mock"}},
		{"the database is another program's", []string{"--db", "notes.txt"}, []string{"not a database"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write("notes.txt", strings.Repeat("not a database\n", 100))
			parts := append([]string{"exited at once", d.logFile()}, tt.parts...)
			checkRefused(t, d.run(append([]string{"ensure"}, tt.args...)...), 1, parts...)
			if d.log() == "" {
				t.Error("the log is empty")
			}
		})
	}
}

func TestEnsureCalledWronglyStartsNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args  []string
		parts []string
	}{
		{[]string{"--nope"}, []string{"--nope", "clearbox ensure --help"}},
		{[]string{"extra"}, []string{`"extra"`}},
		{[]string{"--port", "many"}, []string{"port", `"many"`}},
		{[]string{"--port", "0"}, []string{"--port 0"}},
		{[]string{"--port"}, []string{"--port needs a value"}},
		{[]string{"--max-concurrency", "0"}, []string{"--max-concurrency", "at least 1"}},
		{[]string{"--host", "0.0.0.0"}, []string{"--host 0.0.0.0", "--auth-token-file"}},
		{[]string{"--auth-token-file", "/no/such/file"}, []string{"--auth-token-file"}},
	} {
		for _, command := range []string{"ensure", "restart"} {
			t.Run(command+" "+strings.Join(tt.args, " "), func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				parts := tt.parts
				if command == "restart" {
					parts = parts[:1]
				}
				checkRefused(t, d.run(append([]string{command}, tt.args...)...), 2, parts...)
				if d.log() != "" {
					t.Errorf("a server was started: %s", d.log())
				}
			})
		}
	}
}

// impostor answers as a Clearbox does.
func impostor(t *testing.T, version string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/api/health":
			fmt.Fprintf(w, `{"app":"clearbox","version":%q}`, version)
		case "/api/shutdown":
			fmt.Fprint(w, `{"stopping":true}`)
		default:
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestEnsureTellsOfAnotherVersion(t *testing.T) {
	t.Parallel()
	s := impostor(t, "9.9.9")
	d := newDesk(t)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	d.env = append(d.env, "CLEARBOX_PORT="+port)
	d.port, _ = strconv.Atoi(port)
	d.fine([]string{"ensure"}, "9.9.9 is running", version, "clearbox restart")
	s.Close() // or stopping it would take its time
}
