package plugin

import (
	"context"
	"fmt"
	"time"
)

// closeWait is how long Close of a local session waits for Run to return.
const closeWait = 5 * time.Second

// Local starts t in this process and gives its session, with the same buffer,
// numbering and answers as one in another process. A task that cannot be run
// gives a failed result. Close stops the run and waits until it has returned.
func Local(h Harness, t Task) Session {
	return &session{end: &local{newRun(h, t)}}
}

type local struct{ run *run }

func (l *local) next(ctx context.Context, a ask) (batch, error) {
	return l.run.next(ctx, a)
}

func (l *local) answer(_ context.Context, id string, a Answer) (bool, error) {
	return l.run.journal.answer(id, a), nil
}

func (l *local) stop(context.Context) error {
	l.run.stop()
	return nil
}

func (l *local) release() error {
	l.run.release()
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case <-l.run.done:
		return nil
	case <-t.C:
		return fmt.Errorf("close run %s: it did not end within %s", l.run.task.RunID, closeWait)
	}
}
