package toolkit

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

const (
	defaultTimeout = 120_000 // ms
	maxTimeout     = 600_000 // ms
	keepHead       = 12_000  // bytes of a command's output
	keepTail       = 18_000  // more, since the end usually says what went wrong
)

func (k *Kit) bash() tool {
	return tool{
		name: "bash",
		doc: "Run a command with the shell in the working directory; every call is a new shell. Gives its output (stdout and stderr together) and its exit code. " +
			"Nothing can be typed in. What it leaves in the background ends with your session.",
		params: []param{
			{name: "command", kind: isString, required: true, doc: "The command line."},
			{name: "timeout_ms", kind: isInteger, min: 1, max: maxTimeout, doc: "Time limit in milliseconds; 120000 when left out."},
		},
		run: k.runBash,
	}
}

func findShell() string {
	if _, err := exec.LookPath("bash"); err != nil {
		return "sh"
	}
	return "bash"
}

func (k *Kit) runBash(ctx context.Context, a args) (string, error) {
	limit := time.Duration(a.num("timeout_ms", defaultTimeout)) * time.Millisecond
	out := &headTail{}
	p, err := k.host.Command(ctx, []string{k.shell, "-c", a.str("command")}, plugin.Exec{Stdout: out, Stderr: out, Timeout: limit})
	if err != nil {
		return "", fmt.Errorf("start %s: %w", k.shell, err)
	}
	code, err := p.Wait()
	switch {
	case errors.Is(err, plugin.ErrTimeout):
		return "", out.with(fmt.Sprintf("[ended after %v, its time limit; raise timeout_ms (at most %d) or do less at once]", limit, maxTimeout))
	case ctx.Err() != nil:
		return "", out.with("[stopped: the run was ended]")
	case err != nil:
		return "", out.with(fmt.Sprintf("[%v]", err))
	case code != 0:
		return "", out.with(fmt.Sprintf("[exit code %d]", code))
	}
	return out.with("[exit code 0]").Error(), nil
}

// headTail keeps the beginning and the end of an output, however long it gets.
type headTail struct {
	mu   sync.Mutex
	head []byte
	tail []byte // a ring once it is full
	next int    // where the ring goes on
	all  int64
}

func (h *headTail) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(p)
	h.all += int64(n)
	if room := keepHead - len(h.head); room > 0 {
		take := min(room, len(p))
		h.head = append(h.head, p[:take]...)
		p = p[take:]
	}
	if len(p) > keepTail {
		p = p[len(p)-keepTail:]
	}
	if room := keepTail - len(h.tail); room > 0 {
		take := min(room, len(p))
		h.tail = append(h.tail, p[:take]...)
		p = p[take:]
	}
	for len(p) > 0 {
		took := copy(h.tail[h.next:], p)
		h.next = (h.next + took) % keepTail
		p = p[took:]
	}
	return n, nil
}

// with returns what is kept, with a closing remark, as an error: most remarks are.
func (h *headTail) with(remark string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	b.Write(h.head)
	if left := h.all - int64(len(h.head)+len(h.tail)); left > 0 {
		fmt.Fprintf(&b, "\n[… %d bytes left out …]\n", left)
	}
	b.Write(h.tail[h.next:])
	b.Write(h.tail[:h.next])
	text := strings.TrimRight(b.String(), "\n")
	if strings.TrimSpace(text) == "" {
		text = "(no output)"
	}
	return errors.New(text + "\n" + remark)
}
