package main

import (
	"math"
	"testing"
)

func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		xs      []float64
		p, want float64
	}{
		{[]float64{7}, 95, 7},
		{[]float64{3, 1, 2}, 50, 2},
		{[]float64{4, 1, 3, 2}, 50, 2.5},
		{[]float64{1, 2, 3, 4, 5}, 95, 4.8},
		{[]float64{5, 1}, 0, 1},
		{[]float64{5, 1}, 100, 5},
	} {
		if got := percentile(c.xs, c.p); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("percentile(%v, %v) = %v, want %v", c.xs, c.p, got, c.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("the median of nothing is a number")
	}
	xs := []float64{2, 1}
	if median(xs); xs[0] != 2 {
		t.Error("median has sorted what it was given")
	}
}

func TestNumbersAreWrittenWithTheDigitsThatMeanSomething(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1.5: "1.5", 1.054: "1.05", 9.999: "10", 12.34: "12.3", 99.97: "100",
		123.4: "123", 1234.5: "1,234", 20000: "20,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		f    figure
		want string
	}{
		{"at least, met exactly", figure{unit: "/s", sense: atLeast, bar: 600, samples: []float64{1, 600, 900}}, "met"},
		{"at least, missed", figure{unit: "/s", sense: atLeast, bar: 600, samples: []float64{300}}, "**missed** by 50 %"},
		{"below, missed exactly", figure{unit: "ms", sense: below, bar: 250, samples: []float64{250}}, "**missed** by 0 %"},
		{"below, met", figure{unit: "ms", sense: below, bar: 250, samples: []float64{249}}, "met"},
		{"at most, met exactly", figure{unit: "×", sense: atMost, bar: 1.5, samples: []float64{1.5}}, "met"},
		{"none, met", figure{sense: atMost, worst: true, samples: []float64{0, 0}}, "met"},
		{"none, once missed", figure{sense: atMost, worst: true, samples: []float64{0, 3, 0}}, "**missed** by 3"},
		{"for the record", figure{unit: "ms", samples: []float64{3}}, ""},
		{"not there", figure{sense: below, bar: 1, absent: "no browser\nat all"}, "not measured: no browser"},
		{"not run", figure{sense: below, bar: 1}, "not measured"},
	} {
		if got := c.f.verdict(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFiguresShowMedianAndRange(t *testing.T) {
	for want, f := range map[string]*figure{
		"12.5 ms (10–20)":  {unit: "ms", samples: []float64{20, 10, 12.5}},
		"1,200/s":          {unit: "/s", samples: []float64{1200}},
		"1.1× (0.95–1.25)": {unit: "×", samples: []float64{1.25, 0.95}},
		"–":                {unit: "ms"},
	} {
		if got := f.measured(); got != want {
			t.Errorf("measured %q, want %q", got, want)
		}
	}
	for want, f := range map[string]*figure{"≥ 600/s": {unit: "/s", sense: atLeast, bar: 600}, "< 250 ms": {unit: "ms", sense: below, bar: 250},
		"≤ 1.5×": {unit: "×", sense: atMost, bar: 1.5}, "none": {sense: atMost}, "–": {unit: "ms"}} {
		if got := f.barText(); got != want {
			t.Errorf("bar %q, want %q", got, want)
		}
	}
}
