package timesheet

import "testing"

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]int{"45m": 45, "2h": 120, "1h05m": 65, "1h5m": 65, "10h30m": 630, "0m": 0} {
		got, err := ParseDuration(s)
		if err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
}

func TestParseDurationRefusesRubbish(t *testing.T) {
	for _, s := range []string{"", "h", "m", "1", "1h5", "1hm", "xh", "-1h", "1h-5m", "5m1h"} {
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("ParseDuration(%q) = %d, want an error", s, got)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for minutes, want := range map[int]string{0: "0m", 45: "45m", 60: "1h00m", 65: "1h05m", 630: "10h30m"} {
		if got := FormatDuration(minutes); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", minutes, got, want)
		}
	}
}

func TestDurationsSurviveARoundTrip(t *testing.T) {
	for minutes := range 24 * 60 {
		got, err := ParseDuration(FormatDuration(minutes))
		if err != nil || got != minutes {
			t.Fatalf("%d minutes came back as %d, %v", minutes, got, err)
		}
	}
}
