package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// screen draws a plan on a terminal, over the picture before.
type screen struct {
	out   io.Writer
	paint paint
	doing map[stepKey]string // the last thing that an agent did
	last  []string           // what is drawn
	tree  *tree
	away  bool
}

func newScreen(out io.Writer, p paint) *screen {
	return &screen{out: out, paint: p, doing: map[stepKey]string{}}
}

func (sc *screen) begin(*tree)                  {}
func (sc *screen) step(change)                  {}
func (sc *screen) said(at stepKey, text string) { sc.doing[at] = text }

func (sc *screen) lost() {
	sc.away = true
	if sc.tree != nil {
		sc.draw(time.Now())
	}
}

func (sc *screen) picture(t *tree, now time.Time) {
	sc.tree, sc.away = t, false
	sc.draw(now)
}

func (sc *screen) end(t *tree, v verdict) {
	fmt.Fprintln(sc.out, "\n"+sc.paint.in(bold, lastWords(t, v)))
}

// draw writes the picture in one go, so that nobody sees half of it.
func (sc *screen) draw(now time.Time) {
	width, height, _ := terminalSize(sc.out)
	lines := sc.frame(frameSize{max(width, 20) - 1, max(height, 8) - 2}, now)
	if slices.Equal(lines, sc.last) {
		return
	}
	var b strings.Builder
	if len(sc.last) > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", len(sc.last))
	}
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	sc.last = lines
	_, _ = io.WriteString(sc.out, b.String()) // a terminal that is gone ends the program
}

// frameSize is the room for a picture.
type frameSize struct{ width, height int }

// frame is the picture as lines.
func (sc *screen) frame(size frameSize, now time.Time) []string {
	t := sc.tree
	lines := []string{
		sc.paint.in(bold, cut(fmt.Sprintf("Plan %d  %s", t.top.Plan.ID, plain(t.top.Plan.Title)), size.width)),
		sc.progress(size.width, now),
		"",
	}
	var foot []string
	for i := range t.asked {
		q := &t.asked[i]
		foot = append(foot, sc.paint.in(yellow, cut(fmt.Sprintf("? %s asks: %s (clearbox answer %s allow|deny)", q.address(), q.says(), q.address()), size.width)))
	}
	if sc.away {
		foot = append(foot, sc.paint.in(yellow, cut("the server is gone; waiting for it to come back", size.width)))
	} else if !t.top.Root.Started {
		foot = append(foot, cut(fmt.Sprintf("not started: clearbox plan start %d", t.top.Root.ID), size.width))
	}
	shown, rest := t.pick(max(1, size.height-len(lines)-len(foot)))
	cols := sc.columnsFor(shown, size.width)
	for _, at := range shown {
		lines = append(lines, sc.row(at, cols, now))
	}
	if rest != "" {
		lines = append(lines, sc.paint.in(dim, cut(rest, size.width)))
	}
	return append(lines, foot...)
}

// progress is the line with the bar.
func (sc *screen) progress(width int, now time.Time) string {
	p := &sc.tree.top.Progress
	const bar = 20
	full := 0
	if p.Total > 0 {
		full = bar * (p.Done + p.Skipped) / p.Total
	}
	words := p.doneOf() + "  " + p.words()
	if began := sc.tree.top.Plan.StartedAt; began > 0 {
		until := now
		if end := sc.tree.top.Plan.FinishedAt; end > 0 {
			until = moment(end)
		}
		words += "  " + spanText(max(0, until.Sub(moment(began))))
	}
	if width < bar+len(words)+2 {
		return cut(words, width)
	}
	return sc.paint.in(green, strings.Repeat("█", full)) + sc.paint.in(dim, strings.Repeat("░", bar-full)) + "  " + words
}

// rowColumns are the widths of the columns of steps.
type rowColumns struct{ address, title, agent, doing int }

func (sc *screen) columnsFor(shown []stepKey, width int) rowColumns {
	var c rowColumns
	for _, at := range shown {
		n := sc.tree.steps[at]
		c.address = max(c.address, len(n.address())+2*sc.tree.depth[at])
		c.title = max(c.title, widthOf(plain(n.Title)))
		c.agent = min(16, max(c.agent, widthOf(plain(n.agent()))))
	}
	c.title = min(c.title, 40, max(10, width-c.address-c.agent-14))
	c.doing = width - c.address - c.title - c.agent - 14 // between them, the sign and the time
	return c
}

// row is the line of one step.
func (sc *screen) row(at stepKey, c rowColumns, now time.Time) string {
	n := sc.tree.steps[at]
	sign, colour := glyphOf(n), colours[n.Status]
	if n.WaitingForUser {
		colour = yellow
	}
	took := ""
	if d := n.took(now); d > 0 {
		took = spanText(d)
	}
	title := pad(strings.Repeat("  ", sc.tree.depth[at])+n.address(), c.address) + " " + pad(plain(n.Title), c.title)
	line := sc.paint.in(colour, sign) + " "
	if n.Status == "pending" || n.Status == "skipped" {
		return line + sc.paint.in(dim, strings.TrimRight(title, " "))
	}
	line += title + " " + sc.paint.in(dim, pad(plain(n.agent()), c.agent)+" "+fmt.Sprintf("%7s", took))
	if c.doing > 4 {
		line += "  " + sc.paint.in(dim, cut(sc.note(n), c.doing-2))
	}
	return strings.TrimRight(line, " ")
}

var colours = map[string]string{"running": blue, "done": green, "failed": red, "pending": dim, "skipped": dim}

// note is what there is to say about a step besides its state.
func (sc *screen) note(n *stepView) string {
	switch {
	case n.Status == "failed":
		return plain(firstLine(n.Error))
	case n.Progress != nil && n.Status == "running":
		return n.Progress.doneOf() + " steps of its own"
	case n.Status == "running":
		return sc.doing[stepKey{n.PlanID, n.NodeID}]
	}
	return n.waits()
}

// pick chooses the steps for so many lines: what happens now before what is to
// come and what is over. rest says what is left out.
func (t *tree) pick(lines int) (shown []stepKey, rest string) {
	if len(t.order) <= lines {
		return t.order, ""
	}
	rank := map[string]int{"running": 0, "failed": 1, "ready": 2, "done": 4, "pending": 3, "skipped": 5}
	byRank := slices.Clone(t.order)
	slices.SortStableFunc(byRank, func(a, b stepKey) int {
		x, y := t.steps[a], t.steps[b]
		if rank[x.Status] == rank[y.Status] && x.Status == "done" {
			return int(y.FinishedAt - x.FinishedAt)
		}
		return rank[x.Status] - rank[y.Status]
	})
	chosen := map[stepKey]bool{}
	for _, at := range byRank[:max(0, lines-1)] {
		chosen[at] = true
	}
	var left tally
	for _, at := range t.order {
		if chosen[at] {
			shown = append(shown, at)
		} else {
			left.count(t.steps[at].Status)
		}
	}
	return shown, "  … and " + left.words()
}

func (t *tally) count(status string) {
	switch status {
	case "running":
		t.Running++
	case "failed":
		t.Failed++
	case "ready":
		t.Ready++
	case "done":
		t.Done++
	case "pending":
		t.Pending++
	case "skipped":
		t.Skipped++
	}
}
