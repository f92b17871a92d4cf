package graph

import (
	"cmp"
	"math"
	"slices"
)

// block is a piece of a wide layer, set in rows and columns. In the sheet of
// its part it is one big item.
type block struct {
	strands []strand
	alike   bool // all hang on the same nodes: set row by row by number
	rank    int32
	girth   int  // the widest strand, in cards
	linked  bool // edges run between the rows
	gapX    float64
	gapY    float64
	margin  float64 // for the corridors at the sides

	cols, rows  int
	cellW       float64
	top, bottom []float64 // of each row, from the top of the block
	w, h        float64
	x, y        float64 // corner of the block on the page
}

// strand is a piece of the plan inside a block: a card, or a few with edges.
type strand struct {
	nodes    []int32
	sheet    *sheet // nil for a single card
	w, h     float64
	row, col int
	x, y     float64 // from the corner of the block
	key      float64 // where the parents of a mixed strand are
}

// build lays out the strands.
func (b *block) build(a *arrangement) {
	b.gapX, b.gapY = a.n.opt.GapX, a.n.opt.GapX
	for i := range b.strands {
		s := &b.strands[i]
		for _, v := range s.nodes {
			a.strandOf[v] = int32(i)
			b.linked = b.linked || len(a.n.in.of(v)) > 0 || len(a.n.out.of(v)) > 0
		}
		b.girth = max(b.girth, s.build(a))
		b.cellW = max(b.cellW, s.w)
	}
	b.cellW = math.Ceil(b.cellW)
	if b.linked {
		b.gapY = a.n.opt.GapY
		b.margin = b.gapX / 2
	}
}

// build lays out one strand and returns how many cards wide it is.
func (s *strand) build(a *arrangement) int {
	if len(s.nodes) == 1 {
		s.w, s.h = a.n.w[s.nodes[0]], a.n.h[s.nodes[0]]
		return 1
	}
	inner := newSheet(a)
	inner.inner = true
	inner.addCards(s.nodes)
	inner.connect(s.nodes)
	inner.finish()
	inner.order()
	inner.align()
	inner.stack()
	s.sheet, s.w, s.h = inner, inner.w, inner.h
	girth := 0
	for _, layer := range inner.layers {
		cards := 0
		for _, i := range layer {
			if inner.items[i].kind == card {
				cards++
			}
		}
		girth = max(girth, cards)
	}
	return girth
}

func (b *block) setCols(cols int) {
	b.cols = min(cols, len(b.strands))
	b.rows = (len(b.strands) + b.cols - 1) / b.cols
	if !b.alike { // set by columns: the last ones may be empty
		b.cols = (len(b.strands) + b.rows - 1) / b.rows
	}
	b.w = float64(b.cols)*(b.cellW+b.gapX) - b.gapX + 2*b.margin
	b.place()
}

// place gives every strand its cell: row by row when all are alike, and column
// by column otherwise, because then the order says who stands below whom.
func (b *block) place() {
	for i := range b.strands {
		s := &b.strands[i]
		if b.alike {
			s.row, s.col = i/b.cols, i%b.cols
		} else {
			s.row, s.col = i%b.rows, i/b.rows
		}
		// Centres are whole pixels, so that straight lines are straight.
		if s.sheet == nil {
			s.x = math.Round(b.cellLeft(s.col)+b.cellW/2) - s.w/2
		} else {
			s.x = math.Floor(b.cellLeft(s.col) + (b.cellW-s.w)/2)
		}
	}
}

func (b *block) cellLeft(col int) float64 {
	return float64(col)*(b.cellW+b.gapX) + b.margin
}

// entry and exit are where edges pass the rows above and below a column.
func (b *block) entry(col int) float64 { return b.cellLeft(col) - 0.3*b.gapX }
func (b *block) exit(col int) float64  { return b.cellLeft(col) + b.cellW + 0.3*b.gapX }

// lastRow is the last row with something in this column.
func (b *block) lastRow(col int) int {
	if b.alike {
		return (len(b.strands) - 1 - col) / b.cols
	}
	return min(b.rows, len(b.strands)-col*b.rows) - 1
}

// sort arranges a mixed block by where the parents are.
func (b *block) sort(a *arrangement) {
	slices.SortStableFunc(b.strands, func(s, t strand) int { return cmp.Compare(s.key, t.key) })
	for i, s := range b.strands {
		for _, v := range s.nodes {
			a.strandOf[v] = int32(i)
		}
	}
	b.place()
}

// stack gives the rows their heights. Strands that take turns with one further
// left in their row hang lower.
func (b *block) stack(a *arrangement) {
	inRow := make([][]int32, b.rows)
	for i, s := range b.strands {
		inRow[s.row] = append(inRow[s.row], int32(i))
	}
	y := 0.0
	for r, row := range inRow {
		slices.SortFunc(row, func(i, j int32) int { return cmp.Compare(b.strands[i].col, b.strands[j].col) })
		drops := b.drops(a, row)
		low := y
		for k, i := range row {
			s := &b.strands[i]
			s.y = y + drops[k]
			low = max(low, s.y+s.h)
		}
		b.numberRow(a, row)
		b.top = append(b.top, y)
		b.bottom = append(b.bottom, low)
		if b.h = low; r < b.rows-1 {
			y = low + b.gapY
		}
	}
}

func (b *block) drops(a *arrangement, row []int32) []float64 {
	nodes := make([][]int32, len(row))
	tallest := 0.0
	for k, i := range row {
		nodes[k] = b.strands[i].nodes
		tallest = max(tallest, b.strands[i].h)
	}
	return a.nudge.drops(nodes, tallest)
}

// numberRow tells the cards of a row of strands which row that is.
func (b *block) numberRow(a *arrangement, row []int32) {
	depth := 1
	for _, i := range row {
		if s := b.strands[i].sheet; s != nil {
			depth = max(depth, len(s.layers))
		}
	}
	first := a.newRows(depth)
	for _, i := range row {
		s := &b.strands[i]
		for _, v := range s.nodes {
			a.rowOf[v] = first
			if s.sheet != nil {
				a.rowOf[v] += s.sheet.items[a.innerOf[v]].layer
			}
		}
	}
}
