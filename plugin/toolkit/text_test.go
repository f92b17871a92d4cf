package toolkit

import "testing"

func TestSomeLinesKeepsTheLinesAskedForWithTheirEnds(t *testing.T) {
	const text = "one\r\ntwo\n\nfour"
	for _, c := range []struct {
		name        string
		line, limit int
		want        string
	}{
		{"all", 0, 0, text},
		{"from a negative line all", -3, -1, text},
		{"the first", 1, 1, "one\r\n"},
		{"from the second on", 2, 0, "two\n\nfour"},
		{"an empty line counts", 2, 2, "two\n\n"},
		{"the last has no end", 4, 1, "four"},
		{"more than there are", 3, 99, "\nfour"},
		{"beyond the last", 5, 1, ""},
	} {
		if got := someLines(text, c.line, c.limit); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
