package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstWait = 500 * time.Millisecond
	mostWait  = 8 * time.Second  // when the endpoint names no time
	patience  = 60 * time.Second // longer waits are the plan's business
)

// ask sends the conversation and returns the reply. It repeats what may go away by
// itself, and leaves out fields that the endpoint turns out not to know.
func (c *client) ask(ctx context.Context, history []message) (*reply, error) {
	for tries := 0; ; {
		r, err := c.once(ctx, history)
		var f *fault
		switch {
		case err == nil:
			return r, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.As(err, &f):
			return nil, err
		case c.adapt(f):
			continue // at most once for each field
		}
		wait := f.pause(tries)
		if !f.retry || tries >= c.params.maxRetries || wait > patience {
			if tries > 0 {
				f.text += fmt.Sprintf(" (tried %d times)", tries+1)
			}
			return nil, f
		}
		tries++
		c.note(fmt.Sprintf("%s; trying again in %v (%d of %d)", f.text, wait.Round(time.Millisecond), tries, c.params.maxRetries))
		if err := c.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// pause is how long to wait after a number of earlier waits.
func (f *fault) pause(tries int) time.Duration {
	if f.waits {
		return f.wait
	}
	d := min(firstWait<<min(tries, 10), mostWait)
	return d - time.Duration(rand.Int64N(int64(d)/4)) // so that parallel steps do not come back as one
}

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryAfter reads the ways in which endpoints say when to come back.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	if v := h.Get("Retry-After"); v != "" {
		if d, ok := span(v); ok {
			return d, true
		}
		if at, err := http.ParseTime(v); err == nil {
			return max(at.Sub(now), 0), true
		}
	}
	for _, what := range []string{"Requests", "Tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+what) == "0" {
			if d, ok := span(h.Get("X-Ratelimit-Reset-" + what)); ok {
				return d, true
			}
		}
	}
	return resetTime(h.Get("X-Ratelimit-Reset"), now)
}

// span reads seconds, or a duration such as 6m0s.
func span(v string) (time.Duration, bool) {
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second)), true
	}
	d, err := time.ParseDuration(v)
	return d, err == nil && d >= 0
}

// resetTime reads a moment in seconds or milliseconds since 1970.
func resetTime(v string, now time.Time) (time.Duration, bool) {
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case err != nil || n < 1e9:
		return 0, false
	case n >= 1e12:
		return max(time.UnixMilli(n).Sub(now), 0), true
	}
	return max(time.Unix(n, 0).Sub(now), 0), true
}
