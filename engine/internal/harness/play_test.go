package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/clearbox-go/clearbox/plugin"
)

// playHarness is a harness, or something that only looks like one.
func playHarness(slug string) int {
	switch slug {
	case "garbage":
		fmt.Println("Usage: garbage [options]")
		fmt.Fprintln(os.Stderr, "garbage: need a file")
		select {}
	case "pipes":
		fmt.Println("a|b|c|d|e")
		select {}
	case "endless":
		line := strings.Repeat("x", 1<<20)
		for range 10 {
			fmt.Print(line)
		}
		select {}
	case "old":
		fmt.Printf("%d|9|unix|/nowhere|netrpc|\n", goplugin.CoreProtocolVersion)
		select {}
	case "network":
		fmt.Printf("%d|%d|tcp|127.0.0.1:9|netrpc|\n", goplugin.CoreProtocolVersion, plugin.ProtocolVersion)
		select {}
	case "nosocket":
		fmt.Printf("%d|%d|unix|/nowhere/socket|netrpc|\n", goplugin.CoreProtocolVersion, plugin.ProtocolVersion)
		select {}
	case "silent":
		select {}
	case "exits":
		fmt.Fprintln(os.Stderr, "exits: no licence found")
		return 3
	case "count":
		// One byte for each time it is started.
		f, err := os.OpenFile(filepath.Join(filepath.Dir(os.Args[0]), "starts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 1
		}
		_, _ = f.WriteString("x")
		_ = f.Close()
	}
	plugin.Serve(actor{slug})
	return 0
}

// actor does what the prompt says, line by line.
type actor struct{ slug string }

func (a actor) Info(context.Context) (plugin.Info, error) {
	if a.slug == "broken" {
		fmt.Fprintln(os.Stderr, "broken: cannot describe myself")
		os.Exit(5)
	}
	if a.slug == "schema" {
		return plugin.Info{Slug: a.slug, Settings: []byte("{type: object}")}, nil
	}
	return plugin.Info{Slug: a.slug, Name: "Actor", Version: "1.0"}, nil
}

func (a actor) Check(_ context.Context, p plugin.Profile, connect bool) (plugin.Report, error) {
	if p.Model == "die" {
		fmt.Fprintln(os.Stderr, "the key is "+p.Secret)
		os.Exit(4)
	}
	return plugin.Report{OK: p.Model != "", Detail: fmt.Sprintf("model %q, connect %v", p.Model, connect)}, nil
}

func (a actor) Run(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	for line := range strings.Lines(t.Prompt) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err := act(ctx, t, h, word, rest); err != nil {
			return plugin.Result{}, err
		}
	}
	return plugin.Result{Text: "played"}, nil
}

func act(ctx context.Context, t plugin.Task, h plugin.Host, word, rest string) error {
	switch word {
	case "events":
		return count(ctx, h, rest)
	case "say":
		h.Emit(plugin.Text(rest, ""))
	case "pid":
		h.Emit(plugin.Text(fmt.Sprintf("pid %d", os.Getpid()), ""))
	case "folder":
		h.Emit(plugin.Text(t.RunDir, ""))
	case "environment":
		for _, e := range os.Environ() {
			h.Emit(plugin.Text(e, ""))
		}
	case "shell":
		cmd := exec.Command("/bin/sh", "-c", rest)
		cmd.Env = os.Environ()
		return cmd.Run()
	case "write":
		return os.WriteFile(filepath.Join(t.RunDir, rest), []byte("x"), 0o600)
	case "flood":
		return flood(rest)
	case "stderr":
		_, err := fmt.Fprintln(os.Stderr, rest)
		return err
	case "secret":
		_, err := fmt.Fprintf(os.Stderr, "key %s, tools at %s\n", t.Profile.Secret, t.MCPURL)
		return err
	case "exit":
		code, _ := strconv.Atoi(rest)
		os.Exit(code)
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "wait":
		<-ctx.Done()
	case "deaf": // to everything but SIGKILL
		signal.Reset(syscall.SIGTERM)
		signal.Ignore(syscall.SIGTERM)
		h.Emit(plugin.Text("deaf", ""))
		select {}
	default:
		return errors.New("no such word: " + word)
	}
	return nil
}

// count emits numbered events: "events 100 2ms".
func count(ctx context.Context, h plugin.Host, rest string) error {
	var n int
	var pause string
	if _, err := fmt.Sscan(rest, &n, &pause); err != nil {
		return err
	}
	d, err := time.ParseDuration(pause)
	if err != nil {
		return err
	}
	for i := range n {
		h.Emit(plugin.Text(fmt.Sprintf("event %d", i+1), ""))
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// flood prints so many MiB without a newline: "flood stdout 100".
func flood(rest string) error {
	var name string
	var size int
	if _, err := fmt.Sscan(rest, &name, &size); err != nil {
		return err
	}
	f := os.Stdout
	if name == "stderr" {
		f = os.Stderr
	}
	block := []byte(strings.Repeat("y", 1<<20))
	for range size {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// playServer is a server that launches one run and stores what it hears, until
// someone kills it. It stores the attach record, and one line for each event.
func playServer(data, harnesses string) int {
	exe, err := os.Executable()
	if err != nil {
		return 1
	}
	m := New(Options{Dirs: []string{harnesses}, DataDir: data, Supervisor: []string{exe, "__supervise"}})
	script, err := os.ReadFile(filepath.Join(data, "script"))
	if err != nil {
		return 1
	}
	t := plugin.Task{RunID: "r1", WorkDir: data, Prompt: string(script)}
	s, err := m.Launch(context.Background(), "script", t, func(attach []byte) error {
		if err := writeWhole(filepath.Join(data, "attach"), attach); err != nil {
			return err
		}
		if strings.HasPrefix(t.Prompt, "say crash before the start") {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f, err := os.OpenFile(filepath.Join(data, "stored"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 1
	}
	_, err = s.Follow(context.Background(), 0, storer{f})
	fmt.Fprintln(os.Stderr, err)
	return 0
}

type storer struct{ f *os.File }

func (s storer) Push(_ context.Context, batch []plugin.Event) error {
	var lines strings.Builder
	for _, e := range batch {
		b, _ := json.Marshal(e)
		lines.Write(append(b, '\n'))
	}
	_, err := s.f.WriteString(lines.String())
	return err
}

func (s storer) Answer(ctx context.Context, _ plugin.Question) (plugin.Answer, error) {
	<-ctx.Done()
	return plugin.Answer{}, ctx.Err()
}
