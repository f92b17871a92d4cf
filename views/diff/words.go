package diff

import (
	"unicode"
	"unicode/utf8"
)

// How far words of two lines are compared. Beyond that all between the common
// beginning and the common end counts as changed.
const (
	mostCells = 4096 // words of one line times words of the other
	mostWork  = 4 << 20
)

// Mark marks what was changed within lines that others have replaced. Lines that
// have little in common are left without marks: they are new as a whole.
func Mark(lines []Line) {
	m := &marker{work: mostWork}
	for _, b := range Blocks(lines) {
		left, right := b.Removed, b.Added
		for left < b.Added && right < b.End {
			switch {
			case lines[left].Class == Remark:
				left++
			case lines[right].Class == Remark:
				right++
			default:
				m.pair(&lines[left], &lines[right])
				left++
				right++
			}
		}
	}
}

// marker is what marking many lines needs, kept from one to the next.
type marker struct {
	work int // cells that may still be filled
	a, b []word
	best []uint16
}

func (m *marker) pair(old, new *Line) {
	m.a, m.b = words(m.a[:0], old.Text), words(m.b[:0], new.Text)
	a, b := m.a, m.b
	begin := 0
	for begin < len(a) && begin < len(b) && a[begin].text == b[begin].text {
		begin++
	}
	end := 0
	for end < len(a)-begin && end < len(b)-begin && a[len(a)-1-end].text == b[len(b)-1-end].text {
		end++
	}
	midA, midB := a[begin:len(a)-end], b[begin:len(b)-end]
	goneA, goneB := allOf(midA), allOf(midB)
	if cells := len(midA) * len(midB); cells > 0 && cells <= mostCells && cells <= m.work {
		m.work -= cells
		goneA, goneB = m.unlike(midA, midB)
	}
	if !alike(old.Text, goneA, midA) || !alike(new.Text, goneB, midB) {
		return
	}
	old.Marks, new.Marks = spans(midA, goneA), spans(midB, goneB)
}

// word is a part of a line that changes as a whole.
type word struct {
	text  string
	start int
}

// words splits a line and adds its parts to a list: letters and digits stay together, and so do blanks.
func words(list []word, s string) []word {
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		kind, end := kindOf(r), at+size
		for kind != other && end < len(s) {
			r, size = utf8.DecodeRuneInString(s[end:])
			if kindOf(r) != kind {
				break
			}
			end += size
		}
		list = append(list, word{s[at:end], at})
		at = end
	}
	return list
}

const (
	other = iota
	letter
	blank
)

func kindOf(r rune) int {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
		return letter
	case unicode.IsSpace(r):
		return blank
	}
	return other
}

// unlike finds which words of two lists are not part of the longest list that both
// have in common.
func (m *marker) unlike(a, b []word) (goneA, goneB []bool) {
	width := len(b) + 1
	if size := (len(a) + 1) * width; cap(m.best) < size {
		m.best = make([]uint16, size)
	}
	best := m.best[:(len(a)+1)*width] // of the tails from i and j on
	clear(best)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].text == b[j].text {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	goneA, goneB = allOf(a), allOf(b)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].text == b[j].text:
			goneA[i], goneB[j] = false, false
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	// A blank alone between changed words belongs to the change.
	bridge(a, goneA)
	bridge(b, goneB)
	return goneA, goneB
}

func bridge(list []word, gone []bool) {
	for i := 1; i+1 < len(list); i++ {
		r, _ := utf8.DecodeRuneInString(list[i].text)
		if !gone[i] && kindOf(r) == blank && gone[i-1] && gone[i+1] {
			gone[i] = true
		}
	}
}

func allOf(list []word) []bool {
	gone := make([]bool, len(list))
	for i := range gone {
		gone[i] = true
	}
	return gone
}

// alike reports whether enough of a line is unchanged for the rest to be worth a
// mark: a third of what is no blank.
func alike(line string, gone []bool, mid []word) bool {
	all, changed := weight(line), 0
	for i, w := range mid {
		if gone[i] {
			changed += weight(w.text)
		}
	}
	return changed*3 <= all*2
}

func weight(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// spans joins neighbouring words.
func spans(mid []word, gone []bool) []Span {
	var list []Span
	for i, w := range mid {
		if !gone[i] {
			continue
		}
		end := w.start + len(w.text)
		if n := len(list); n > 0 && list[n-1].End == w.start {
			list[n-1].End = end
			continue
		}
		list = append(list, Span{w.start, end})
	}
	return list
}
