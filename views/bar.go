package views

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Bar is a progress bar: how many of the steps are done, running and failed.
type Bar struct{ Done, Running, Failed, Total int }

// barOf makes a bar from counts. Skipped steps count as done: nothing is left to
// do about them.
func barOf(t plan.Tally) Bar {
	return Bar{Done: t.Done + t.Skipped, Running: t.Running, Failed: t.Failed, Total: t.Total}
}

// segment is a part of a bar in hundredths of its length.
type segment struct {
	class string
	x, w  float64
}

// segments returns the parts of the bar, left to right, without empty ones.
func (b Bar) segments() []segment {
	if b.Total <= 0 {
		return nil
	}
	var list []segment
	x := 0.0
	for _, p := range []struct {
		class string
		n     int
	}{{"done", b.Done}, {"running", b.Running}, {"failed", b.Failed}} {
		if p.n > 0 {
			w := 100 * float64(p.n) / float64(b.Total)
			list = append(list, segment{p.class, x, w})
			x += w
		}
	}
	return list
}

// Words say what the bar shows.
func (b Bar) Words() string {
	words := []string{fmt.Sprintf("%d of %d steps done", b.Done, b.Total)}
	if b.Running > 0 {
		words = append(words, fmt.Sprintf("%d running", b.Running))
	}
	if b.Failed > 0 {
		words = append(words, fmt.Sprintf("%d failed", b.Failed))
	}
	return strings.Join(words, ", ")
}

// Count writes done over total.
func (b Bar) Count() string { return strconv.Itoa(b.Done) + "/" + strconv.Itoa(b.Total) }

func hundredth(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
