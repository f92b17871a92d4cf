package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// scenario measures some figures that belong together, one sample each per round.
type scenario struct {
	name    string
	figures []*figure
	run     func(ctx context.Context, r *round) error
	gone    bool // what it needs is not there: later rounds leave it out
}

// scenarios lists all there are, in the order of the report.
func scenarios() []*scenario {
	return []*scenario{pairsScenario(), manyPlansScenario(), enginePairsScenario(), decisionScenario(), snapshotScenario(), changesScenario(), submitScenario(), readScenario(), floodScenario(),
		reportsScenario(), deliveryScenario(), toolsScenario(), screenScenario(), pagesScenario(), startScenario(), ensureScenario(), launchScenario(), harnessScenario(), mockScenario()}
}

// missing is the error of a scenario that cannot run here: it says what is not there.
type missing string

func (m missing) Error() string { return string(m) }

// scenarioLimit ends a scenario that hangs; none comes near it.
const scenarioLimit = 10 * time.Minute

// bench runs scenarios in rounds.
type bench struct {
	bin       string
	dir       string
	sizes     sizes
	out       io.Writer
	scenarios []*scenario

	calibration []float64 // milliseconds that the fixed work took, before each scenario
}

// runAll runs every scenario once per round. A scenario that fails does not keep
// the others from running.
func (b *bench) runAll(ctx context.Context) error {
	var broken []error
	for n := range b.sizes.rounds {
		for i, s := range b.scenarios {
			if ctx.Err() != nil {
				return errors.Join(broken...)
			}
			if s.gone {
				continue
			}
			fmt.Fprintf(b.out, "round %d of %d, %d of %d: %-8s ", n+1, b.sizes.rounds, i+1, len(b.scenarios), s.name)
			if err := b.runOne(ctx, s, n); err != nil {
				broken = append(broken, fmt.Errorf("scenario %s, round %d: %w", s.name, n+1, err))
			}
		}
	}
	return errors.Join(broken...)
}

// runOne runs one scenario for one round, in a folder of its own.
func (b *bench) runOne(ctx context.Context, s *scenario, n int) error {
	b.calibration = append(b.calibration, millis(calibrate()))
	ctx, cancel := context.WithTimeout(ctx, scenarioLimit)
	defer cancel()
	r := &round{bench: b, n: n, dir: filepath.Join(b.dir, fmt.Sprintf("%s-%d", s.name, n))}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return fmt.Errorf("make a folder for a round: %w", err)
	}
	began := time.Now()
	err := s.run(ctx, r)
	err = errors.Join(err, r.end())
	fmt.Fprintf(b.out, "%5.1f s  %s\n", time.Since(began).Seconds(), strings.Join(r.told, ", "))
	if err == nil {
		return nil
	}
	fmt.Fprintf(b.out, "    %s\n", strings.ReplaceAll(err.Error(), "\n", "\n    "))
	for _, f := range s.figures {
		if len(f.samples) == 0 {
			f.absent = err.Error()
		}
	}
	var m missing
	if s.gone = errors.As(err, &m); s.gone {
		return nil
	}
	return err
}

// round is what a scenario works with: a folder, the binaries, and servers that
// end with it.
type round struct {
	*bench
	n       int
	dir     string
	told    []string
	servers []*server
}

// add takes a sample.
func (r *round) add(f *figure, v float64) {
	f.samples = append(f.samples, v)
	f.loads = append(f.loads, load())
	r.told = append(r.told, quantity(v, f.unit))
}

// server starts a server on a database in the round's folder.
func (r *round) server(ctx context.Context, name string, flags ...string) (*server, error) {
	return r.serverOn(ctx, filepath.Join(r.dir, name), flags...)
}

// serverOn starts a server on the database in a folder. It plays the mock agent
// where the flags do not say otherwise.
func (r *round) serverOn(ctx context.Context, dir string, flags ...string) (*server, error) {
	s, err := startServer(ctx, r.bin, dir, flags...)
	if err == nil {
		r.servers = append(r.servers, s)
	}
	return s, err
}

// work makes a new folder that a plan can work in.
func (r *round) work(name string) (string, error) {
	dir := filepath.Join(r.dir, "work", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for a plan: %w", err)
	}
	return dir, nil
}

// kept is a path that outlives the round: what is dear to make is made once.
func (r *round) kept(name string) string { return filepath.Join(r.bench.dir, "kept-"+name) }

// end ends the servers and removes the folder.
func (r *round) end() error {
	var all []error
	for _, s := range r.servers {
		all = append(all, s.stop())
	}
	return errors.Join(append(all, os.RemoveAll(r.dir))...)
}

// alternate returns the order in which two alternatives are measured the i-th
// time of this round: what drifts during a run then hits both alike.
func (r *round) alternate(i int) [2]int {
	if (r.n+i/2+i)%2 == 0 {
		return [2]int{0, 1}
	}
	return [2]int{1, 0}
}
