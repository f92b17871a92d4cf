package graph

import (
	"math"
	"slices"
)

// pack puts the parts on the page, each as high up and then as far left as it
// fits, under a skyline of what is already there.
func (a *arrangement) pack() {
	width := a.pageWidth()
	sky := []ledge{{0, 0, width}}
	for i := range a.parts {
		p := &a.parts[i]
		gapX, gapY := a.gaps(p)
		at, y := 0, math.Inf(1)
		for k := range sky {
			if low := landing(sky, k, math.Ceil(p.w)+gapX, width); low < y {
				at, y = k, low
			}
		}
		p.x, p.y = sky[at].x, y
		sky = raise(sky, at, ledge{p.x, p.y + math.Ceil(p.h) + gapY, math.Ceil(p.w) + gapX})
	}
}

func (a *arrangement) gaps(p *part) (x, y float64) {
	if p.sheet == nil {
		return a.n.opt.GapX, a.n.opt.GapX
	}
	return 2 * a.n.opt.GapX, a.n.opt.GapY
}

// pageWidth is that of a page of the wanted aspect ratio with room for all
// parts, in steps, so that it seldom changes as a plan grows.
func (a *arrangement) pageWidth() float64 {
	area, widest := 0.0, 0.0
	for i := range a.parts {
		p := &a.parts[i]
		gapX, gapY := a.gaps(p)
		area += (p.w + gapX) * (p.h + gapY)
		widest = max(widest, math.Ceil(p.w)+gapX)
	}
	pitch := a.n.opt.GapX
	for _, w := range a.n.w {
		pitch += w / float64(a.n.size())
	}
	cols := math.Sqrt(a.n.opt.Aspect*area) / pitch
	steps := []float64{1, 2, 3, 4, 6, 8, 10}
	k := slices.IndexFunc(steps, func(s float64) bool { return s >= cols })
	if k >= 0 {
		return max(widest, steps[k]*pitch)
	}
	return max(widest, float64(rung(cols))*pitch)
}

// ledge is a piece of the skyline: the lowest free y from x on.
type ledge struct{ x, y, w float64 }

// landing is how high something of this width comes to lie at ledge k.
func landing(sky []ledge, k int, w, page float64) float64 {
	if sky[k].x+w > page+0.5 {
		return math.Inf(1)
	}
	y := 0.0
	for end := sky[k].x + w; k < len(sky) && sky[k].x < end-0.5; k++ {
		y = max(y, sky[k].y)
	}
	return y
}

// raise puts a new ledge over the skyline.
func raise(sky []ledge, at int, top ledge) []ledge {
	end := top.x + top.w
	k := at
	for k < len(sky) && sky[k].x+sky[k].w <= end+0.5 {
		k++
	}
	if k < len(sky) && sky[k].x < end {
		sky[k].w -= end - sky[k].x
		sky[k].x = end
	}
	sky = slices.Replace(sky, at, k, top)
	return mergeLevel(sky)
}

func mergeLevel(sky []ledge) []ledge {
	kept := sky[:0]
	for _, l := range sky {
		if n := len(kept); n > 0 && kept[n-1].y == l.y {
			kept[n-1].w += l.w
			continue
		}
		kept = append(kept, l)
	}
	return kept
}
