package shadow

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// change is one path that differs between two trees. A mode of 0 is a path that
// is not there.
type change struct {
	path             string
	oldMode, newMode uint32
	oldID, newID     id
}

func (c *change) kind() plan.DiffKind {
	switch {
	case c.oldMode == 0:
		return plan.DiffAdded
	case c.newMode == 0:
		return plan.DiffDeleted
	case c.oldID == c.newID && isRegular(c.oldMode) && isRegular(c.newMode):
		return plan.DiffMode
	}
	return plan.DiffChanged
}

// sections returns how many patches git writes for the change: what becomes
// another kind of file is deleted and added.
func (c *change) sections() int {
	if c.oldMode != 0 && c.newMode != 0 && isRegular(c.oldMode) != isRegular(c.newMode) {
		return 2
	}
	return 1
}

func isRegular(mode uint32) bool { return mode == modeFile || mode == modeProgram }

// changes lists what differs between two trees, ordered by path as git does.
func (f *folder) changes(ctx context.Context, from, to id) ([]change, error) {
	if from == to {
		return nil, nil
	}
	out, err := f.repo.git(f.dir, "diff-tree", "-r", "-z", "--raw", "--no-renames", from.String(), to.String()).output(ctx)
	if err != nil {
		return nil, err
	}
	var list []change
	for len(out) > 0 {
		var c change
		if c, out, err = parseRaw(out); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// parseRaw reads one entry, such as ":100644 100755 <id> <id> M\0path\0".
func parseRaw(b []byte) (c change, rest []byte, err error) {
	meta, rest, ok := bytes.Cut(b, []byte{0})
	path, rest, ok2 := bytes.Cut(rest, []byte{0})
	words := strings.Fields(strings.TrimPrefix(string(meta), ":"))
	if !ok || !ok2 || len(words) != 5 {
		return c, nil, fmt.Errorf("git printed an entry that cannot be read: %q", meta)
	}
	c.path = string(path)
	for i, m := range []*uint32{&c.oldMode, &c.newMode} {
		v, err := strconv.ParseUint(words[i], 8, 32)
		if err != nil {
			return c, nil, fmt.Errorf("git printed an entry that cannot be read: %q", meta)
		}
		*m = uint32(v)
	}
	if c.oldID, err = parseID(words[2]); err == nil {
		c.newID, err = parseID(words[3])
	}
	return c, rest, err
}
