package main

import (
	"slices"
	"sync"
)

// note is a short text with its number.
type note struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

// store keeps notes. It is safe for concurrent use.
type store struct {
	mu    sync.Mutex
	notes []note
}

func (s *store) all() []note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

func (s *store) keep(text string) note {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := note{len(s.notes) + 1, text}
	s.notes = append(s.notes, n)
	return n
}
