package graph

import "math"

// Direction is that of an arrow key.
type Direction int

// The four arrow keys.
const (
	Up Direction = iota
	Down
	Left
	Right
)

// Neighbour says where an arrow key leads from a card. Up and down follow the
// edges, to the nearest in x when there are several; left and right go along the
// row. Where that leads nowhere it is the nearest card on that side, so every
// card can be reached. ok is false when there is none or id is unknown, and for
// a Layout that [Arrange] did not make.
func (l *Layout) Neighbour(id int64, d Direction) (neighbour int64, ok bool) {
	i, ok := l.find(id)
	if !ok || l.index == nil {
		return 0, false
	}
	to := int32(-1)
	switch d {
	case Up:
		to = l.closest(i, l.above.of(i))
	case Down:
		to = l.closest(i, l.below.of(i))
	case Left:
		to = l.left[i]
	case Right:
		to = l.right[i]
	}
	if to < 0 {
		to = l.index.nearest(i, d)
	}
	if to < 0 {
		return 0, false
	}
	return l.Boxes[to].ID, true
}

// closest is the one of some cards that is nearest in x, or -1.
func (l *Layout) closest(i int32, cards []int32) int32 {
	best, at := int32(-1), math.Inf(1)
	for _, c := range cards {
		if away := math.Abs(l.Boxes[c].centreX() - l.Boxes[i].centreX()); away < at {
			best, at = c, away
		}
	}
	return best
}

// nearest is the nearest card that lies wholly on one side, or -1. Being off
// the axis counts double.
func (x *index) nearest(i int32, d Direction) int32 {
	c0, r0, c1, r1 := x.span(area{x.boxes[i].X, x.boxes[i].Y, x.boxes[i].right(), x.boxes[i].bottom()})
	best, at := int32(-1), math.Inf(1)
	// Lines of tiles are searched from the card outwards, until even a card
	// straight ahead would be further off than the best.
	steps, size := map[Direction]int{Up: r1, Down: x.rows - 1 - r0, Left: c1, Right: x.cols - 1 - c0}[d], x.h
	if d == Left || d == Right {
		size = x.w
	}
	for step := 0; step <= steps && float64(step-2)*size < at; step++ {
		var a area
		switch d {
		case Up:
			a = x.row(r1 - step)
		case Down:
			a = x.row(r0 + step)
		case Left:
			a = x.col(c1 - step)
		case Right:
			a = x.col(c0 + step)
		}
		x.each(a, func(k int32) bool {
			if s := score(x.boxes[i], x.boxes[k], d); s < at || s == at && k < best {
				best, at = k, s
			}
			return true
		})
	}
	return best
}

// row and col are the inside of a line of tiles.
func (x *index) row(r int) area {
	return area{0, float64(r) * x.h, float64(x.cols) * x.w, float64(r+1)*x.h - 1e-6}
}

func (x *index) col(c int) area {
	return area{float64(c) * x.w, 0, float64(c+1)*x.w - 1e-6, float64(x.rows) * x.h}
}

// score is how far b is from a in a direction, infinite when it is not there.
func score(a, b Box, d Direction) float64 {
	var ahead, aside float64
	switch d {
	case Up:
		ahead, aside = a.Y-b.bottom(), a.centreX()-b.centreX()
	case Down:
		ahead, aside = b.Y-a.bottom(), a.centreX()-b.centreX()
	case Left:
		ahead, aside = a.X-b.right(), a.centreY()-b.centreY()
	case Right:
		ahead, aside = b.X-a.right(), a.centreY()-b.centreY()
	}
	if ahead < 0 {
		return math.Inf(1)
	}
	return ahead + 2*math.Abs(aside)
}
