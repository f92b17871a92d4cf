package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

const importText = `
FILE is the database of the Python program clearbox, 0.1 to 0.4: usually
clearbox.db in its data directory. Plans come with their steps, transcripts,
diffs, reviews and results, agents with their keys: all of it, or nothing. FILE
is only read.

Stop both programs before. Nothing comes in started: a step that was at work is
pending, its transcript says so, and it is run anew when you start its plan.
Plans keep their numbers, unless some are taken here. An agent whose name is
taken by another one is called "NAME (imported)".

examples:
  clearbox import ~/.local/share/clearbox/clearbox.db --dry-run
  clearbox import ~/.local/share/clearbox/clearbox.db`

// importCommand takes over a database of the Python program.
func importCommand(s *streams, f *flags) action {
	var o engine.ImportOptions
	f.add("",
		option{"db", "CLEARBOX_DB", "database `file` to import into", text(&o.DB, filepath.Join(dataDir(), "clearbox.sqlite"))},
		option{"dry-run", "", "say what would come, and change nothing", truth(&o.DryRun)},
		option{"again", "", "import once more what was imported before, beside it", truth(&o.Again)},
		option{"workspace", "", "`folder` in which plans without a working directory had theirs (default: workspace beside FILE)", text(&o.Workspace, "")})
	return func(ctx context.Context, args []string) error {
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		o.File = args[0]
		var err error
		if o.DB, err = filepath.Abs(o.DB); err != nil {
			return err
		}
		o.Progress = tellProgress(s.out)
		got, err := engine.Import(ctx, o)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: nothing was imported")
		}
		if err != nil {
			return err
		}
		tellImported(s.out, got, o)
		return nil
	}
}

// tellProgress prints how far an import is, every few seconds.
func tellProgress(w io.Writer) func(what string, done, of int) {
	const pause = 3 * time.Second
	last := time.Now()
	return func(what string, done, of int) {
		if time.Since(last) < pause {
			return
		}
		last = time.Now()
		fmt.Fprintf(w, "%s: %s of %s\n", what, grouped(done), grouped(of))
	}
}

// tellImported says in words what an import brought.
func tellImported(w io.Writer, got *engine.Imported, o engine.ImportOptions) {
	head := "Imported %s (Python program clearbox %s, %s) into %s:\n"
	if o.DryRun {
		head = "%s (Python program clearbox %s, %s) would bring into %s:\n"
	}
	fmt.Fprintf(w, head, got.From, got.Version, megabytes(got.Size), o.DB)
	tellCounts(w, got)
	tellAgents(w, got.Profiles)
	tellPlans(w, got)
	if notes := importNotes(got); len(notes) > 0 {
		fmt.Fprintln(w, "\nNot as it was:")
		for _, n := range notes {
			fmt.Fprintln(w, "  -", plain(n))
		}
	}
	if o.DryRun {
		fmt.Fprintln(w, "\nThis was a dry run: nothing was changed.")
	}
}

func tellCounts(w io.Writer, got *engine.Imported) {
	plans := counted(len(got.Plans), "plan")
	if got.Nested > 0 {
		plans += fmt.Sprintf(" with %s inside them", grouped(got.Nested))
	}
	fmt.Fprintf(w, "  %s: %s, %s, %s\n", plans, counted(got.Steps, "step"), counted(got.Edges, "edge"), counted(got.Files, "declared file"))
	fmt.Fprintf(w, "  %s of %s, %s, %s\n", counted(got.Events, "transcript entry"), counted(got.Runs, "run"),
		counted(got.Diffs, "diff"), counted(got.Reviews, "review"))
}

// tellAgents lists the agents that came, and those that were here already.
func tellAgents(w io.Writer, profiles []engine.ImportedProfile) {
	var came, kept []string
	for _, p := range profiles {
		name := plain(p.Name)
		if p.Kept {
			kept = append(kept, name)
			continue
		}
		if p.Name != p.Was {
			name += fmt.Sprintf(", there called %q", plain(p.Was))
		}
		if p.HasKey {
			name += " with its key"
		}
		came = append(came, name)
	}
	if len(came) > 0 {
		fmt.Fprintf(w, "  %s: %s\n", counted(len(came), "agent"), strings.Join(came, "; "))
	}
	if len(kept) > 0 {
		fmt.Fprintf(w, "  the same here already, and kept: %s\n", strings.Join(kept, "; "))
	}
}

// tellPlans lists the top-level plans with their numbers, there and here.
func tellPlans(w io.Writer, got *engine.Imported) {
	if len(got.Plans) == 0 {
		return
	}
	fmt.Fprintln(w)
	columns := []column{{title: "PLAN", right: true}, {title: "STEPS", right: true}, {title: "STATE"}, {title: "TITLE"}}
	if got.Shift != 0 {
		columns = append([]column{{title: "WAS", right: true}}, columns...)
	}
	rows := make([][]string, len(got.Plans))
	for i, p := range got.Plans {
		row := []string{strconv.Itoa(int(p.ID)), strconv.Itoa(p.Steps), standing(p.Status), plain(p.Title)}
		if got.Shift != 0 {
			row = append([]string{strconv.Itoa(int(p.Was))}, row...)
		}
		rows[i] = row
	}
	printTable(w, columns, rows)
	if got.Shift != 0 {
		fmt.Fprintf(w, "Numbers were taken: those of all plans, nested ones too, went up by %d.\n", got.Shift)
	} else {
		fmt.Fprintln(w, "All plans keep their numbers.")
	}
}

// standing says how far a plan is. None runs, though a plan that is half done
// counts as running elsewhere.
func standing(s plan.Status) string {
	if s == plan.StatusRunning {
		return "half done"
	}
	return string(s)
}

// importNotes says what is not as it was there.
func importNotes(got *engine.Imported) []string {
	var notes []string
	var started []string
	for _, p := range got.Plans {
		if p.WasStarted && p.Status != plan.StatusDone {
			started = append(started, strconv.Itoa(int(p.ID)))
		}
	}
	if len(started) > 0 {
		notes = append(notes, fmt.Sprintf("%s started there and not here: %s; \"clearbox plan start NUMBER\" goes on with one, "+
			"where someone claims the steps with --executor external", counted(len(started), "plan"), strings.Join(started, ", ")))
	}
	if n := len(got.Stopped); n > 0 {
		notes = append(notes, fmt.Sprintf("%s at work there, pending here, as the transcripts say: %s", counted(n, "step"), refs(got.Stopped)))
	}
	for _, p := range got.Plans {
		if p.FolderGone {
			notes = append(notes, fmt.Sprintf("plan %d works in %s, which is not there any more: give it another before you start it", p.ID, p.Folder))
		}
	}
	return append(notes, got.Notes...)
}

// refs lists step addresses, not too many.
func refs(list []plan.Ref) string {
	const most = 20
	var texts []string
	for _, r := range list[:min(len(list), most)] {
		texts = append(texts, r.String())
	}
	if more := len(list) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// counted is a number with what it counts.
func counted(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "y"):
		what = strings.TrimSuffix(what, "y") + "ies"
	default:
		what += "s"
	}
	return grouped(n) + " " + what
}

// grouped writes a number as people read it: 12,345.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
