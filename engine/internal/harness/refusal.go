package harness

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/clearbox-go/clearbox/plugin"
)

// refusal is why a program does not serve as a harness, in words for a person.
type refusal struct {
	reason string
	passes bool // it may be another time: ask again at the next scan
}

func (r *refusal) Error() string { return r.reason }

// refused waits for the end of a process whose start did not work out, and says
// why.
func (m *Manager) refused(ctx context.Context, p *process, s *starter, cause error) error {
	if p.link == nil {
		return &refusal{cause.Error(), true}
	}
	if !p.isDetached() {
		p.kill()
	}
	switch {
	case p.isDetached():
		return ErrDetached
	case ctx.Err() != nil:
		return ctx.Err()
	}
	e := p.ending()
	line, complete := s.first.line()
	r := &refusal{reason: e.Error, passes: true}
	switch {
	case e.Error != "":
		r.reason = "it " + e.Error
	case !complete && e.Cause != "":
		r.reason = fmt.Sprintf("it did not say hello within %s", m.o.StartTimeout.Round(time.Millisecond))
	case !complete:
		r.reason = fmt.Sprintf("it ended before its handshake: %s", e.words())
	default:
		r.reason, r.passes = unfit(line, cause), false
	}
	r.reason += printed(e.Stderr)
	return r
}

// unfit says what is wrong with a handshake that was refused.
func unfit(line string, cause error) string {
	parts := strings.Split(line, "|")
	if len(parts) < 4 || parts[0] != strconv.Itoa(goplugin.CoreProtocolVersion) {
		return fmt.Sprintf("the first line that it prints is no handshake: %q", cut(cleanText([]byte(line)), 200))
	}
	if version, err := strconv.Atoi(parts[1]); err == nil && version != plugin.ProtocolVersion {
		return fmt.Sprintf("it was built for version %d of the harness contract, this Clearbox speaks version %d", version, plugin.ProtocolVersion)
	}
	return "its handshake is refused: " + cut(cause.Error(), 300)
}

// printed adds what a program printed, if it did.
func printed(output string) string {
	output = strings.TrimSpace(output)
	if output == "" {
		return ""
	}
	if tail := []rune(output); len(tail) > 1000 {
		output = "…" + string(tail[len(tail)-1000:])
	}
	return "; it printed: " + output
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
