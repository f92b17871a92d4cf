package views

import (
	"net/url"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Attempt is one try at a step, as it stands beside the others.
type Attempt struct {
	Number     int
	Head       RunHead
	SessionURL string
	Files      []AttemptFile
	MoreFiles  int
	Judgement  *Judgement // nil: it was not judged, or not yet
}

// AttemptFile is a file that an attempt changed.
type AttemptFile struct {
	Path           string
	Added, Removed int
	URL            string // of its patch; "" : there is none
}

// Bounds of what is shown side by side.
const (
	maxAttempts     = 10
	maxAttemptFiles = 12
)

// Tried are the runs that did a step itself, the last of them.
func Tried(runs []plan.Run) []plan.Run {
	var list []plan.Run
	for i := range runs {
		if runs[i].Kind == plan.RunStep || runs[i].Kind == plan.RunExternal {
			list = append(list, runs[i])
		}
	}
	return list[max(0, len(list)-maxAttempts):]
}

// attemptsAt puts the attempts at a step side by side, the first first.
func attemptsAt(n *plan.Node, in DrawerInput) []Attempt {
	judged := map[plan.RunID]*plan.Review{}
	for i := range in.Judgements {
		if j := &in.Judgements[i]; j.State == plan.ReviewDone {
			judged[j.JudgedRun] = j
		}
	}
	tried, heads := Tried(in.Runs), runHeads(in.Runs)
	if len(tried) < 2 {
		return nil
	}
	var list []Attempt
	number := 0
	for i := range in.Runs {
		if k := in.Runs[i].Kind; k != plan.RunStep && k != plan.RunExternal {
			continue
		}
		number++
		if in.Runs[i].Number < tried[0].Number {
			continue
		}
		a := Attempt{Number: number, Head: heads[i], SessionURL: in.Place.WithTab(TabSession).Node(n.Ref()) + "#" + heads[i].DOM()}
		if j := judged[in.Runs[i].ID]; j != nil {
			a.Judgement = newJudgement(j, n)
		}
		a.files(n, in.Runs[i].Number, in.AttemptDiffs[in.Runs[i].ID])
		list = append(list, a)
	}
	return list
}

func (a *Attempt) files(n *plan.Node, run int, diffs []plan.FileDiff) {
	for i := range diffs {
		f := &diffs[i]
		if len(a.Files) == maxAttemptFiles {
			a.MoreFiles++
			continue
		}
		row := AttemptFile{Path: f.Path, Added: f.Added, Removed: f.Removed}
		if f.Diff != "" {
			row.URL = NodeURL(n.Ref()) + "/patch?run=" + strconv.Itoa(run) + "&path=" + url.QueryEscape(f.Path)
		}
		a.Files = append(a.Files, row)
	}
}
