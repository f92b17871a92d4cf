package store

import (
	"fmt"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Imported says what an import brought.
type Imported struct {
	From    string // path of the database
	Version string // which versions of the Python program wrote such a schema
	Size    int64  // bytes

	Plans    []ImportedPlan // the top-level ones, in the order of their numbers
	Shift    plan.PlanID    // how far the numbers of all plans went up
	Profiles []ImportedProfile

	// How many of each came.
	Nested, Steps, Edges, Files, Events, Runs, Diffs, Reviews int

	Stopped []plan.Ref // steps that ran there, and are pending here
	Notes   []string   // what is not as it was, a sentence each
}

// ImportedPlan is a top-level plan that came.
type ImportedPlan struct {
	Was, ID    plan.PlanID
	Title      string
	Nested     int // plans inside it
	Steps      int // in all of them
	WasStarted bool
	Status     plan.Status
	Folder     string // its working directory, "" when it has none
	FolderGone bool
}

// ImportedProfile is an agent profile that came.
type ImportedProfile struct {
	Was, Name string // Name is what it is called here
	Kept      bool   // the one of that name here is the same, and stays as it is
	HasKey    bool
}

// note adds a sentence about something that is not as it was.
func (i *Imported) note(format string, args ...any) {
	i.Notes = append(i.Notes, fmt.Sprintf(format, args...))
}

// leftOut counts rows that belong to nothing.
func (i *Imported) leftOut(n int, what string) {
	if n > 0 {
		i.note("%s left out, since what they belong to is not there any more: %d", what, n)
	}
}
