package shadow

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
)

// id names an object of a git repository. Git's ids are SHA-1 here, whatever the
// project itself uses: nothing but this package and git read them.
type id [sha1.Size]byte

func (d id) String() string { return hex.EncodeToString(d[:]) }

func parseID(s string) (id, error) {
	var d id
	if len(s) != 2*len(d) {
		return d, fmt.Errorf("object id %q has the wrong length", s)
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return d, fmt.Errorf("object id %q: %w", s, err)
	}
	return d, nil
}

// kind is the type of an object, numbered as in pack files.
type kind byte

const (
	kindCommit kind = 1
	kindTree   kind = 2
	kindBlob   kind = 3
)

func (k kind) String() string {
	switch k {
	case kindCommit:
		return "commit"
	case kindTree:
		return "tree"
	}
	return "blob"
}

// idOf returns the name that git gives to an object.
func idOf(k kind, body []byte) id {
	h := sha1.New()
	h.Write(header(k, len(body)))
	h.Write(body)
	return id(h.Sum(nil))
}

func header(k kind, size int) []byte {
	b := strconv.AppendInt(append([]byte(k.String()), ' '), int64(size), 10)
	return append(b, 0)
}

// The modes of entries in a tree.
const (
	modeFile    uint32 = 0o100644
	modeProgram uint32 = 0o100755
	modeLink    uint32 = 0o120000
	modeFolder  uint32 = 0o040000
)

// gitMode returns how git records a file's mode, 0 for what it cannot hold.
func gitMode(mode uint32) uint32 {
	switch mode & fileType {
	case fileFolder:
		return modeFolder
	case fileLink:
		return modeLink
	case fileRegular:
		if mode&0o100 != 0 {
			return modeProgram
		}
		return modeFile
	}
	return 0
}
