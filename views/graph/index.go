package graph

import "math"

// area is a rectangle on the page.
type area struct{ x0, y0, x1, y1 float64 }

// index finds boxes by place: the page is cut into tiles about as large as a
// card, and each knows the boxes that touch it.
type index struct {
	boxes      []Box
	w, h       float64 // of a tile
	cols, rows int
	tiles      adjacency
	owner      []int32 // box of each entry of tiles
}

func newIndex(boxes []Box, opt Options) *index {
	x := &index{boxes: boxes}
	var right, low float64
	for _, b := range boxes {
		x.w += (b.W + opt.GapX) / float64(len(boxes))
		x.h += (b.H + opt.GapY) / float64(len(boxes))
		right, low = max(right, b.right()), max(low, b.bottom())
	}
	x.w, x.h = max(1, x.w), max(1, x.h)
	// A sparse page must not cost more tiles than it has boxes.
	if many := right / x.w * low / x.h / float64(8*len(boxes)+64); many > 1 {
		x.w, x.h = x.w*math.Sqrt(many), x.h*math.Sqrt(many)
	}
	x.cols, x.rows = int(right/x.w)+1, int(low/x.h)+1
	var tile []int32
	for i, b := range boxes {
		c0, r0, c1, r1 := x.span(area{b.X, b.Y, b.right(), b.bottom()})
		for r := r0; r <= r1; r++ {
			for c := c0; c <= c1; c++ {
				tile = append(tile, int32(r*x.cols+c))
				x.owner = append(x.owner, int32(i))
			}
		}
	}
	x.tiles = gather(x.cols*x.rows, len(tile), func(i int) int32 { return tile[i] })
	return x
}

// span is the tiles that an area touches.
func (x *index) span(a area) (c0, r0, c1, r1 int) {
	clamp := func(v float64, n int) int { return min(max(int(v), 0), n-1) }
	return clamp(a.x0/x.w, x.cols), clamp(a.y0/x.h, x.rows), clamp(a.x1/x.w, x.cols), clamp(a.y1/x.h, x.rows)
}

// each calls do for the boxes whose inside an area reaches, some of them more
// than once, until do returns false.
func (x *index) each(a area, do func(i int32) bool) {
	c0, r0, c1, r1 := x.span(a)
	for r := r0; r <= r1; r++ {
		for c := c0; c <= c1; c++ {
			for _, entry := range x.tiles.of(int32(r*x.cols + c)) {
				i := x.owner[entry]
				b := &x.boxes[i]
				if b.X < a.x1 && a.x0 < b.right() && b.Y < a.y1 && a.y0 < b.bottom() && !do(i) {
					return
				}
			}
		}
	}
}
