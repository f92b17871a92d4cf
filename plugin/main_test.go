package plugin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
)

// RoleEnv makes the test binary play another program.
const RoleEnv = "PLUGINTEST_ROLE"

// roles are further programs, of the tests outside of this package.
var roles = map[string]func(){}

// Role adds one.
func Role(name string, main func()) string {
	roles[name] = main
	return name
}

func TestMain(m *testing.M) {
	if main := roles[os.Getenv(RoleEnv)]; main != nil {
		main()
		return
	}
	switch os.Getenv(RoleEnv) {
	case "harness":
		Serve(fake{run: play})
	case "host":
		if err := beHost(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

// play is the run of a harness process; the title says what it does.
func play(ctx context.Context, t Task, h Host) (Result, error) {
	h.Emit(System("session started", SessionInfo{SessionID: "s"}))
	what, arg, _ := strings.Cut(t.Title, " ")
	switch what {
	case "count":
		return playCount(ctx, t, h)
	case "flood":
		var n int
		fmt.Sscan(arg, &n)
		for i := 1; i <= n; i++ {
			emit(h, fmt.Sprint(i))
		}
	case "noise":
		return playNoise(t)
	case "command":
		return playCommand(ctx, arg, h)
	case "ignore":
		select {}
	case "wait":
		<-ctx.Done()
		emit(h, "good bye")
		return Result{}, ctx.Err()
	case "exit":
		emit(h, "last words")
		waitFor(t, "go")
		fmt.Fprintln(os.Stderr, "about to die")
		os.Exit(3)
	case "panic":
		panic("boom")
	}
	return Result{Text: "done"}, nil
}

// playCount counts until the file stop appears, with a question in between.
func playCount(ctx context.Context, t Task, h Host) (Result, error) {
	answer := make(chan string, 1)
	go func() {
		a, err := h.Ask(ctx, Question{ID: "q", Text: "go on?"})
		answer <- fmt.Sprint(a.Allow, err)
	}()
	for i := 1; !exists(filepath.Join(t.WorkDir, "stop")); i++ {
		emit(h, fmt.Sprint(i))
		<-time.After(time.Millisecond)
	}
	return Result{Text: <-answer}, nil
}

// playNoise waits for the file go and then logs in every way at once.
func playNoise(t Task) (Result, error) {
	waitFor(t, "go")
	line := strings.Repeat("x", 1000)
	for range 500 {
		fmt.Fprintln(os.Stderr, line)
		fmt.Println(line)
		log.Print(line)
		slog.Info(line)
	}
	fmt.Println(strings.Repeat("y", 300_000))
	if err := os.WriteFile(filepath.Join(t.WorkDir, "survived"), nil, 0o600); err != nil {
		return Result{}, err
	}
	return Result{Text: "survived"}, nil
}

func playCommand(ctx context.Context, script string, h Host) (Result, error) {
	var out strings.Builder
	p, err := h.Command(ctx, shell(script), Exec{Stdout: &out, Stderr: &out})
	if err != nil {
		return Result{}, err
	}
	h.Emit(Log(fmt.Sprint("pid ", p.Pid()), ""))
	code, err := p.Wait()
	emit(h, fmt.Sprintf("%d %q", code, out.String()))
	return Result{Text: out.String()}, err
}

func waitFor(t Task, name string) {
	for !exists(filepath.Join(t.WorkDir, name)) {
		<-time.After(time.Millisecond)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// harnessConfig starts the test binary as a harness with a short environment.
func harnessConfig(dir string, env ...string) *goplugin.ClientConfig {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{RoleEnv + "=harness", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &goplugin.ClientConfig{
		HandshakeConfig: Handshake(), Plugins: PluginMap(), Cmd: cmd, SkipHostEnv: true,
		Logger: hclog.NewNullLogger(), StartTimeout: 30 * time.Second,
	}
}

// child is a harness process of a test.
type child struct {
	t      *testing.T
	dir    string
	client *goplugin.Client
	cmd    *exec.Cmd
	addr   net.Addr
	stderr *buffer
}

func startHarness(t *testing.T, env ...string) *child {
	t.Helper()
	dir := t.TempDir()
	config := harnessConfig(dir, env...)
	c := &child{t: t, dir: dir, cmd: config.Cmd, stderr: &buffer{}}
	config.Stderr = c.stderr
	c.client = goplugin.NewClient(config)
	var err error
	if c.addr, err = c.client.Start(); err != nil {
		t.Fatalf("start the harness: %v\n%s", err, c.stderr)
	}
	t.Cleanup(func() {
		syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		c.client.Kill()
	})
	return c
}

// connect opens a connection that cut drops without a word, as a dying host does.
func (c *child) connect() (client *Client, cut func()) {
	c.t.Helper()
	conn, err := net.Dial(c.addr.Network(), c.addr.String())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	r, err := goplugin.NewRPCClient(conn, PluginMap())
	if err != nil {
		c.t.Fatal(err)
	}
	if client, err = NewClient(r); err != nil {
		c.t.Fatal(err)
	}
	return client, func() { conn.Close() }
}

func (c *child) start(title string) (s Session, cut func()) {
	c.t.Helper()
	client, cut := c.connect()
	s, err := client.Start(c.t.Context(), Task{RunID: "r1", WorkDir: c.dir, Title: title})
	if err != nil {
		c.t.Fatal(err)
	}
	return s, cut
}

func (c *child) touch(name string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), nil, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) ends() {
	c.t.Helper()
	until(c.t, "the harness to end", func() bool { return !alive(c.pid()) })
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// record is what a host keeps to come back to a harness.
type record struct {
	Network, Address string
	Pid              int
}

// beHost runs the harness in dir, keeps its record there and appends every event
// that it acknowledges to a file, until it is killed.
func beHost(dir string) error {
	client := goplugin.NewClient(harnessConfig(dir))
	p, err := client.Client()
	if err != nil {
		return err
	}
	c, err := NewClient(p)
	if err != nil {
		return err
	}
	s, err := c.Start(context.Background(), Task{RunID: "r1", WorkDir: dir, Title: "count"})
	if err != nil {
		return err
	}
	re := client.ReattachConfig()
	b, err := json.Marshal(record{re.Addr.Network(), re.Addr.String(), re.Pid})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "record.json"), b, 0o600)
	}
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "events"))
	if err != nil {
		return err
	}
	rec := &recorder{}
	rec.push = func(batch []Event) error {
		var lines strings.Builder
		for _, e := range batch {
			text, _ := DecodeText(e)
			fmt.Fprintf(&lines, "%d %s\n", e.Seq, text)
		}
		_, err := f.WriteString(lines.String())
		return err
	}
	rec.answer = func(ctx context.Context, q Question) (Answer, error) {
		_ = os.WriteFile(filepath.Join(dir, "asked"), []byte(q.ID), 0o600)
		<-ctx.Done()
		return Answer{}, ctx.Err()
	}
	_, err = s.Follow(context.Background(), 0, rec)
	return err
}

// lines reads a file of the host by lines.
func lines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}
