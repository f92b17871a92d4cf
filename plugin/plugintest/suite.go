package plugintest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// suite is one harness under test.
type suite struct {
	path string
	o    Options
}

// testcase is one demand. first means that without it nothing else can be tried.
type testcase struct {
	name  string
	first bool
	run   func(*check, context.Context)
}

// cases are all demands, in the order in which they are reported.
func cases() []testcase {
	return []testcase{
		{"starts and shakes hands", true, (*check).starts},
		{"refuses a start by hand", false, (*check).byHand},
		{"says what it is", false, (*check).info},
		{"describes its settings", false, (*check).settings},
		{"checks a profile", false, (*check).profile},
		{"tells a run in order, with one result", false, (*check).quick},
		{"answers each tool call", false, (*check).tools},
		{"stops when asked", false, (*check).stop},
		{"survives big output", false, (*check).big},
		{"asks and hears the answer", false, (*check).ask},
		{"works without a host and hands over all", false, (*check).reattach},
		{"its death is noticed", false, (*check).death},
		{"ends when it is let go", false, (*check).letGo},
		{"keeps the secret", false, (*check).secret},
	}
}

func newSuite(path string, o Options) *suite {
	if o.StopGrace == 0 {
		o.StopGrace = 4 * time.Second
	}
	if o.LeaveGrace == 0 {
		o.LeaveGrace = 10 * time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Quick.Prompt == "" {
		o.Quick.Prompt = "This is a test of the connection. Answer with the word ready and do nothing else."
	}
	if o.Quick.Title == "" {
		o.Quick.Title = "Say that you are ready"
	}
	return &suite{path, o}
}

// outcome runs one case in folders and processes of its own.
func (s *suite) outcome(ctx context.Context, tc testcase) (out Outcome) {
	began := time.Now()
	out = Outcome{Name: tc.name, Status: Pass}
	defer func() { out.Took = time.Since(began) }()
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "plugintest-")
	if err != nil {
		return Outcome{Name: tc.name, Status: Fail, Detail: err.Error()}
	}
	c := &check{suite: s, dir: dir}
	defer c.cleanUp()
	tc.run(c, ctx)
	if ctx.Err() != nil && len(c.faults) == 0 {
		c.fail("not done within %s", s.o.Timeout)
	}
	switch {
	case len(c.faults) > 0:
		out.Status, out.Detail = Fail, strings.Join(c.faults, "\n")
		if tail := c.stderrTail(); tail != "" {
			out.Detail += "\nstderr: " + tail
		}
	case c.skipped != "":
		out.Status, out.Detail = Skip, c.skipped
	}
	return out
}

// check is one case while it runs.
type check struct {
	*suite
	dir       string
	faults    []string
	skipped   string
	processes []*process
}

// fail notes a fault; the same one only once.
func (c *check) fail(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	for _, old := range c.faults {
		if old == s {
			return
		}
	}
	c.faults = append(c.faults, s)
}

func (c *check) skip(format string, args ...any) { c.skipped = fmt.Sprintf(format, args...) }

func (c *check) cleanUp() {
	for _, p := range c.processes {
		p.end()
	}
	for _, pid := range c.survivors() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = os.RemoveAll(c.dir)
}

func (c *check) stderrTail() string {
	var all []string
	for _, p := range c.processes {
		if s := strings.TrimSpace(p.stderr.String()); s != "" {
			all = append(all, s)
		}
	}
	tail := strings.Join(all, "\n")
	return tail[max(0, len(tail)-2000):]
}

// task completes a task of the options.
func (c *check) task(t plugin.Task) plugin.Task {
	if t.RunID == "" {
		t.RunID = "plugintest-run"
	}
	if t.WorkDir == "" {
		t.WorkDir = c.folder("work")
	}
	if t.RunDir == "" {
		t.RunDir = c.folder("run")
	}
	if t.Kind == "" {
		t.Kind = "step"
	}
	if t.Profile.Name == "" {
		t.Profile = c.o.Profile
	}
	if t.Allowed == "" {
		t.Allowed = plugin.Full
	}
	t.PlanID, t.NodeID, t.Attempt = max(t.PlanID, 1), max(t.NodeID, 1), max(t.Attempt, 1)
	return t
}

func (c *check) folder(name string) string {
	dir := c.dir + "/" + name
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.fail("make a folder: %v", err)
	}
	return dir
}

// start launches a process with a run of t. ok is false when that failed.
func (c *check) start(ctx context.Context, t plugin.Task) (p *process, conn *connection, ok bool) {
	p, ok = c.launch()
	if !ok {
		return nil, nil, false
	}
	if conn, ok = c.connect(p); !ok {
		return nil, nil, false
	}
	t = c.task(t)
	if _, err := conn.client.Start(ctx, t); err != nil {
		c.fail("start a run: %v", err)
		return nil, nil, false
	}
	conn.run = t.RunID
	return p, conn, true
}

// known says whether a task of the options was given.
func known(t plugin.Task) bool {
	return t.Prompt != "" || t.Title != "" || len(t.Profile.Params) > 0
}

// read follows a run to its end. Each event is checked as it comes.
func (c *check) read(ctx context.Context, conn *connection, after int64, each func(plugin.Event)) (*transcript, bool) {
	t := &transcript{check: c, last: after}
	for {
		rep, err := conn.client.Next(ctx, plugin.Request{
			Run: conn.run, After: t.last, Wait: time.Second, Known: t.asked,
		})
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				c.fail("read the run: %v", err)
			}
			return t, false
		}
		for _, e := range rep.Events {
			t.add(e)
			if each != nil {
				each(e)
			}
		}
		for _, q := range rep.Questions {
			t.answer(ctx, conn, q)
		}
		if rep.Done {
			t.end(rep)
			return t, true
		}
	}
}
