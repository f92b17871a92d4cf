package shadow

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
)

// packIndex says which objects are in one pack file.
type packIndex struct {
	name   string // without .pack or .idx
	size   int64  // of the pack, in bytes
	fanout [256]uint32
	ids    []byte // sorted, one after the other
}

var indexMagic = []byte("\xfftOc\x00\x00\x00\x02")

const indexHead = 8 + 256*4

// readIndex reads the list of objects of a pack.
func readIndex(path, name string) (*packIndex, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) < indexHead || !bytes.HasPrefix(b, indexMagic) {
		return nil, errors.New("it is no index of a pack")
	}
	p := &packIndex{name: name}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(b[8+4*i:])
		if i > 0 && p.fanout[i] < p.fanout[i-1] {
			return nil, errors.New("its table is out of order")
		}
	}
	end := indexHead + int64(p.fanout[255])*sha1.Size
	if int64(len(b)) < end {
		return nil, errors.New("it is cut off")
	}
	p.ids = slices.Clone(b[indexHead:end])
	return p, nil
}

func (p *packIndex) at(i int) []byte { return p.ids[i*sha1.Size : (i+1)*sha1.Size] }

func (p *packIndex) has(d id) bool {
	lo, hi := 0, int(p.fanout[d[0]])
	if d[0] > 0 {
		lo = int(p.fanout[d[0]-1])
	}
	i := lo + sort.Search(hi-lo, func(i int) bool { return bytes.Compare(p.at(lo+i), d[:]) >= 0 })
	return i < hi && bytes.Equal(p.at(i), d[:])
}

// packed is where an object lies in a pack.
type packed struct {
	id     id
	crc    uint32 // of the bytes in the pack
	offset uint64
}

// encodeIndex returns the index of a pack, in version 2 of git's format, and
// sorts the objects.
func encodeIndex(objs []packed, sum [sha1.Size]byte) []byte {
	slices.SortFunc(objs, func(a, b packed) int { return bytes.Compare(a.id[:], b.id[:]) })
	var fanout [256]uint32
	for _, o := range objs {
		fanout[o.id[0]]++
	}
	b := slices.Clone(indexMagic)
	total := uint32(0)
	for _, n := range fanout {
		total += n
		b = binary.BigEndian.AppendUint32(b, total)
	}
	for _, o := range objs {
		b = append(b, o.id[:]...)
	}
	for _, o := range objs {
		b = binary.BigEndian.AppendUint32(b, o.crc)
	}
	var far []uint64
	for _, o := range objs {
		if o.offset < 1<<31 {
			b = binary.BigEndian.AppendUint32(b, uint32(o.offset))
			continue
		}
		b = binary.BigEndian.AppendUint32(b, 1<<31|uint32(len(far)))
		far = append(far, o.offset)
	}
	for _, off := range far {
		b = binary.BigEndian.AppendUint64(b, off)
	}
	b = append(b, sum[:]...)
	own := sha1.Sum(b)
	return append(b, own[:]...)
}

// decodeOffsets returns the objects of an index that encodeIndex made for a pack
// below 2 GiB, in the order of the pack.
func decodeOffsets(b []byte) ([]packed, error) {
	if len(b) < indexHead {
		return nil, errors.New("it is cut off")
	}
	n := int(binary.BigEndian.Uint32(b[indexHead-4:]))
	if len(b) != indexHead+n*(sha1.Size+4+4)+2*sha1.Size {
		return nil, fmt.Errorf("it has %d bytes for %d objects", len(b), n)
	}
	ids := b[indexHead:]
	crcs := ids[n*sha1.Size:]
	offs := crcs[n*4:]
	out := make([]packed, n)
	for i := range out {
		out[i] = packed{
			id:     id(ids[i*sha1.Size:]),
			crc:    binary.BigEndian.Uint32(crcs[i*4:]),
			offset: uint64(binary.BigEndian.Uint32(offs[i*4:])),
		}
	}
	slices.SortFunc(out, func(a, b packed) int { return int(int64(a.offset) - int64(b.offset)) })
	return out, nil
}
