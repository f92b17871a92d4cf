package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
)

// harnessScenario measures what harnesses take: the memory of each while it has
// nothing to do, and what the agent loop of harness-openai adds to a model that
// answers at its own pace.
func harnessScenario() *scenario {
	var figures []*figure
	slugs := []string{"claude", "openai", "acp", "mock"}
	for _, slug := range slugs {
		figures = append(figures, &figure{text: "memory of an idle harness-" + slug, unit: "MiB", sense: below, bar: 25, worst: true})
	}
	cpu := &figure{text: "processor time of 8 openai runs while a model streams to all, of one core", unit: "%", sense: below, bar: 5}
	late := &figure{text: "how much longer than the stream such a run takes", unit: "%", sense: below, bar: 5}
	return &scenario{name: "harness", figures: append(figures, cpu, late), run: func(ctx context.Context, r *round) error {
		for i, slug := range slugs {
			mib, err := r.idleHarness(ctx, slug)
			if err != nil {
				return err
			}
			r.add(figures[i], mib)
		}
		return r.pacedRuns(ctx, cpu, late)
	}}
}

// idleHarness returns the memory of a harness that was greeted and asked what it is.
func (r *round) idleHarness(ctx context.Context, slug string) (float64, error) {
	h, err := r.harness(slug)
	if err != nil {
		return 0, err
	}
	defer h.gp.Kill()
	if _, err := h.client.Info(ctx); err != nil {
		return 0, fmt.Errorf("ask harness-%s what it is: %w", slug, err)
	}
	if err := pause(ctx, 300*time.Millisecond); err != nil {
		return 0, err
	}
	return residentMiB(ctx, h.pid), nil
}

// harnessProcess is one harness, started as Clearbox starts it.
type harnessProcess struct {
	gp     *goplugin.Client
	client *plugin.Client
	pid    int
}

func (r *round) harness(slug string) (*harnessProcess, error) {
	path := filepath.Join(r.bin, "harness-"+slug)
	if _, err := os.Stat(path); err != nil {
		return nil, missing(path)
	}
	cmd := exec.Command(path)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "TMPDIR=" + r.dir}
	gp := goplugin.NewClient(&goplugin.ClientConfig{HandshakeConfig: plugin.Handshake(), Plugins: plugin.PluginMap(), Cmd: cmd,
		SkipHostEnv: true, Stderr: io.Discard, Logger: hclog.NewNullLogger()})
	p, err := gp.Client()
	if err != nil {
		gp.Kill()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	c, err := plugin.NewClient(p)
	if err != nil {
		gp.Kill()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &harnessProcess{gp, c, cmd.Process.Pid}, nil
}

// paced is what came of one run beside a stream at a fixed pace.
type paced struct {
	millis float64 // processor time from its first event to its end
	took   time.Duration
	err    error
}

// pacedRuns lets eight harnesses hear the same stream at once.
func (r *round) pacedRuns(ctx context.Context, cpu, late *figure) error {
	const (
		runs  = 8
		chunk = 20 // milliseconds: fifty tokens a second
	)
	n := r.sizes.talk * 1000 / chunk
	model := scriptedmodel.New(scriptedmodel.Script{Turns: []scriptedmodel.Turn{{Text: strings.Repeat("word ", n), ChunkDelayMS: chunk}}})
	model.ChunkSize = len("word ")
	srv, err := model.Start("127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start a scripted model: %w", err)
	}
	defer srv.Close()
	got := make(chan paced, runs)
	for i := range runs {
		go func() { got <- r.pacedRun(ctx, srv.URL, i) }()
	}
	var all []error
	var sum, slowest float64
	for range runs {
		p := <-got
		all = append(all, p.err)
		sum, slowest = sum+p.millis, max(slowest, millis(p.took))
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	r.add(cpu, sum/slowest*100)
	alone, err := streamAlone(ctx, srv.URL)
	if err != nil {
		return err
	}
	r.add(late, (slowest/millis(alone)-1)*100)
	return nil
}

// pacedRun plays one run in a process of its own.
func (r *round) pacedRun(ctx context.Context, url string, n int) (p paced) {
	h, err := r.harness("openai")
	if err != nil {
		return paced{err: err}
	}
	defer h.gp.Kill()
	s, err := h.client.Start(ctx, plugin.Task{RunID: fmt.Sprintf("run-%d", n), WorkDir: r.dir, RunDir: r.dir, Kind: "step", Title: "Listen",
		Prompt: "Say something long.", Allowed: plugin.Read, Profile: plugin.Profile{Name: "bench", Model: "scripted", BaseURL: url}})
	if err != nil {
		return paced{err: err}
	}
	from := &firstEvent{pid: h.pid}
	res, err := s.Follow(ctx, 0, from)
	if err == nil && res.IsError {
		err = fmt.Errorf("the run failed: %s", res.Text)
	}
	return paced{processorMillis(h.pid) - from.millis, time.Since(from.at), err}
}

// streamAlone hears the same stream and does nothing with it.
func streamAlone(ctx context.Context, url string) (time.Duration, error) {
	body := `{"model":"scripted","stream":true,"messages":[{"role":"user","content":"Say something long."}]}`
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("hear the stream alone: %w", err)
	}
	q.Header.Set("Content-Type", "application/json")
	began := time.Now()
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, fmt.Errorf("hear the stream alone: %w", err)
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, a.Body); err != nil || a.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("hear the stream alone: status %d, %w", a.StatusCode, err)
	}
	return time.Since(began), nil
}

// firstEvent notes what a process has used when its first event comes.
type firstEvent struct {
	pid    int
	millis float64
	at     time.Time
}

// Push implements [plugin.Sink].
func (f *firstEvent) Push(context.Context, []plugin.Event) error {
	if f.at.IsZero() {
		f.millis, f.at = processorMillis(f.pid), time.Now()
	}
	return nil
}

// Answer implements [plugin.Sink].
func (*firstEvent) Answer(context.Context, plugin.Question) (plugin.Answer, error) {
	return plugin.Answer{}, errors.New("nobody is here")
}
