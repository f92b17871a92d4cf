package graph

import "math"

// memory answers where things were in the previous picture. A nil memory knows
// nothing.
type memory struct {
	cards map[int64]float64
	edges map[Edge][]float64
}

func newMemory(prev *Layout) *memory {
	if prev == nil {
		return nil
	}
	m := &memory{cards: make(map[int64]float64, len(prev.Boxes)), edges: make(map[Edge][]float64)}
	for _, b := range prev.Boxes {
		m.cards[b.ID] = b.centreX()
	}
	for _, p := range prev.Edges {
		if len(p.Lanes) > 0 {
			m.edges[Edge{p.From, p.To}] = p.Lanes
		}
	}
	return m
}

func (m *memory) card(id int64) float64 {
	if m == nil {
		return math.NaN()
	}
	if x, ok := m.cards[id]; ok {
		return x
	}
	return math.NaN()
}

func (m *memory) lanes(from, to int64) []float64 {
	if m == nil {
		return nil
	}
	return m.edges[Edge{from, to}]
}
