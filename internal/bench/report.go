package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// report is all that BENCHMARKS.md tells.
type report struct {
	machine     machine
	when        time.Time
	quick       bool
	rounds      int
	calibration []float64
	scenarios   []*scenario
}

// The markers around what people write and a new run keeps.
const (
	notesBegin = "<!-- notes -->"
	notesEnd   = "<!-- /notes -->"
)

const emptyNotes = notesBegin + "\n\nWhat is to be said about figures that are missed goes here: a new run keeps what stands between the two markers.\n\n" + notesEnd

// markdown writes the report, with an empty block of notes.
func (r report) markdown() string {
	var b strings.Builder
	b.WriteString("# Benchmarks\n\nWritten by `make bench`. Each figure is the median over the rounds, with the smallest and the largest in " +
		"brackets.\nThe server and its clients share the machine, so what clients cost is in the figures.\n")
	if r.quick {
		b.WriteString("\n**A quick run: few and short rounds, to see that everything works. These numbers mean little.**\n")
	}
	r.writeMachine(&b)
	r.writeFigures(&b)
	b.WriteString("\n## Notes\n\n" + emptyNotes + "\n")
	return b.String()
}

func (r report) writeMachine(b *strings.Builder) {
	b.WriteString("\n## Machine\n\n| | |\n|---|---|\n")
	m := r.machine
	for _, row := range [][2]string{
		{"date", r.when.UTC().Format("2006-01-02 15:04 UTC")},
		{"processor", m.cpu}, {"memory", m.memory}, {"kernel", m.kernel}, {"Go", m.golang},
		{"fsync of 4 KiB where the databases are", m.fsync},
		{"rounds", fmt.Sprint(r.rounds)},
		{"load average, 1 minute", spread(r.loads(), "")},
		{"a fixed piece of work", spread(r.calibration, "ms") + ": where this varies, so do the figures, whatever Clearbox does"},
	} {
		fmt.Fprintf(b, "| %s | %s |\n", row[0], row[1])
	}
}

func (r report) loads() []float64 {
	var all []float64
	for _, s := range r.scenarios {
		for _, f := range s.figures {
			all = append(all, f.loads...)
		}
	}
	return all
}

func spread(xs []float64, unit string) string {
	if len(xs) == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%s–%s)", quantity(median(xs), unit), number(slices.Min(xs)), number(slices.Max(xs)))
}

func (r report) writeFigures(b *strings.Builder) {
	b.WriteString("\n## Figures\n\n| figure | bar | measured | load | verdict |\n|---|---|---|---|---|\n")
	for _, s := range r.scenarios {
		for _, f := range s.figures {
			at := "–"
			if len(f.loads) > 0 {
				at = number(median(f.loads))
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", f.text, f.barText(), f.measured(), at, cell(f.verdict()))
		}
	}
}

// cell makes a text fit into a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// writeReport writes a report to a file and keeps the notes that stand in it.
func writeReport(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the notes of the last report: %w", err)
	}
	if notes := notesOf(string(old)); notes != "" {
		text = strings.Replace(text, emptyNotes, notes, 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// notesOf returns the block of notes with its markers, "" when there is none.
func notesOf(text string) string {
	from := strings.Index(text, notesBegin)
	to := strings.LastIndex(text, notesEnd)
	if from < 0 || to < from {
		return ""
	}
	return text[from : to+len(notesEnd)]
}
