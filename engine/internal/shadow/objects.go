package shadow

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ownPrefix begins the names of packs that this package wrote: their objects are
// whole, none is the difference to another.
const ownPrefix = "pack-c"

// Small packs are joined when there are as many, so that neither git nor has get
// slow between two calls of Prune.
const (
	mostSmall = 48
	smallPack = 4 << 20 // bytes
)

// objects is the object store of one bare repository. Its methods may be called
// at once.
type objects struct {
	dir       string // of the packs
	buffers   sync.Pool
	deflaters sync.Pool

	gate sync.RWMutex // held for reading by each batch until its owner has recorded the tree

	mu    sync.RWMutex
	packs []*packIndex
	// While a prune runs, only packs made since it began count: the others go.
	doomed map[string]bool
}

func openObjects(dir string) (*objects, error) {
	o := &objects{dir: dir}
	o.buffers.New = func() any { return new(bytes.Buffer) }
	o.deflaters.New = func() any {
		z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // fails for unknown levels only
		return z
	}
	return o, o.reload()
}

// reload reads the list of packs anew. A pack whose index cannot be read is
// removed: whatever was in it is written again when it is met again.
func (o *objects) reload() error {
	list, err := os.ReadDir(o.dir)
	if err != nil {
		return fmt.Errorf("list packs: %w", err)
	}
	var packs []*packIndex
	for _, e := range list {
		name, isIndex := strings.CutSuffix(e.Name(), ".idx")
		switch {
		case strings.HasPrefix(e.Name(), tempPrefix):
			os.Remove(filepath.Join(o.dir, e.Name()))
		case isIndex:
			p, err := o.read(name)
			if err != nil {
				o.remove(name)
				continue
			}
			packs = append(packs, p)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.packs = packs
	return nil
}

func (o *objects) read(name string) (*packIndex, error) {
	info, err := os.Stat(filepath.Join(o.dir, name+".pack"))
	if err != nil {
		return nil, err
	}
	p, err := readIndex(filepath.Join(o.dir, name+".idx"), name)
	if err != nil {
		return nil, fmt.Errorf("read the index of %s: %w", name, err)
	}
	p.size = info.Size()
	return p, nil
}

func (o *objects) remove(name string) {
	for _, ext := range []string{".idx", ".pack", ".rev", ".bitmap"} {
		os.Remove(filepath.Join(o.dir, name+ext))
	}
}

// add makes a finished pack known.
func (o *objects) add(name string) error {
	p, err := o.read(name)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.ContainsFunc(o.packs, func(q *packIndex) bool { return q.name == name }) {
		o.packs = append(o.packs, p)
	}
	delete(o.doomed, name)
	return nil
}

func (o *objects) has(d id) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, p := range o.packs {
		if !o.doomed[p.name] && p.has(d) {
			return true
		}
	}
	return false
}

// begin starts a batch, which its caller must abort in the end, also after finish.
func (o *objects) begin() *batch {
	o.gate.RLock()
	return &batch{store: o}
}

// doom lets all packs that there are now go out of use.
// It waits for batches, since those may count on what is there; roots is called
// before the next one begins.
func (o *objects) doom(roots func()) {
	o.gate.Lock()
	defer o.gate.Unlock()
	roots()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.doomed = map[string]bool{}
	for _, p := range o.packs {
		o.doomed[p.name] = true
	}
}

// spare ends what doom began. The packs that are still doomed are removed when
// there is one in their place.
func (o *objects) spare(replaced bool) {
	o.mu.Lock()
	gone := o.doomed
	o.doomed = nil
	o.mu.Unlock()
	if replaced {
		o.drop(gone)
	}
}

// drop removes packs.
func (o *objects) drop(gone map[string]bool) {
	o.mu.Lock()
	o.packs = slices.DeleteFunc(slices.Clone(o.packs), func(p *packIndex) bool { return gone[p.name] })
	o.mu.Unlock()
	for name := range gone {
		o.remove(name)
	}
}

// size returns the number of packs and of their bytes.
func (o *objects) size() (packs int, bytes int64) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, p := range o.packs {
		bytes += p.size
	}
	return len(o.packs), bytes
}

// joinSmall makes one pack of the small ones when there are many. It must not run
// beside a prune, or beside itself.
func (o *objects) joinSmall() error {
	small := map[string]bool{}
	o.mu.RLock()
	busy := o.doomed != nil
	for _, p := range o.packs {
		if p.size <= smallPack && strings.HasPrefix(p.name, ownPrefix) {
			small[p.name] = true
		}
	}
	o.mu.RUnlock()
	if busy || len(small) < mostSmall {
		return nil
	}
	b := o.begin()
	defer b.abort()
	for name := range small {
		if err := o.copyPack(b, name); err != nil {
			return fmt.Errorf("join packs: %w", err)
		}
	}
	name, err := b.settle()
	if err == nil {
		err = o.add(name)
	}
	if err != nil {
		return fmt.Errorf("join packs: %w", err)
	}
	delete(small, name)
	o.drop(small)
	return nil
}

// copyPack adds all objects of a pack of our own to a batch.
func (o *objects) copyPack(b *batch, name string) error {
	index, err := os.ReadFile(filepath.Join(o.dir, name+".idx"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	objs, err := decodeOffsets(index)
	if err != nil {
		return fmt.Errorf("read the index of %s: %w", name, err)
	}
	pack, err := os.ReadFile(filepath.Join(o.dir, name+".pack"))
	if err != nil {
		return err
	}
	for i, x := range objs {
		end := uint64(len(pack) - len(x.id))
		if i+1 < len(objs) {
			end = objs[i+1].offset
		}
		if x.offset > end || end > uint64(len(pack)) {
			return fmt.Errorf("%s is cut off", name)
		}
		if err := b.append(x.id, x.crc, pack[x.offset:end]); err != nil {
			return err
		}
	}
	return nil
}
