package views

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// short writes a count in few characters: 950, 12.3k, 4.1M.
func short(n int64) string {
	switch f := float64(n); {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 9_950:
		return trimmed(f/1e3, 1) + "k"
	case n < 999_500:
		return trimmed(f/1e3, 0) + "k"
	case n < 9_950_000:
		return trimmed(f/1e6, 1) + "M"
	default:
		return trimmed(f/1e6, 0) + "M"
	}
}

func trimmed(f float64, digits int) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', digits, 64), ".0")
}

// grouped writes a count in full: 12,345.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// tokens writes what went to the model and what came back, "" when unknown.
func tokens(in, out *int64) string {
	if in == nil && out == nil {
		return ""
	}
	return "↑" + short(orZero(in)) + " ↓" + short(orZero(out))
}

// tokenWords says the same in full.
func tokenWords(in, out *int64) string {
	if in == nil && out == nil {
		return ""
	}
	return grouped(orZero(in)) + " tokens in, " + grouped(orZero(out)) + " out"
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// cost writes dollars, "" when unknown.
func cost(c *float64) string {
	switch {
	case c == nil:
		return ""
	case *c > 0 && *c < 0.01:
		return "< $0.01"
	}
	return fmt.Sprintf("$%.2f", *c)
}

// span writes a length of time: 8s, 2m 10s, 1h 04m, 3d 2h.
func span(d time.Duration) string {
	s := int64(math.Max(0, d.Seconds()))
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh %02dm", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%dd %dh", s/86400, s%86400/3600)
}

// between writes the time from one moment to another.
func between(from, to plan.Stamp) string {
	if from == 0 || to == 0 {
		return ""
	}
	return span(to.Time().Sub(from.Time()))
}

// clock writes a moment for readers without scripts; scripts put the reader's
// own time zone and language there.
func clock(t plan.Stamp) string { return t.Time().Format("15:04") }

// day writes a moment with its date.
func day(t plan.Stamp) string { return t.Time().Format("2006-01-02 15:04") }

// unix writes a moment for scripts.
func unix(t plan.Stamp) string { return strconv.FormatFloat(float64(t), 'f', 3, 64) }

// plural writes a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// firstLine returns the first line of a text that says something, at most max
// characters of it.
func firstLine(text string, max int) string {
	text = strings.TrimSpace(text)
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	if r := []rune(line); len(r) > max {
		return string(r[:max]) + "…"
	}
	return line
}
