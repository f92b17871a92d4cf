package timesheet

import "testing"

func TestCost(t *testing.T) {
	for _, tt := range []struct{ minutes, rate, want int }{
		{60, 9000, 9000}, {90, 9000, 13500}, {0, 9000, 0}, {1, 9000, 150}, {1, 100, 2}, {1, 90, 2}, {1, 89, 1}, {50, 9999, 8333}, {105, 9000, 15750},
	} {
		if got := Cost(tt.minutes, tt.rate); got != tt.want {
			t.Errorf("Cost(%d, %d) = %d, want %d", tt.minutes, tt.rate, got, tt.want)
		}
	}
}

func TestFormatCents(t *testing.T) {
	for cents, want := range map[int]string{0: "0.00", 5: "0.05", 1205: "12.05", 100: "1.00", 1350: "13.50"} {
		if got := FormatCents(cents); got != want {
			t.Errorf("FormatCents(%d) = %q, want %q", cents, got, want)
		}
	}
}
