package timesheet

import "testing"

func entry(t *testing.T, line string) Entry {
	t.Helper()
	e, err := ParseEntry(line)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestParseEntry(t *testing.T) {
	e := entry(t, "2026-03-02 09:00-10:30 acme  planning the week")
	if e.Date.Day() != 2 || e.Start != 540 || e.End != 630 || e.Client != "acme" || e.Note != "planning the week" {
		t.Errorf("got %+v", e)
	}
	for _, line := range []string{"", "2026-03-02 09:00-10:30", "02.03.2026 09:00-10:30 acme", "2026-03-02 9-10 acme", "2026-03-02 09:00 acme"} {
		if e, err := ParseEntry(line); err == nil {
			t.Errorf("ParseEntry(%q) = %+v, want an error", line, e)
		}
	}
}

func TestMinutes(t *testing.T) {
	for line, want := range map[string]int{
		"2026-03-02 09:00-10:30 acme":         90,
		"2026-03-02 22:30-00:15 acme on call": 105,
		"2026-03-02 23:59-00:00 acme":         1,
		"2026-03-02 09:00-09:00 acme":         0,
	} {
		if got := entry(t, line).Minutes(); got != want {
			t.Errorf("%s: %d minutes, want %d", line, got, want)
		}
	}
}
