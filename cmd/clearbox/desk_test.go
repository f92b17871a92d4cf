package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// desk is a user's place: a data directory and a port, for commands that start
// servers in the background. What it leaves running is ended with the test.
type desk struct {
	t    testing.TB
	dir  string // the current folder of commands
	data string // where Clearbox keeps its own
	port int
	env  []string
}

// newDesk returns a place where nothing runs.
func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), data: filepath.Join(t.TempDir(), "share"), port: freePort(t)}
	d.env = append(cleanEnv(), "GORACE=atexit_sleep_ms=0", "XDG_DATA_HOME="+d.data, "CLEARBOX_PORT="+strconv.Itoa(d.port))
	t.Cleanup(func() {
		d.run("stop")
		await(t, "no process is left", func() bool { return len(processesIn(d.data)) == 0 })
		if strings.Contains(d.log(), "DATA RACE") {
			t.Error(d.log())
		}
	})
	return d
}

// freePort returns a port that nobody listens on.
func freePort(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

func (d *desk) url() string { return "http://127.0.0.1:" + strconv.Itoa(d.port) }

func (d *desk) logFile() string { return filepath.Join(d.data, "clearbox", "server.log") }

func (d *desk) log() string {
	b, _ := os.ReadFile(d.logFile())
	return string(b)
}

// run runs a command to its end.
func (d *desk) run(args ...string) outcome { return d.feed("", args...) }

// feed runs a command with something on its standard input.
func (d *desk) feed(in string, args ...string) outcome {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(d.t, "clearbox"), args...)
	var out, errOut bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = d.dir, d.env, strings.NewReader(in), &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	if ctx.Err() != nil {
		d.t.Fatalf("clearbox %v did not end; it printed:\n%s%s", args, &out, &errOut)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// fine runs a command that has to work, with these parts in what it prints.
func (d *desk) fine(args []string, parts ...string) string {
	d.t.Helper()
	o := d.run(args...)
	checkFine(d.t, o, parts...)
	return o.out
}

// checkFine makes sure that a command worked and printed all these parts.
func checkFine(t testing.TB, o outcome, parts ...string) {
	t.Helper()
	if o.code != 0 || o.errOut != "" {
		t.Errorf("exit code %d; it printed %q and, on stderr, %q", o.code, o.out, o.errOut)
	}
	for _, part := range parts {
		if !strings.Contains(o.out, part) {
			t.Errorf("%q is not in:\n%s", part, o.out)
		}
	}
}

// write puts a file into the current folder and returns its name.
func (d *desk) write(name, content string) string {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
	return name
}

// rig makes requests to the server of the desk.
func (d *desk) rig() *rig {
	s := &server{ended: make(chan struct{})}
	s.banner.WriteString("UI " + d.url() + "/\n")
	return &rig{server: s, t: d.t, dir: d.data}
}

// desk returns a desk whose commands talk to the server of a rig.
func (r *rig) desk() *desk {
	r.t.Helper()
	d := &desk{t: r.t, dir: r.t.TempDir(), data: r.t.TempDir()}
	d.env = append(cleanEnv(), "GORACE=atexit_sleep_ms=0", "XDG_DATA_HOME="+d.data)
	r.setURL(d)
	return d
}

// setURL tells a desk where the server is now.
func (r *rig) setURL(d *desk) {
	d.env = append(d.env, "CLEARBOX_URL="+r.url()) // the last one counts
}

// parseJSON reads what a command printed as JSON.
func parseJSON[T any](t testing.TB, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// healthOf asks an address who answers there.
func healthOf(t testing.TB, url string) map[string]any {
	t.Helper()
	res, err := http.Get(url + "/api/health")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(res.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
