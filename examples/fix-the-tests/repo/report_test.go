package timesheet

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	var entries []Entry
	for _, line := range []string{
		"2026-03-02 09:00-10:01 zeta review",
		"2026-03-02 22:30-00:15 acme on call",
		"2026-03-03 09:00-09:30 acme planning",
		"2026-03-03 10:00-11:01 beta review",
	} {
		entries = append(entries, entry(t, line))
	}
	// Every line is half a cent that was rounded up, so the sum of the lines is a
	// cent more than the cost of all the time together.
	want := strings.Join([]string{
		"acme          2h15m     203.18",
		"beta          1h01m      91.81",
		"zeta          1h01m      91.81",
		"total         4h17m     386.80",
		"",
	}, "\n")
	for range 20 { // a map gives another order each time
		if got := Report(entries, 9030); got != want {
			t.Fatalf("got\n%swant\n%s", got, want)
		}
	}
}

func TestReportOfNothing(t *testing.T) {
	if got, want := Report(nil, 9000), "total            0m       0.00\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
