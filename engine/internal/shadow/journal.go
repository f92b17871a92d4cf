package shadow

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// journal is what is about to be done to a working directory, written down before
// it is done. Its objects are in the shadow of the project.
type journal struct {
	Workdir []byte // a path is bytes, which JSON cannot hold as text
	Key     string // of the shadow
	Ops     []op
	Go      bool // all is prepared: from here on it is finished, not dropped
}

// op replaces one path, or removes it. A mode of 0 is nothing.
type op struct {
	Path             []byte
	OldMode, NewMode uint32
	OldID, NewID     string
	Perm             uint32 // of what was there
	UID, GID         int    // of what was there
	StageDir         []byte // folder, "" or "a/b", in which the new content waits
	Stage            string // its name there

	seen stat // of what was there when this was planned
}

func (o *op) path() string { return string(o.Path) }

// staged is the path of what waits.
func (o *op) staged() string {
	if len(o.StageDir) == 0 {
		return o.Stage
	}
	return string(o.StageDir) + "/" + o.Stage
}

const journalFile = "journal.json"

func (j *journal) save(place string) error {
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(place, journalFile), b); err != nil {
		return err
	}
	return syncFolder(place)
}

// readJournal reads what was under way; nil if nothing was.
func readJournal(place string) (*journal, error) {
	b, err := os.ReadFile(filepath.Join(place, journalFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var j journal
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, err
	}
	return &j, nil
}

func dropJournal(place string) error {
	err := os.Remove(filepath.Join(place, journalFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// syncFolder makes renames in a folder last.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
