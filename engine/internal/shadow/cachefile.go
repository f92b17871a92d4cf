package shadow

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The cache file holds the nodes of a working directory, depth first, with a sum
// at the end. A file that is damaged, or of another version, counts as none.
const (
	cacheMagic = "clearbox stat cache 1\n"
	cacheName  = "cache"
)

// The flags of an entry in the file.
const (
	flagRacy = 1 << iota
	flagIgnored
	flagForced
	flagFolder
	flagEmpty // the folder's tree has no entries
)

// save writes the cache down, if it has changed.
func (f *folder) save() error {
	if f.cache == nil || f.stale == 0 {
		return nil
	}
	b := appendNode([]byte(cacheMagic), f.cache)
	sum := sha1.Sum(b)
	path := filepath.Join(f.dir, cacheName)
	// Not synced: a cache that a loss of power has damaged is only read anew.
	err := os.WriteFile(path+".new", append(b, sum[:]...), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("save the cache of %s: %w", f.root, err)
	}
	f.stale, f.saved = 0, time.Now()
	return nil
}

func appendNode(b []byte, n *node) []byte {
	b = append(b, n.tree[:]...)
	b = binary.AppendUvarint(b, uint64(len(n.kids)))
	for _, e := range n.kids {
		b = append(binary.AppendUvarint(b, uint64(len(e.name))), e.name...)
		flags := setFlag(e.racy, flagRacy) | setFlag(e.ignored, flagIgnored) | setFlag(e.forced, flagForced)
		if e.dir != nil {
			b = append(b, flags|flagFolder|setFlag(e.dir.empty, flagEmpty))
			b = appendNode(b, e.dir)
			continue
		}
		b = append(b, flags)
		b = append(b, e.id[:]...)
		for _, v := range []uint64{uint64(e.mode), uint64(e.stat.size), uint64(e.stat.mtime), uint64(e.stat.ctime),
			e.stat.ino, e.stat.dev, uint64(e.stat.mode), uint64(len(e.why))} {
			b = binary.AppendUvarint(b, v)
		}
		b = append(b, e.why...)
	}
	return b
}

func setFlag(on bool, flag byte) byte {
	if on {
		return flag
	}
	return 0
}

// load reads the cache. One that knows of objects that are gone is not used.
func (f *folder) load() {
	b, err := os.ReadFile(filepath.Join(f.dir, cacheName))
	if err != nil || len(b) < len(cacheMagic)+sha1.Size {
		return
	}
	body, sum := b[:len(b)-sha1.Size], b[len(b)-sha1.Size:]
	own := sha1.Sum(body)
	if !bytes.Equal(own[:], sum) || !bytes.HasPrefix(body, []byte(cacheMagic)) {
		return
	}
	d := decoder{b: body[len(cacheMagic):], store: f.store, unknown: &chain{}}
	if n := d.node(); d.err == nil && len(d.b) == 0 {
		f.cache = n
	}
}

// decoder reads a cache file.
type decoder struct {
	b       []byte
	store   *objects
	unknown *chain // of folders whose rules are yet to be read
	depth   int
	err     error
}

var errCache = errors.New("the cache cannot be used")

func (d *decoder) node() *node {
	if d.depth++; d.depth > deepest+1 {
		d.err = errCache
	}
	n := &node{chain: d.unknown, tree: d.id()}
	for count := d.uint(); count > 0 && d.err == nil; count-- {
		e := d.entry()
		n.inherit(e)
		n.kids = append(n.kids, e)
	}
	d.depth--
	return n
}

func (d *decoder) entry() *entry {
	e := &entry{name: string(d.take(d.uint()))}
	flags := byte(d.uint())
	e.racy, e.ignored, e.forced = flags&flagRacy != 0, flags&flagIgnored != 0, flags&flagForced != 0
	if flags&flagFolder != 0 {
		e.mode, e.stat.mode = modeFolder, fileFolder
		e.dir = d.node()
		e.dir.empty = flags&flagEmpty != 0
		return e
	}
	e.id = d.id()
	e.mode = uint32(d.uint())
	e.stat = stat{size: int64(d.uint()), mtime: int64(d.uint()), ctime: int64(d.uint()),
		ino: d.uint(), dev: d.uint(), mode: uint32(d.uint())}
	e.why = string(d.take(d.uint()))
	return e
}

// id reads the name of an object, which must exist.
func (d *decoder) id() (x id) {
	copy(x[:], d.take(uint64(len(x))))
	if d.err == nil && !d.store.has(x) {
		d.err = errCache
	}
	return x
}

// take returns the next n bytes, nil when there are not as many.
func (d *decoder) take(n uint64) []byte {
	if d.err != nil || n > uint64(len(d.b)) {
		d.err = errCache
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if d.err != nil || n <= 0 {
		d.err = errCache
		return 0
	}
	d.b = d.b[n:]
	return v
}
