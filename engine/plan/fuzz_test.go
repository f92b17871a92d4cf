package plan

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FuzzSharedFiles compares the paths that two nodes share with what each pair of
// them says.
func FuzzSharedFiles(f *testing.F) {
	f.Add("src\nDocs/", "SRC/a.go\ndocs")
	f.Add("a/b\na", "a/b/c\na/bb\nA/B")
	f.Add("ſ/x", "S\ns/X/y")
	f.Add(`a\b`, "./a//B/../b/.")
	f.Fuzz(func(t *testing.T, a, b string) {
		mine, errA := ParseFiles(strings.Split(a, "\n"))
		theirs, errB := ParseFiles(strings.Split(b, "\n"))
		if errA != nil || errB != nil {
			return
		}
		shared, back := keysOf(t, SharedFiles(mine, theirs)), keysOf(t, SharedFiles(theirs, mine))
		if !slices.Equal(shared, back) {
			t.Fatalf("%q and %q share %q one way and %q the other", a, b, shared, back)
		}
		var want []string
		for _, m := range mine {
			for _, o := range theirs {
				if inside(m.Key, o.Key) {
					want = append(want, m.Key)
				} else if inside(o.Key, m.Key) {
					want = append(want, o.Key)
				}
			}
		}
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(shared, want) {
			t.Fatalf("%q and %q share %q, want %q", a, b, shared, want)
		}
	})
}

// inside reports whether a key is a folder's or of something in it, segment by segment.
func inside(key, folder string) bool {
	k, f := strings.Split(key, "/"), strings.Split(folder, "/")
	return len(k) >= len(f) && slices.Equal(k[:len(f)], f)
}

func keysOf(t *testing.T, paths []string) []string {
	t.Helper()
	keys := make([]string, len(paths))
	for i, p := range paths {
		var err error
		if keys[i], err = FileKey(p); err != nil {
			t.Fatalf("shared path %q: %v", p, err)
		}
	}
	return keys
}

// FuzzFileIndex puts claims into a file index and takes them out again, and
// compares what it finds with a list.
func FuzzFileIndex(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	f.Add([]byte("the quick brown fox jumps over the lazy dog"))
	pool := []string{"a", "a/b", "a/b/c", "a/c", "ab", "b", "b/x", "b/y", "a/b/c/d", "ab/c"}
	f.Fuzz(func(t *testing.T, ops []byte) {
		var x fileIndex
		in := map[Ref][]string{}
		for i := 0; i+2 < len(ops) && i < 300; i += 3 {
			r := Ref{PlanID(1 + ops[i]%2), NodeID(1 + ops[i]/2%9)}
			keys := []string{pool[int(ops[i+1])%len(pool)], pool[int(ops[i+2])%len(pool)]}
			slices.Sort(keys)
			keys = slices.Compact(keys)
			if old, ok := in[r]; ok {
				x.add(r, old, roleReady, -1)
				delete(in, r)
			} else {
				x.add(r, keys, roleReady, 1)
				in[r] = keys
			}
			checkIndex(t, &x, in, r, keys)
		}
		for r, keys := range in {
			x.add(r, keys, roleReady, -1)
		}
		if len(x.top.kids) != 0 {
			t.Fatalf("of an empty index %d branches are left", len(x.top.kids))
		}
	})
}

func checkIndex(t *testing.T, x *fileIndex, in map[Ref][]string, r Ref, keys []string) {
	t.Helper()
	var others []Ref
	for o, theirs := range in {
		if o != r && slices.ContainsFunc(theirs, func(a string) bool {
			return slices.ContainsFunc(keys, func(b string) bool { return inside(a, b) || inside(b, a) })
		}) {
			others = append(others, o)
		}
	}
	slices.SortFunc(others, Ref.Compare)
	var first, last Ref
	above := []Ref{}
	for _, o := range others {
		if first.IsZero() {
			first = o
		}
		if o.Compare(r) < 0 {
			last = o
		} else {
			above = append(above, o)
		}
	}
	got, _ := x.first(r, keys, roleReady)
	low, _ := x.lastBelow(r, keys, roleReady)
	up := x.above(r.rank(), keys, roleReady)
	slices.SortFunc(up, Ref.Compare)
	if first.IsZero() != (len(others) == 0) || !first.IsZero() && got != first || !last.IsZero() && low != last || !slices.Equal(slices.Compact(up), above) {
		t.Fatalf("%s with %q among %v: first %s, last below %s, above %v; want %s, %s, %v", r, keys, in, got, low, up, first, last, above)
	}
}

// bytesSource makes random numbers of what a fuzzer gives, and of a seed when
// that has run out.
type bytesSource struct {
	data []byte
	then rand.PCG
}

func (s *bytesSource) Uint64() uint64 {
	if len(s.data) < 2 {
		return s.then.Uint64()
	}
	v := binary.LittleEndian.Uint16(s.data)
	s.data = s.data[2:]
	return uint64(v) << 48
}

// FuzzBoard is a storm whose dice a fuzzer throws.
func FuzzBoard(f *testing.F) {
	f.Add(uint8(0), []byte{})
	f.Add(uint8(1), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add(uint8(3), slices.Repeat([]byte{200, 7, 90}, 60))
	f.Fuzz(func(t *testing.T, which uint8, dice []byte) {
		s := newStorm(t, shapes[int(which)%len(shapes)], rand.New(&bytesSource{data: dice[:min(len(dice), 2000)]}))
		s.run(100)
		s.checkNothingStays()
	})
}
