package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sampleReport() report {
	return report{
		machine: machine{cpu: "A processor, 2 cores", memory: "4.0 GiB", kernel: "Linux 6", golang: "go1.26", fsync: "1 ms p50, 2 ms p95"},
		when:    time.Date(2026, 2, 3, 4, 5, 0, 0, time.UTC), rounds: 3, calibration: []float64{40, 42, 44},
		scenarios: []*scenario{{name: "one", figures: []*figure{
			{text: "steps a second", unit: "/s", sense: atLeast, bar: 600, samples: []float64{700, 650, 800}, loads: []float64{1, 2, 3}},
			{text: "seen", unit: "ms", sense: below, bar: 100, absent: "a browser | none"}}}},
	}
}

func TestReportHoldsMachineAndFigures(t *testing.T) {
	got := sampleReport().markdown()
	for _, want := range []string{
		"| date | 2026-02-03 04:05 UTC |\n",
		"| processor | A processor, 2 cores |\n",
		"| load average, 1 minute | 2 (1–3) |\n",
		"| a fixed piece of work | 42 ms (40–44)",
		"| steps a second | ≥ 600/s | 700/s (650–800) | 2 | met |\n",
		"| seen | < 100 ms | – | – | not measured: a browser \\| none |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q; it is\n%s", want, got)
		}
	}
	if strings.Contains(got, "quick run") {
		t.Error("a full run is called a quick one")
	}
}

func TestWritingKeepsTheNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "BENCHMARKS.md")
	text := sampleReport().markdown()
	write := func() string {
		t.Helper()
		if err := writeReport(path, text); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := write()
	if diff := cmp.Diff(text, first); diff != "" {
		t.Errorf("the first report (-want +got):\n%s", diff)
	}
	notes := notesBegin + "\n\nThe disk is slow. $1 stays as it is.\n\n" + notesEnd
	if err := os.WriteFile(path, []byte("# Old\n\n"+notes+"\nand more\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, emptyNotes, notes, 1)
	for range 2 {
		if diff := cmp.Diff(want, write()); diff != "" {
			t.Errorf("a report over notes (-want +got):\n%s", diff)
		}
	}
}

func TestNotesOf(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "no notes": "", notesEnd + notesBegin: "", notesBegin + " half": "",
		"a " + notesBegin + "b" + notesEnd + " c": notesBegin + "b" + notesEnd,
	} {
		if got := notesOf(text); got != want {
			t.Errorf("notesOf(%q) = %q, want %q", text, got, want)
		}
	}
}
