package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// prepare copies the service and makes a git repository of it.
func prepare(ctx context.Context, repo, dir string) (string, error) {
	repo, err := findRepo(repo)
	if err != nil {
		return "", err
	}
	if dir, err = target(dir); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(repo)); err != nil {
		return "", fmt.Errorf("copy the service: %w", err)
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=example", "-c", "user.email=example@localhost", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "The service as it was found"},
	} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return dir, nil
}

// target returns the absolute path of the folder to copy to, which must be empty.
func target(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "goal-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("--dir: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("--dir: %w", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		return "", errors.Join(fmt.Errorf("--dir: %s is not empty", dir), err)
	}
	return dir, nil
}

// findRepo looks for the service from where the program was started.
func findRepo(repo string) (string, error) {
	places := []string{repo}
	if repo == "" {
		places = []string{"examples/goal/repo", "goal/repo", "repo", "../repo"}
	}
	for _, p := range places {
		if _, err := os.Stat(filepath.Join(p, "server.go")); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("the service to copy is not in %v: start the program in the source tree of Clearbox, or name the folder with --repo", places)
}
