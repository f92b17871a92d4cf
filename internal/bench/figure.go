package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sense says how a figure is held against its bar.
type sense int

const (
	info    sense = iota // for the record: there is no bar
	atLeast              // the bar or more
	below                // less than the bar
	atMost               // the bar or less
)

// figure is one line of the report.
type figure struct {
	text  string // what is measured
	unit  string
	sense sense
	bar   float64
	worst bool // every sample must clear the bar, not the median alone

	samples []float64
	loads   []float64 // of the machine, when the samples were taken
	absent  string    // why there are no samples
}

// barText says what the figure should be.
func (f *figure) barText() string {
	switch f.sense {
	case atLeast:
		return "≥ " + quantity(f.bar, f.unit)
	case below:
		return "< " + quantity(f.bar, f.unit)
	case atMost:
		if f.bar == 0 {
			return "none"
		}
		return "≤ " + quantity(f.bar, f.unit)
	}
	return "–"
}

// measured says what the figure is.
func (f *figure) measured() string {
	if len(f.samples) == 0 {
		return "–"
	}
	if len(f.samples) == 1 {
		return quantity(f.samples[0], f.unit)
	}
	return fmt.Sprintf("%s (%s–%s)", quantity(median(f.samples), f.unit), number(slices.Min(f.samples)), number(slices.Max(f.samples)))
}

// verdict says whether the bar is met, or by how much it is missed.
func (f *figure) verdict() string {
	switch {
	case len(f.samples) == 0 && f.absent == "":
		return "not measured"
	case len(f.samples) == 0:
		return "not measured: " + firstLine(f.absent)
	case f.sense == info:
		return ""
	}
	v := f.judged()
	if f.clears(v) {
		return "met"
	}
	if f.bar == 0 {
		return "**missed** by " + quantity(v, f.unit)
	}
	return fmt.Sprintf("**missed** by %s %%", number(math.Abs(v-f.bar)/f.bar*100))
}

// judged is the value that is held against the bar.
func (f *figure) judged() float64 {
	switch {
	case !f.worst:
		return median(f.samples)
	case f.sense == atLeast:
		return slices.Min(f.samples)
	}
	return slices.Max(f.samples)
}

func (f *figure) clears(v float64) bool {
	switch f.sense {
	case atLeast:
		return v >= f.bar
	case below:
		return v < f.bar
	}
	return v <= f.bar
}

// median returns the middle of some values, NaN of none.
func median(xs []float64) float64 { return percentile(xs, 50) }

// percentile returns the value that p percent of xs do not exceed, between two
// values where it falls between them; NaN of none.
func percentile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(xs))
	at := p / 100 * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// rate is how many a second.
func rate(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }

func quantity(v float64, unit string) string {
	switch unit {
	case "":
		return number(v)
	case "×", "/s":
		return number(v) + unit
	}
	return number(v) + " " + unit
}

// number writes a value with the digits that mean something: 12,345, 123, 12.3, 1.23, 1.5.
func number(v float64) string {
	digits := 0
	switch a := math.Abs(v); {
	case v == math.Trunc(v), a >= 99.95:
	case a >= 9.995:
		digits = 1
	default:
		digits = 2
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return grouped(s)
}

// grouped puts commas between thousands.
func grouped(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
