package timesheet

import (
	"fmt"
	"strings"
)

// Report writes a line for each client with its time and cost, and a last line with
// the sums. The client with the most time comes first; clients with the same time
// are in the order of their names.
func Report(entries []Entry, centsPerHour int) string {
	minutes := map[string]int{}
	for _, e := range entries {
		minutes[e.Client] += e.Minutes()
	}
	var b strings.Builder
	all := 0
	for client, n := range minutes {
		fmt.Fprintf(&b, "%-10s %8s %10s\n", client, FormatDuration(n), FormatCents(Cost(n, centsPerHour)))
		all += n
	}
	fmt.Fprintf(&b, "%-10s %8s %10s\n", "total", FormatDuration(all), FormatCents(Cost(all, centsPerHour)))
	return b.String()
}
