package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// startScenario measures how long a server takes from being started to its first
// answer, and what it holds in memory then.
func startScenario() *scenario {
	empty := &figure{text: "start to first answer, empty database", unit: "ms"}
	full := &figure{text: "start to first answer, database of 200 MB, which the system has in its cache", unit: "ms", sense: below, bar: 150}
	rss := &figure{text: "resident memory when idle, database of 200 MB", unit: "MiB", sense: below, bar: 60}
	return &scenario{name: "start", figures: []*figure{empty, full, rss}, run: func(ctx context.Context, r *round) error {
		dir, err := r.database(ctx, full, rss)
		if err != nil {
			return err
		}
		var tookEmpty, tookFull, held []float64
		for i := range r.sizes.starts {
			s, err := r.server(ctx, fmt.Sprintf("empty-%d", i))
			if err != nil {
				return err
			}
			tookEmpty = append(tookEmpty, millis(s.startup))
			if err := s.stop(); err != nil {
				return err
			}
			if s, err = r.serverOn(ctx, dir); err != nil {
				return err
			}
			tookFull = append(tookFull, millis(s.startup))
			if err := pause(ctx, time.Second); err != nil { // until it is idle
				return err
			}
			held = append(held, residentMiB(ctx, s.pid))
			if err := s.stop(); err != nil {
				return err
			}
		}
		r.add(empty, median(tookEmpty))
		r.add(full, median(tookFull))
		r.add(rss, median(held))
		return nil
	}}
}

// database makes a large database the first time: transcripts for the most part,
// and a large plan that is started. It stays for the later rounds.
func (r *round) database(ctx context.Context, figures ...*figure) (string, error) {
	dir := r.kept("database")
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if r.sizes.database != fullSizes.database {
		for _, f := range figures {
			f.text = strings.ReplaceAll(f.text, "200 MB", fmt.Sprintf("%d MB", r.sizes.database>>20))
		}
	}
	s, err := r.serverOn(ctx, dir)
	if err != nil {
		return "", err
	}
	if err := r.fill(ctx, s); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, s.stop()
}

// fill reports long messages until a database has its size.
func (r *round) fill(ctx context.Context, s *server) error {
	c := s.client()
	message := strings.Repeat("A line of the output of a test, as agents show them.\n", 160)
	work := r.kept("work")
	for _, name := range []string{"large", "told"} {
		if err := os.MkdirAll(filepath.Join(work, name), 0o755); err != nil {
			return fmt.Errorf("make a folder for a plan: %w", err)
		}
	}
	if _, err := c.begin(ctx, wide(reporters, filepath.Join(work, "told")), "external"); err != nil {
		return err
	}
	var calls [][]byte
	for range reporters {
		step, _, err := c.claim(ctx)
		if err != nil {
			return err
		}
		call, err := toolCall("report_progress", map[string]any{"plan_id": step.PlanID, "node_id": step.NodeID, "message": message})
		if err != nil {
			return err
		}
		calls = append(calls, call)
	}
	if _, err := c.begin(ctx, layered(largePlan, filepath.Join(work, "large"), true), "external"); err != nil {
		return err
	}
	_, err := reportAll(ctx, c, calls, r.sizes.database/len(message))
	return err
}
