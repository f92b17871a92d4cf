package graph

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

type point struct{ x, y float64 }

// trace reads path data as this package writes it (M, V, H, C, Q, absolute) and
// returns points along it, about 20 to a curve.
func trace(t *testing.T, d string) []point {
	t.Helper()
	var points []point
	at := point{}
	curve := func(ps ...point) {
		for k := 1; k <= 20; k++ {
			points = append(points, casteljau(append([]point{at}, ps...), float64(k)/20))
		}
		at = ps[len(ps)-1]
	}
	for d != "" {
		end := strings.IndexAny(d[1:], "MVHCQ") + 1
		if end == 0 {
			end = len(d)
		}
		n, err := numbers(d[1:end])
		if want := map[byte]int{'M': 2, 'V': 1, 'H': 1, 'C': 6, 'Q': 4}[d[0]]; err != nil || len(n) != want {
			t.Fatalf("path data %q: bad command", d)
		}
		switch d[0] {
		case 'M':
			at = point{n[0], n[1]}
			points = append(points, at)
		case 'V':
			curve(point{at.x, n[0]})
		case 'H':
			curve(point{n[0], at.y})
		case 'C':
			curve(point{n[0], n[1]}, point{n[2], n[3]}, point{n[4], n[5]})
		case 'Q':
			curve(point{n[0], n[1]}, point{n[2], n[3]})
		}
		d = d[end:]
	}
	return points
}

func numbers(s string) ([]float64, error) {
	var out []float64
	for _, f := range strings.Fields(s) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, fmt.Errorf("read number %q: %w", f, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func casteljau(ps []point, t float64) point {
	for n := len(ps) - 1; n > 0; n-- {
		for i := range n {
			ps[i] = point{ps[i].x + (ps[i+1].x-ps[i].x)*t, ps[i].y + (ps[i+1].y-ps[i].y)*t}
		}
	}
	return ps[0]
}

func TestPathNumbersHaveAtMostOneDecimal(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "M0"}, {12, "M12"}, {12.04, "M12"}, {12.06, "M12.1"}, {-3.25, "M-3.3"}, {99.96, "M100"}, {0.5, "M0.5"},
	} {
		var text pathText
		if text.op('M', c.v); string(text) != c.want {
			t.Errorf("%v is written %q, want %q", c.v, text, c.want)
		}
	}
}
