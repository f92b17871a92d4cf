package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// importRecord is how the settings remember an import. A database is known again
// by its plans, which have a number and a moment there, wherever it lies and
// whatever was added to it since.
type importRecord struct {
	File  string            `json:"file"`
	At    plan.Stamp        `json:"at"`
	Plans []importedOldPlan `json:"plans"`
}

type importedOldPlan struct {
	Was       int64       `json:"was"`
	CreatedAt plan.Stamp  `json:"created_at"`
	ID        plan.PlanID `json:"id"`
}

const importsSetting = "imports"

func (t *Tx) imports() ([]importRecord, error) {
	value, err := t.Setting(importsSetting)
	if err != nil || value == "" {
		return nil, err
	}
	var list []importRecord
	if err := json.Unmarshal([]byte(value), &list); err != nil {
		return nil, fmt.Errorf("read what was imported: %w", err)
	}
	return list, nil
}

// ImportedFrom reports whether a file was imported, by its path.
func (t *Tx) ImportedFrom(path string) (bool, error) {
	list, err := t.imports()
	for _, r := range list {
		if r.File == path {
			return true, err
		}
	}
	return false, err
}

// refuseAgain refuses to take over what is here already.
func (k *takeover) refuseAgain() error {
	list, err := k.t.imports()
	if err != nil || k.opts.Again {
		return err
	}
	type mark struct {
		id int64
		at plan.Stamp
	}
	theirs := map[mark]bool{}
	for _, p := range k.plans {
		theirs[mark{p.ID, p.CreatedAt}] = true
	}
	for _, r := range list {
		var here []plan.PlanID
		for _, p := range r.Plans {
			if theirs[mark{p.Was, p.CreatedAt}] {
				here = append(here, p.ID)
			}
		}
		same := r.File == k.from.path && len(r.Plans)+len(k.plans) == 0 // but agents it has nothing
		if len(here) > 0 || same {
			return plan.Errorf(plan.Invalid, "%s was imported already, on %s%s: with --again it is imported once more, "+
				"all of it, beside what is here", k.from.path, r.At.Time().Format(time.DateOnly), asPlans(here))
		}
	}
	return nil
}

// asPlans names plans, not too many.
func asPlans(ids []plan.PlanID) string {
	if len(ids) == 0 {
		return ""
	}
	const most = 5
	names := make([]string, 0, most)
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, fmt.Sprint(id))
	}
	text := " (as plan " + strings.Join(names, ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ")"
}

// remember notes the import, for refuseAgain.
func (k *takeover) remember() error {
	list, err := k.t.imports()
	if err != nil {
		return err
	}
	record := importRecord{File: k.from.path, At: k.t.now, Plans: []importedOldPlan{}}
	for _, p := range k.plans {
		record.Plans = append(record.Plans, importedOldPlan{p.ID, p.CreatedAt, p.id})
	}
	value, err := json.Marshal(append(list, record))
	if err != nil {
		return fmt.Errorf("note the import: %w", err)
	}
	return k.t.SetSetting(importsSetting, string(value))
}
