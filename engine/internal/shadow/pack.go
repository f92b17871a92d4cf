package shadow

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
)

// batch gathers the new objects of one snapshot, and makes one pack of them. Its
// methods may be called at once. A batch that got no object leaves no trace.
type batch struct {
	store    *objects
	released bool

	mu   sync.Mutex
	file *os.File
	end  uint64 // bytes written so far
	objs []packed
	seen map[id]bool
}

// put adds an object, unless the store has it. It returns the object's name.
func (b *batch) put(k kind, body []byte) (id, error) {
	d := idOf(k, body)
	if b.has(d) {
		return d, nil
	}
	return d, b.putAs(d, k, body)
}

// putAs adds an object of which the name is known.
func (b *batch) putAs(d id, k kind, body []byte) error {
	raw, err := b.store.compress(k, body)
	if err != nil {
		return fmt.Errorf("compress an object: %w", err)
	}
	defer b.store.buffers.Put(raw)
	return b.append(d, crc32.ChecksumIEEE(raw.Bytes()), raw.Bytes())
}

func (b *batch) has(d id) bool {
	b.mu.Lock()
	seen := b.seen[d]
	b.mu.Unlock()
	return seen || b.store.has(d)
}

// append adds an object as it is to stand in the pack.
func (b *batch) append(d id, crc uint32, raw []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[d] {
		return nil
	}
	if b.file == nil {
		if err := b.create(); err != nil {
			return fmt.Errorf("begin a pack: %w", err)
		}
	}
	if _, err := b.file.WriteAt(raw, int64(b.end)); err != nil {
		return fmt.Errorf("write to a pack: %w", err)
	}
	b.objs = append(b.objs, packed{d, crc, b.end})
	b.end += uint64(len(raw))
	b.seen[d] = true
	return nil
}

func (b *batch) create() (err error) {
	b.file, err = os.CreateTemp(b.store.dir, tempPrefix)
	b.end, b.objs, b.seen = packHead, nil, map[id]bool{}
	return err
}

const (
	packHead   = 12
	tempPrefix = "tmp_pack_" // git's own gc removes such files, too
)

// finish makes the objects last, and known to the store. Until it returns, none
// of them exists. The batch can be filled again.
func (b *batch) finish() error {
	if b.file == nil {
		return nil
	}
	defer b.discard()
	name, err := b.settle()
	if err == nil {
		err = b.store.add(name)
	}
	if err != nil {
		return fmt.Errorf("finish a pack: %w", err)
	}
	return nil
}

// settle writes index and sum, and gives both files their lasting name.
func (b *batch) settle() (name string, err error) {
	sum, err := b.seal()
	if err != nil {
		return "", err
	}
	name = ownPrefix + fmt.Sprintf("%x", sum)
	index := encodeIndex(b.objs, sum)
	temp := b.file.Name() + ".idx"
	defer os.Remove(temp)
	var g errgroup.Group
	g.Go(b.file.Sync)
	g.Go(func() error { return writeDurably(temp, index, 0o400) })
	if err := g.Wait(); err != nil {
		return "", err
	}
	// The pack comes first: an index makes git look for its pack.
	to := filepath.Join(b.store.dir, name)
	if err := os.Rename(b.file.Name(), to+".pack"); err != nil {
		return "", err
	}
	return name, os.Rename(temp, to+".idx")
}

// seal writes the head, now that the number of objects is known, and the sum.
func (b *batch) seal() (sum [sha1.Size]byte, err error) {
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(b.objs)))
	if _, err := b.file.WriteAt(head, 0); err != nil {
		return sum, err
	}
	h := sha1.New()
	if _, err := io.Copy(h, io.NewSectionReader(b.file, 0, int64(b.end))); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	if _, err := b.file.WriteAt(sum[:], int64(b.end)); err != nil {
		return sum, err
	}
	return sum, b.file.Chmod(0o400)
}

// abort throws away what was not finished, and lets packs be replaced again.
func (b *batch) abort() {
	b.discard()
	if !b.released {
		b.released = true
		b.store.gate.RUnlock()
	}
}

func (b *batch) discard() {
	if b.file != nil {
		os.Remove(b.file.Name())
		b.file.Close()
		b.file = nil
	}
}

// compress returns an object as it stands in a pack: type and size in groups of
// bits, then the deflated body. The caller gives the buffer back.
func (o *objects) compress(k kind, body []byte) (*bytes.Buffer, error) {
	buf := o.buffers.Get().(*bytes.Buffer)
	buf.Reset()
	size := uint64(len(body))
	c := byte(k)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		buf.WriteByte(c | 0x80)
		c = byte(size & 0x7f)
	}
	buf.WriteByte(c)
	z := o.deflaters.Get().(*zlib.Writer)
	defer o.deflaters.Put(z)
	z.Reset(buf)
	if _, err := z.Write(body); err != nil {
		return buf, err
	}
	return buf, z.Close()
}

// writeDurably writes a new file that survives a loss of power.
func writeDurably(path string, data []byte, perm os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}
