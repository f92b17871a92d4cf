package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// usage is what a page and its server hold at one moment.
type usage struct {
	Elements float64 // of the page
	Heap     float64 // of its scripts, MiB
	Server   float64 // memory of the server, MiB
}

func (u usage) String() string {
	return fmt.Sprintf("%6.0f elements, %6.1f MiB of scripts, %6.1f MiB of the server", u.Elements, u.Heap, u.Server)
}

// What a page and its server may have grown by when the soak ends, of what they
// held once they were warm.
const (
	mayGrow     = 1.3
	mayGrowMiB  = 24 // that is no growth: heaps breathe
	warmPasses  = 3
	soakedSteps = 200
)

const usageScript = `(() => { globalThis.gc?.(); return JSON.stringify({
	Elements: document.getElementsByTagName('*').length, Heap: performance.memory.usedJSHeapSize / 1048576}); })()`

// soak runs a plan to its end again and again while a browser looks at it, until
// the time is up. It fails when the page or the server keeps growing.
func soak(ctx context.Context, o *options, out io.Writer) error {
	dir, err := os.MkdirTemp("", "clearbox-soak-")
	if err != nil {
		return fmt.Errorf("make a folder to work in: %w", err)
	}
	defer os.RemoveAll(dir)
	r := &round{bench: &bench{bin: o.bin, dir: dir, sizes: fullSizes, out: out}, dir: dir}
	err = r.soak(ctx, time.Now().Add(o.soak))
	return errors.Join(err, r.end())
}

func (r *round) soak(ctx context.Context, until time.Time) error {
	s, err := r.server(ctx, "server")
	if err != nil {
		return err
	}
	work, err := r.work("soaked")
	if err != nil {
		return err
	}
	c := s.client()
	id, err := c.submit(ctx, layered(soakedSteps, work, true))
	if err != nil {
		return err
	}
	b, err := openBrowser(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.open(fmt.Sprintf("%s/plans/%d", s.base, id), "#cards a.card"); err != nil {
		return err
	}
	var warm, now usage
	for pass := 1; time.Now().Before(until) || pass <= warmPasses; pass++ {
		if err := c.runOnce(ctx, id); err != nil {
			return fmt.Errorf("pass %d: %w", pass, err)
		}
		if err := b.ask(usageScript, &now); err != nil {
			return err
		}
		now.Server = residentMiB(ctx, s.cmd.Process.Pid)
		if pass <= warmPasses {
			warm = now
		}
		fmt.Fprintf(r.out, "%s  pass %d: %s\n", time.Now().Format(time.TimeOnly), pass, now)
	}
	return grownBy(warm, now)
}

// runOnce starts a plan, does all of its steps and sets it back.
func (c *client) runOnce(ctx context.Context, id int64) error {
	if err := c.start(ctx, id, "external"); err != nil {
		return err
	}
	for {
		step, ok, err := c.claim(ctx)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := c.complete(ctx, step); err != nil {
			return err
		}
	}
	return c.post(ctx, fmt.Sprintf("/api/plans/%d/reset", id), struct{}{}, nil)
}

// grownBy says what has grown too much.
func grownBy(warm, now usage) error {
	var all []error
	for _, x := range []struct {
		name      string
		from, to  float64
		breathing float64
	}{{"the page's elements", warm.Elements, now.Elements, 200}, {"the page's scripts", warm.Heap, now.Heap, mayGrowMiB}, {"the server's memory", warm.Server, now.Server, mayGrowMiB}} {
		if x.to > mayGrow*x.from+x.breathing {
			all = append(all, fmt.Errorf("%s grew from %.1f to %.1f", x.name, x.from, x.to))
		}
	}
	return errors.Join(all...)
}
