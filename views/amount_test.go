package views

import (
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestShortCounts(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 1250: "1.2k", 9_949: "9.9k", 9_950: "10k", 12_400: "12k",
		999_499: "999k", 999_500: "1M", 4_130_000: "4.1M", 12_000_000: "12M"} {
		if got := short(n); got != want {
			t.Errorf("short(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestGroupedCounts(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0s", 8 * time.Second: "8s", 59900 * time.Millisecond: "59s", 130 * time.Second: "2m 10s",
		time.Hour + 4*time.Minute: "1h 04m", 50 * time.Hour: "2d 2h"} {
		if got := span(d); got != want {
			t.Errorf("span(%s) = %s, want %s", d, got, want)
		}
	}
}

func TestCosts(t *testing.T) {
	for _, c := range []struct {
		in   *float64
		want string
	}{{nil, ""}, {ptr(0.0), "$0.00"}, {ptr(0.004), "< $0.01"}, {ptr(1.237), "$1.24"}} {
		if got := cost(c.in); got != c.want {
			t.Errorf("cost(%v) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestTokensAreSilentWhenUnknown(t *testing.T) {
	if got := tokens(nil, nil) + tokenWords(nil, nil); got != "" {
		t.Errorf("unknown tokens are shown as %q", got)
	}
	if got, want := tokens(ptr(int64(12_400)), nil), "↑12k ↓0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFirstLine(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{{"", 5, ""}, {"\n\n  one  \ntwo", 5, "one"}, {"äöüß", 2, "äö…"}, {"äöüß", 4, "äöüß"}} {
		if got := firstLine(c.text, c.max); got != c.want {
			t.Errorf("firstLine(%q, %d) = %q, want %q", c.text, c.max, got, c.want)
		}
	}
}

func TestBetween(t *testing.T) {
	if got := between(100, 230); got != "2m 10s" {
		t.Errorf("got %q", got)
	}
	if got := between(100, 0) + between(0, 100); got != "" {
		t.Errorf("an unknown end gives %q", got)
	}
}

func TestUnix(t *testing.T) {
	if got := unix(plan.Stamp(1700000000.1234)); got != "1700000000.123" {
		t.Errorf("got %s", got)
	}
}

func ptr[T any](v T) *T { return &v }
