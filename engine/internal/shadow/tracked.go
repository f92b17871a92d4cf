package shadow

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// tracked is the sorted paths that a project's git follows: rules of .gitignore
// do not touch them.
type tracked []string

func (t tracked) has(path string) bool {
	_, ok := slices.BinarySearch(t, path)
	return ok
}

// under reports whether any of the paths lies in a folder.
func (t tracked) under(folder string) bool {
	folder += "/"
	i := sort.SearchStrings(t, folder)
	return i < len(t) && strings.HasPrefix(t[i], folder)
}

// readTracked reads what the index of a work tree lists. It asks git for the
// forms of the index that are seldom met.
func (r *Repo) readTracked(ctx context.Context, p *project) (tracked, error) {
	path, err := filepath.EvalSymlinks(filepath.Join(p.gitDir, "index"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := readRegular(path, largestIndex)
	if err != nil {
		return nil, err
	}
	if list, err := parseIndex(data); err == nil {
		return list, nil
	}
	return r.askTracked(ctx, p, data)
}

// largestIndex is in bytes, some 100 for each file.
const largestIndex = 1 << 30

// askTracked has git list an index. It works on a copy: of one that is split, git
// would touch the second part, and the project's settings are none of our business.
func (r *Repo) askTracked(ctx context.Context, p *project, index []byte) (tracked, error) {
	dir, err := os.MkdirTemp(r.shadows(), tempIndex)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	files := map[string][]byte{"index": index, "HEAD": []byte(bareHead), "config": []byte(bareConfig)}
	if p.usesSHA256() {
		files["config"] = []byte(longConfig)
	}
	parts, err := filepath.Glob(filepath.Join(quoteGlob(p.gitDir), "sharedindex.*"))
	if err != nil {
		return nil, err
	}
	for _, from := range parts {
		if files[filepath.Base(from)], err = readRegular(from, largestIndex); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "refs"), 0o700); err != nil {
		return nil, err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return nil, err
		}
	}
	out, err := r.git(dir, "ls-files", "-z", "--cached").with("GIT_OBJECT_DIRECTORY=" + filepath.Join(p.common, "objects")).output(ctx)
	if err != nil {
		return nil, err
	}
	list := strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00")
	slices.Sort(list)
	return list, nil
}

// longConfig is that of a repository whose objects have long names.
const longConfig = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"

// tempIndex begins the names of copies that are there for a moment.
const tempIndex = "index-"

// quoteGlob makes a path match itself only.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

var errIndexForm = errors.New("the index has an unusual form")

const (
	indexFixed    = 62 // bytes of an entry before its name
	indexExtended = 0x4000
	indexNameLen  = 0xfff
)

// parseIndex reads the paths of an index in one of the versions 2 to 4. One in
// parts, and those of repositories with SHA-256, are left to git. Of folders that a
// sparse checkout leaves out it may have just the name, with a slash: there is
// nothing of them on disk.
func parseIndex(data []byte) (tracked, error) {
	if len(data) < 12+sha1.Size || string(data[:4]) != "DIRC" {
		return nil, errIndexForm
	}
	body, sum := data[:len(data)-sha1.Size], data[len(data)-sha1.Size:]
	if own := sha1.Sum(body); !bytes.Equal(own[:], sum) && !bytes.Equal(sum, make([]byte, sha1.Size)) {
		return nil, errIndexForm
	}
	version, count := binary.BigEndian.Uint32(body[4:]), int(binary.BigEndian.Uint32(body[8:]))
	if version < 2 || version > 4 || count > len(body)/indexFixed {
		return nil, errIndexForm
	}
	at, list := 12, make(tracked, 0, count)
	for range count {
		name, size := indexEntry(body[at:], version, list)
		if size == 0 {
			return nil, errIndexForm
		}
		list = append(list, name)
		at += size
	}
	if !plainExtensions(body[at:]) {
		return nil, errIndexForm
	}
	return slices.Compact(list), nil
}

// indexEntry reads one entry, and returns its path and length, 0 if it is broken.
func indexEntry(b []byte, version uint32, before tracked) (string, int) {
	if len(b) < indexFixed {
		return "", 0
	}
	start := indexFixed
	if binary.BigEndian.Uint16(b[indexFixed-2:])&indexExtended != 0 {
		start += 2
	}
	if start > len(b) {
		return "", 0
	}
	if version == 4 {
		return packedName(b, start, before)
	}
	n := bytes.IndexByte(b[start:], 0)
	if n < 0 {
		return "", 0
	}
	size := (start + n + 8) &^ 7 // padded with one to eight NULs
	if size > len(b) {
		return "", 0
	}
	return string(b[start : start+n]), size
}

// packedName reads a name that is written as the difference to the one before.
func packedName(b []byte, start int, before tracked) (string, int) {
	drop, i := 0, start
	for more := true; more; i++ {
		if i >= len(b) || drop > 1<<20 {
			return "", 0
		}
		if i > start {
			drop++
		}
		drop = drop<<7 | int(b[i]&0x7f)
		more = b[i]&0x80 != 0
	}
	last := ""
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	n := bytes.IndexByte(b[i:], 0)
	if n < 0 || drop > len(last) {
		return "", 0
	}
	return last[:len(last)-drop] + string(b[i:i+n]), i + n + 1
}

// plainExtensions reports whether what follows the entries leaves them as they
// are: they do not add to those of another index.
func plainExtensions(b []byte) bool {
	for len(b) >= 8 {
		name, size := string(b[:4]), int64(binary.BigEndian.Uint32(b[4:]))
		if name == "link" || size > int64(len(b)-8) {
			return false
		}
		b = b[8+size:]
	}
	return len(b) == 0
}
