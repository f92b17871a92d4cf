package plan

import "strings"

// DiffKind says what happened to a file between two snapshots.
type DiffKind string

// The kinds of changes of a file.
const (
	DiffAdded   DiffKind = "added"
	DiffChanged DiffKind = "changed"
	DiffDeleted DiffKind = "deleted"
	DiffMode    DiffKind = "mode" // only the executable bit
)

// FileDiff is what a run changed in one file.
type FileDiff struct {
	// Path is relative to the working directory. A name with control characters
	// or bytes that are no UTF-8 is quoted as git does it, in double quotes.
	Path     string   `db:"path" json:"path"`
	Kind     DiffKind `db:"change" json:"change"`
	Added    int      `db:"added" json:"added"`     // lines
	Removed  int      `db:"removed" json:"removed"` // lines
	Declared bool     `db:"declared" json:"declared"`
	Binary   bool     `db:"is_binary" json:"binary"`
	Cut      bool     `db:"is_cut" json:"cut"` // Diff ends before the change does; the counts hold
	Note     string   `db:"note" json:"note"`  // why there is no diff, if so
	// Diff is the unified diff in git's format, its bytes as they are in the
	// files: it need not be valid UTF-8.
	Diff string `db:"diff" json:"diff"`
}

// Changes is all that differs between two snapshots of a working directory.
type Changes struct {
	Files          []FileDiff // ordered by path, declared ones and others
	Undeclared     []string   // paths of the others, the first of them
	UndeclaredMore int        // how many Undeclared does not name
}

// PathKey returns the key, as FileKey makes it, of any path that was found on
// disk, also of one that nobody could declare.
func PathKey(path string) string {
	if key, err := FileKey(path); err == nil {
		return key
	}
	return fold(strings.ReplaceAll(strings.ToValidUTF8(path, "\uFFFD"), `\`, "/"))
}
