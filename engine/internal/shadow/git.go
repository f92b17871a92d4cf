package shadow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrNoGit is returned, wrapped, where git is needed and none is on PATH.
var ErrNoGit = errors.New("git is not on PATH")

// safeConfig keeps git from everything that a repository or a user could have it
// run or look at.
func safeConfig() []string {
	return []string{
		"core.hooksPath=" + os.DevNull,
		"core.fsmonitor=false",
		"core.attributesFile=" + os.DevNull,
		"core.excludesFile=" + os.DevNull,
		"core.autocrlf=false",
		"core.commitGraph=false",
		"core.multiPackIndex=false",
		"core.untrackedCache=false",
		"gc.auto=0",
		"maintenance.auto=false",
		"protocol.allow=never",
		"submodule.recurse=false",
	}
}

// command is one call of git on a repository, in a clean environment.
type command struct {
	repo   *Repo
	dir    string
	args   []string
	config []string // beside safeConfig
	env    []string
	in     io.Reader
}

// git prepares a call on a git directory. It runs inside of that directory, so
// that git looks at no work tree.
func (r *Repo) git(gitDir string, args ...string) *command {
	return &command{repo: r, dir: gitDir, args: args}
}

// with adds settings to the environment.
func (c *command) with(env ...string) *command {
	c.env = append(c.env, env...)
	return c
}

func (c *command) stdin(in io.Reader) *command {
	c.in = in
	return c
}

// output runs git and returns what it prints.
func (c *command) output(ctx context.Context) ([]byte, error) {
	var out bytes.Buffer
	err := c.stream(ctx, &out)
	return out.Bytes(), err
}

// stream runs git and copies what it prints.
func (c *command) stream(ctx context.Context, out io.Writer) error {
	cmd, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &limitedWriter{&said, 4 << 10}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("git %s: %w: %s", c.args[0], err, strings.TrimSpace(said.String()))
	}
	return nil
}

var errEnough = errors.New("no more is wanted")

// read runs git and hands what it prints to fn, which reads to the end or fails.
func (c *command) read(ctx context.Context, fn func(io.Reader) error) error {
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := c.stream(ctx, w)
		w.CloseWithError(err)
		done <- err
	}()
	err := fn(r)
	r.CloseWithError(errors.Join(errEnough, err))
	if ran := <-done; err == nil {
		err = ran
	}
	return err
}

func (c *command) prepare(ctx context.Context) (*exec.Cmd, error) {
	path, err := c.repo.gitPath()
	if err != nil {
		return nil, err
	}
	var args []string
	for _, s := range append(safeConfig(), c.config...) {
		args = append(args, "-c", s)
	}
	cmd := exec.CommandContext(ctx, path, append(append(args, "--no-pager", "--literal-pathspecs"), c.args...)...)
	cmd.Dir, cmd.Stdin = c.dir, c.in
	cmd.Env = append(safeEnv(c.dir), c.env...)
	cmd.WaitDelay = 2 * time.Second
	return cmd, nil
}

// safeEnv is all that git gets to see of the environment.
func safeEnv(gitDir string) []string {
	env := []string{
		"GIT_DIR=" + gitDir,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none",
		"HOME=" + os.DevNull, // gits before 2.32 know no other way to do without the user's settings
		"XDG_CONFIG_HOME=" + os.DevNull,
		"LC_ALL=C",
		"PATH=" + os.Getenv("PATH"),
	}
	if tmp := os.Getenv("TMPDIR"); tmp != "" {
		env = append(env, "TMPDIR="+tmp)
	}
	return env
}

// gitPath returns where git is. It looks again until there is one, so that
// installing it needs no restart.
func (r *Repo) gitPath() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gitFound != "" {
		return r.gitFound, nil
	}
	path, err := exec.LookPath("git")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", ErrNoGit
	}
	r.gitFound = path
	return path, nil
}

// limitedWriter keeps the beginning of what is written.
type limitedWriter struct {
	to   *bytes.Buffer
	left int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	w.to.Write(p[:n])
	return len(p), nil
}
