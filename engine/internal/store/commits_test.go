package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommitsAreCountedBySize(t *testing.T) {
	var c tally
	for _, n := range []int{1, 1, 2, 3, 4, 5, 64, 65, 128} {
		c.add(n)
	}
	want := Commits{Total: 9, Writes: 273, Groups: [8]uint64{2, 1, 2, 1, 0, 0, 1, 2}}
	if diff := cmp.Diff(want, c.now); diff != "" {
		t.Error(diff)
	}
	s := open(t, Options{})
	write(t, s, func(*Tx) error { return nil })
	if got := s.Commits(); got.Total != 1 || got.Writes != 1 || got.Groups[0] != 1 {
		t.Errorf("after one change: %+v", got)
	}
}
