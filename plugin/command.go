package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// commands are the programs of one run, in the form without isolation: started
// in the working directory, each in a process group of its own.
type commands struct {
	task Task
	ctx  context.Context // ends with the run
	hard chan struct{}   // closed: end programs at once, without asking

	mu       sync.Mutex // guards what follows
	hardOnce sync.Once
	fork     chan func() // to the one thread that starts programs; nil before the first
	ended    bool
	left     []int // process groups that outlived their first program
	running  sync.WaitGroup
}

func newCommands(ctx context.Context, t Task) *commands {
	return &commands{task: t, ctx: ctx, hard: make(chan struct{})}
}

// start starts argv and returns when it runs.
func (c *commands) start(ctx context.Context, argv []string, x Exec) (Proc, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("start a program: argv is empty")
	}
	dir, err := inside(c.task.WorkDir, x.Dir)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = environment(dir, x.Env)
	cmd.SysProcAttr = ownGroup()
	p := &proc{cmd: cmd, kill: make(chan struct{}), done: make(chan struct{})}
	if err := c.launch(p, x); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	go p.watch(ctx, c, x.Timeout)
	return p, nil
}

// launch starts p with its pipes, unless the run has ended.
func (c *commands) launch(p *proc, x Exec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.ctx.Err() != nil {
		return fmt.Errorf("the run has ended: %w", context.Canceled)
	}
	pipes, err := connect(p.cmd, x)
	if err != nil {
		return err
	}
	if err := c.forked(p.cmd.Start); err != nil {
		pipes.close()
		return err
	}
	pipes.closeChildEnds()
	pipes.copy()
	p.pipes = pipes
	c.running.Add(1)
	return nil
}

// forked calls start on the run's own thread. The parent-death signal of a
// program comes when the thread that forked it ends, which for any other
// goroutine can be at any time. The caller holds mu.
func (c *commands) forked(start func() error) error {
	if c.fork == nil {
		fork := make(chan func())
		c.fork = fork
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
			for f := range fork {
				f()
			}
		}()
	}
	err := make(chan error, 1)
	c.fork <- func() { err <- start() }
	return <-err
}

// end ends everything that the run started and waits until it is gone. The
// run's context has ended before.
func (c *commands) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, group := range c.left {
		killGroup(group)
	}
	c.left = nil
	if c.fork != nil {
		close(c.fork)
		c.fork = nil
	}
}

// kill makes end quick: nothing is asked to end any more, all is killed.
func (c *commands) kill() {
	c.hardOnce.Do(func() { close(c.hard) })
}

// leave remembers a process group that lives on in the background until the run
// ends, such as a server that the agent started to try something.
func (c *commands) leave(group int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = slices.DeleteFunc(c.left, func(g int) bool { return !groupAlive(g) })
	if groupAlive(group) {
		c.left = append(c.left, group)
	}
}

// inside returns the folder dir of root and refuses one that, with links
// resolved, is not in it.
func inside(root, dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return "", fmt.Errorf("folder %q must be relative to the working directory", dir)
	}
	top, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", fmt.Errorf("open the working directory: %w", err)
	}
	full, err := filepath.EvalSymlinks(filepath.Join(root, dir))
	if err != nil {
		return "", fmt.Errorf("open folder %q: %w", dir, err)
	}
	if rel, err := filepath.Rel(top, full); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("folder %q is outside of the working directory", dir)
	}
	return filepath.Join(root, dir), nil
}

// environment is this process's own, which the host keeps short, without what
// only the connection to the host needs.
func environment(dir string, more []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "CLEARBOX_") || strings.HasPrefix(s, "PLUGIN_") || strings.HasPrefix(s, "PWD=")
	})
	return append(append(env, "PWD="+dir), more...)
}

// exitCode is what a shell would call it: 128 and the signal's number for a
// program that a signal ended.
func exitCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
