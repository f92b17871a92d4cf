package store

import (
	"math/bits"
	"sync"
)

// Commits counts transactions by how many changes they made durable at once.
type Commits struct {
	Total  uint64    // transactions
	Writes uint64    // changes in them
	Groups [8]uint64 // transactions of 1, up to 2, 4, 8, 16, 32, 64 and 128 changes
}

// tally counts while the store is open.
type tally struct {
	mu  sync.Mutex
	now Commits
}

func (t *tally) add(changes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.Total++
	t.now.Writes += uint64(changes)
	t.now.Groups[min(bits.Len(uint(changes-1)), len(t.now.Groups)-1)]++
}

// Commits returns how changes were grouped since the store was opened.
func (s *Store) Commits() Commits {
	s.commits.mu.Lock()
	defer s.commits.mu.Unlock()
	return s.commits.now
}
