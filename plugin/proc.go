package plugin

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	// killAfter is how long a program may take to end itself after SIGTERM.
	killAfter = 2 * time.Second

	// drainAfter is how long the output of a program is still read after its end:
	// a background child that kept the pipe must not hold up Wait.
	drainAfter = 2 * time.Second
)

// proc is one program. watch owns it; the others wait for done.
type proc struct {
	cmd   *exec.Cmd
	pipes *pipes
	once  sync.Once
	kill  chan struct{}
	done  chan struct{}
	code  int   // set before done is closed
	err   error // likewise
}

func (p *proc) Wait() (int, error) {
	<-p.done
	return p.code, p.err
}

func (p *proc) Pid() int { return p.cmd.Process.Pid }

func (p *proc) Kill() { p.once.Do(func() { close(p.kill) }) }

// watch waits for the program's end and brings it about when it is time.
func (p *proc) watch(ctx context.Context, c *commands, limit time.Duration) {
	defer c.running.Done()
	defer close(p.done)
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = p.cmd.Wait() // the state says it all
	}()
	var expired <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		expired = t.C
	}
	select {
	case <-exited:
	case <-p.kill:
		signalGroup(p.Pid(), true)
	case <-expired:
		p.err = ErrTimeout
		p.terminate(c, exited)
	case <-ctx.Done():
		p.err = ctx.Err()
		p.terminate(c, exited)
	case <-c.ctx.Done():
		p.err = c.ctx.Err()
		p.terminate(c, exited)
	}
	<-exited
	p.pipes.drain(drainAfter, c.hard)
	p.code = exitCode(p.cmd.ProcessState)
	if p.err == nil {
		c.leave(p.Pid())
	}
}

// terminate asks the group to end and kills what is left of it.
func (p *proc) terminate(c *commands, exited <-chan struct{}) {
	signalGroup(p.Pid(), false)
	t := time.NewTimer(killAfter)
	defer t.Stop()
	select {
	case <-exited:
	case <-t.C:
	case <-c.hard:
	case <-p.kill:
	}
	signalGroup(p.Pid(), true)
}

// pipes join a program to its reader and writers. They are ours rather than
// os/exec's, whose Wait does not return while a reader or writer blocks.
type pipes struct {
	child  []*os.File // their ends that the program gets
	ours   []*os.File
	copies []func()
	copied chan struct{} // closed when all output was written
}

// connect gives cmd its three streams.
func connect(cmd *exec.Cmd, x Exec) (*pipes, error) {
	p := &pipes{copied: make(chan struct{})}
	var outputs sync.WaitGroup
	out, err := p.output(x.Stdout, &outputs)
	if err == nil && x.Stderr != nil && same(x.Stdout, x.Stderr) {
		cmd.Stdout, cmd.Stderr = out, out
	} else if err == nil {
		var errs *os.File
		errs, err = p.output(x.Stderr, &outputs)
		cmd.Stdout, cmd.Stderr = writer(out), writer(errs)
	}
	if err == nil && x.Stdin != nil {
		err = p.input(cmd, x.Stdin)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	p.copies = append(p.copies, func() {
		outputs.Wait()
		close(p.copied)
	})
	return p, nil
}

// output makes the pipe whose content goes to w.
func (p *pipes) output(w io.Writer, all *sync.WaitGroup) (*os.File, error) {
	if w == nil {
		return nil, nil
	}
	r, child, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.child, p.ours = append(p.child, child), append(p.ours, r)
	all.Add(1)
	p.copies = append(p.copies, func() {
		defer all.Done()
		if _, err := io.Copy(w, r); err != nil {
			_, _ = io.Copy(io.Discard, r) // a writer that gave up must not block the program
		}
	})
	return child, nil
}

// input makes the pipe that carries r. Its goroutine ends when r does; a reader
// that never ends keeps it, but holds up nothing.
func (p *pipes) input(cmd *exec.Cmd, r io.Reader) error {
	child, w, err := os.Pipe()
	if err != nil {
		return err
	}
	p.child, p.ours = append(p.child, child), append(p.ours, w)
	cmd.Stdin = child
	p.copies = append(p.copies, func() {
		_, _ = io.Copy(w, r) // fails when the program reads no more, which is its right
		_ = w.Close()
	})
	return nil
}

func (p *pipes) copy() {
	for _, f := range p.copies {
		go f()
	}
}

// drain waits for the rest of the output, at most d, and closes our ends.
func (p *pipes) drain(d time.Duration, hard <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.copied:
	case <-t.C:
	case <-hard:
	}
	for _, f := range p.ours {
		_ = f.Close()
	}
	select {
	case <-p.copied:
	case <-time.After(100 * time.Millisecond): // a writer that blocks
	}
}

func (p *pipes) closeChildEnds() {
	for _, f := range p.child {
		_ = f.Close()
	}
}

func (p *pipes) close() {
	p.closeChildEnds()
	for _, f := range p.ours {
		_ = f.Close()
	}
}

// writer avoids an interface that holds a nil file.
func writer(f *os.File) io.Writer {
	if f == nil {
		return nil
	}
	return f
}

// same compares two writers, which may be of a type that cannot be compared.
func same(a, b io.Writer) (yes bool) {
	defer func() { _ = recover() }()
	return a == b
}
