package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// checkOutput is how much of a check's output is kept, head and tail each, in bytes.
const checkOutput = 16 << 10

// RunCheck runs a shell command in a folder until it ends or ctx does, with the
// environment that harnesses get. It returns the exit code (-1 when it could not be
// started or was killed) and the head and the tail of what it printed. Nothing that
// it started in its own process group lives on.
func RunCheck(ctx context.Context, command, dir string, own, pass []string) (exit int, output string) {
	runtime.LockOSThread() // harnessAttr ends the command with the thread that starts it
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	out := &headTail{limit: checkOutput}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, out, out, append(environment(own, pass, os.TempDir()), "CLEARBOX_CHECK=1")
	cmd.SysProcAttr = harnessAttr()
	cmd.Cancel = func() error { return endGroup(cmd.Process) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = endGroup(cmd.Process) // what it left in the background; there may be nothing
	}
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		exit = ended.ExitCode()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return -1, fmt.Sprintf("the command could not be run: %v", err)
	}
	return exit, out.String()
}

// endGroup kills a process group; that it is gone already is no error.
func endGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// headTail keeps the beginning and the end of what is written to it.
type headTail struct {
	limit      int
	head, tail []byte
	total      int
}

// Write never fails.
func (h *headTail) Write(p []byte) (int, error) {
	n := len(p)
	h.total += n
	if room := h.limit - len(h.head); room > 0 {
		k := min(room, len(p))
		h.head, p = append(h.head, p[:k]...), p[k:]
	}
	h.tail = append(h.tail, p...)
	if len(h.tail) > 2*h.limit {
		h.tail = append(h.tail[:0], h.tail[len(h.tail)-h.limit:]...)
	}
	return n, nil
}

func (h *headTail) String() string {
	tail := h.tail
	if len(tail) > h.limit {
		tail = tail[len(tail)-h.limit:]
	}
	if left := h.total - len(h.head) - len(tail); left > 0 {
		return cleanText(fmt.Appendf(nil, "%s\n[… %d bytes left out …]\n%s", h.head, left, tail))
	}
	return cleanText(append(append([]byte{}, h.head...), tail...))
}
