package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

const install = "install it with: npm install -g @anthropic-ai/claude-code"

// oldest is the first version that was tried and keeps to all that is used here: major,
// minor, patch. 2.1.0 runs commands that its hook wants to have asked about.
var oldest = [3]int{2, 1, 100}

const programTime = 20 * time.Second // for a program that only says something of itself

// findProgram returns the path of the claude program.
func (h *harness) findProgram(given string) (string, *settings.Fault) {
	if given != "" {
		path, err := exec.LookPath(h.expand(given))
		if err != nil {
			return "", settings.Wrong("params.path", "params.path: %s is not a program that can be started (%v); %s, or leave the setting empty", given, reason(err), install)
		}
		return absolute(path), nil
	}
	if path, err := exec.LookPath("claude"); err == nil {
		return absolute(path), nil
	}
	for _, path := range h.usualPlaces() {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", settings.Wrong("params.path", "the program claude was not found on the PATH of Clearbox: %s; or set params.path to where it is", install)
}

// usualPlaces are where its installers put it. A service has a short PATH.
func (h *harness) usualPlaces() []string {
	places := []string{"/usr/local/bin/claude", "/opt/homebrew/bin/claude"}
	if home := h.getenv("HOME"); home != "" {
		for _, dir := range []string{".local/bin", ".claude/local", ".npm-global/bin", ".bun/bin"} {
			places = append(places, filepath.Join(home, dir, "claude"))
		}
	}
	return places
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// reason takes the system's own words out of an error.
func reason(err error) error {
	var e *exec.Error
	var p *os.PathError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &e):
		return e.Err
	}
	return err
}

var versionForm = regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)`)

// programVersion asks a program for its version.
func programVersion(ctx context.Context, path string) (string, *settings.Fault) {
	out, err := say(ctx, path, nil, "--version")
	m := versionForm.FindSubmatch(out)
	if m == nil {
		return "", settings.Wrong("params.path", "%s --version does not name a version of Claude Code (%v): %s", path, reasonOr(err, "it says something else"), oneLine(string(out)))
	}
	for i, least := range oldest {
		n, _ := strconv.Atoi(string(m[i+1])) // digits; one that is too big counts as new
		switch {
		case n > least:
			return string(m[0]), nil
		case n < least:
			return "", settings.Wrong("params.path", "claude %s is too old: %d.%d.%d or newer is needed; %s", m[0], oldest[0], oldest[1], oldest[2], install)
		}
	}
	return string(m[0]), nil
}

func reasonOr(err error, other string) any {
	if err == nil {
		return other
	}
	return reason(err)
}

// say runs the program for what it prints, at most 64 KiB of it.
func say(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	var out limited
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = append(os.Environ(), env...), &out, &out, time.Second
	err := cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", programTime)
	}
	return out.Bytes(), err
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := 64<<10 - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
