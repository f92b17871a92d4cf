package timesheet

import "fmt"

// Cost is what a number of minutes costs at a rate in cents an hour, rounded to
// whole cents, half a cent up.
func Cost(minutes, centsPerHour int) int {
	return minutes / 60 * centsPerHour
}

// FormatCents writes cents as an amount such as "12.05".
func FormatCents(cents int) string {
	return fmt.Sprintf("%d.%d", cents/100, cents%100)
}
