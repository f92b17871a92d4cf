// Package timesheet adds up hours of work and what they cost.
package timesheet

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseDuration reads a length of time such as "1h05m", "45m" or "2h" and returns
// it in minutes.
func ParseDuration(s string) (int, error) {
	total := 0
	rest := s
	if hours, after, ok := strings.Cut(rest, "h"); ok {
		n, err := strconv.Atoi(hours)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("duration %q: the hours are not a number", s)
		}
		total += n * 60
		rest = after
		return total, nil
	}
	if rest == "" {
		return 0, fmt.Errorf("duration %q is empty", s)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(rest, "m"))
	if err != nil || n < 0 || !strings.HasSuffix(rest, "m") {
		return 0, fmt.Errorf("duration %q: the minutes are not a number followed by m", s)
	}
	return total + n, nil
}

// FormatDuration writes a number of minutes as ParseDuration reads it.
func FormatDuration(minutes int) string {
	if minutes < 60 {
		return fmt.Sprintf("%dm", minutes)
	}
	return fmt.Sprintf("%dh%dm", minutes/60, minutes%60)
}
