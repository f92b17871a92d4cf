package plugin

import (
	"context"
	"fmt"
	"time"
)

// maxQuestion bounds the input that is shown with a question, in bytes.
const maxQuestion = 256 << 10

// host is what a run sees of Clearbox.
type host struct{ run *run }

func (h host) Emit(e Event) {
	e, ok := checked(e)
	if !ok {
		return
	}
	h.run.mu.Lock()
	h.run.tally.add(e)
	h.run.mu.Unlock()
	h.run.journal.push(e, h.run.late)
}

func (h host) Ask(ctx context.Context, q Question) (Answer, error) {
	timeout := q.Timeout
	q.Tool, q.Text = cutJSON(clean(q.Tool), 1024), cutJSON(clean(q.Text), 16<<10)
	q.Input = checkedJSON(q.Input, maxQuestion)
	p, err := h.run.journal.pose(q)
	if err != nil {
		return Answer{}, err
	}
	var expired <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		expired = t.C
	}
	select {
	case a := <-p.reply:
		return a, nil
	case <-expired:
		err = nil
	case <-ctx.Done():
		err = fmt.Errorf("ask: %w", ctx.Err())
	case <-h.run.ctx.Done():
		err = fmt.Errorf("ask: %w", context.Cause(h.run.ctx))
	}
	if !h.run.journal.withdraw(p) {
		return <-p.reply, nil // it came in the same moment
	}
	if err != nil {
		return Answer{}, err
	}
	return Answer{Message: fmt.Sprintf("Nobody answered within %s, so it is refused.", timeout)}, nil
}

func (h host) Command(ctx context.Context, argv []string, x Exec) (Proc, error) {
	return h.run.commands.start(ctx, argv, x)
}
