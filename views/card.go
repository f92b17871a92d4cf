package views

import (
	"context"
	"io"
	"strconv"

	"github.com/a-h/templ"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views/graph"
)

// card is a step in the graph. It is written by hand, since a graph has
// thousands and a busy plan redraws many a second: a drawn frame, and text that
// the browser sets, breaks and cuts as it does all text.
type card struct {
	id         string
	ref        plan.Ref
	url        string
	x, y, w, h float64
	look       Look
	user       bool
	title      string
	small      bool
	line       Line
	tokens     string
	chip       string // the agent, where it is not the usual one
	own        bool   // the step names it itself
	sub        plan.PlanID
	bar        Bar
	review     *Look // the verdict on it; nil: there is none
}

func (s *scene) card(n *plan.Node, b graph.Box, at Place, usual plan.ProfileID) *card {
	c := &card{id: dom("c", n.Ref()), ref: n.Ref(), url: at.Node(n.Ref()), x: b.X, y: b.Y, w: b.W, h: b.H,
		look: s.look(n), user: n.Kind == plan.KindUser, title: n.Title, line: s.line(n), tokens: tokens(n.TokensIn, n.TokensOut)}
	_, c.small = fit(n.Title)
	c.review = s.reviewMark(n.Ref())
	if n.Subplan != 0 {
		c.sub, c.bar = n.Subplan, barOf(s.Tally(n.Subplan))
	}
	if a := s.Agent(n); n.Kind != plan.KindUser && a.Profile != nil && a.Profile.ID != usual {
		c.chip, c.own = a.Profile.Name, a.Source == plan.FromNode
	}
	return c
}

// Render draws the card.
func (c *card) Render(_ context.Context, w io.Writer) error {
	_, err := w.Write(c.append(make([]byte, 0, 1024)))
	return err
}

func (c *card) append(b []byte) []byte {
	b = append(append(b, `<a id="`...), c.id...)
	b = append(append(b, `" class="card `...), c.look.Class()...)
	if c.user {
		b = append(b, ` user`...)
	}
	b = append(append(b, `" href="`...), c.url...)
	b = append(append(b, `" tabindex="-1" data-n="`...), strconv.FormatInt(int64(c.ref.Node), 10)...)
	if c.sub != 0 {
		b = append(append(b, `" data-sub="`...), PlanURL(c.sub)...)
	}
	b = appendPixels(append(b, `" transform="translate(`...), c.x)
	b = appendPixels(append(b, ' '), c.y)
	b = append(b, `)">`...)
	if c.sub != 0 {
		b = appendRect(b, "stack", box{8, 8, c.w - 8, c.h}, 8)
		b = appendRect(b, "stack", box{4, 4, c.w - 4, c.h}, 8)
	}
	b = c.appendText(b)
	b = c.appendGlyph(b)
	b = c.appendBar(b)
	return append(b, `</a>`...)
}

// inset is where the text begins.
func (c *card) inset() float64 {
	if c.user {
		return 26
	}
	return 16
}

func (c *card) appendGlyph(b []byte) []byte {
	glyph := c.look.Name
	if c.user && glyph != "done" && glyph != "failed" && glyph != "skipped" {
		glyph = "you"
	}
	b = appendPixels(append(b, `<g class="glyph" transform="translate(`...), c.inset()+7)
	b = append(append(b, ` 19)" role="img" aria-label="`...), c.look.Word...)
	b = append(b, `">`...)
	return append(append(b, glyphs[glyph]...), `</g>`...)
}

func (c *card) appendBar(b []byte) []byte {
	if c.sub == 0 {
		return b
	}
	left, width := c.inset(), c.w-c.inset()-12
	b = appendRect(b, "track", box{left, c.h - 9, width, 3}, 1.5)
	for _, s := range c.bar.segments() {
		b = appendRect(b, "part-"+s.class, box{left + s.x*width/100, c.h - 9, s.w * width / 100, 3}, 1.5)
	}
	return b
}

type box struct{ x, y, w, h float64 }

func appendRect(b []byte, class string, r box, rx float64) []byte {
	b = append(append(b, `<rect class="`...), class...)
	b = appendPixels(append(b, `" x="`...), r.x)
	b = appendPixels(append(b, `" y="`...), r.y)
	b = appendPixels(append(b, `" width="`...), r.w)
	b = appendPixels(append(b, `" height="`...), r.h)
	b = appendPixels(append(b, `" rx="`...), rx)
	return append(b, `"/>`...)
}

// appendText writes the frame and what stands in it.
func (c *card) appendText(b []byte) []byte {
	b = appendPixels(append(b, `<foreignObject width="`...), c.w)
	b = appendPixels(append(b, `" height="`...), c.h)
	b = append(b, `"><div class="box`...)
	if c.small {
		b = append(b, ` small-title`...)
	}
	b = append(append(b, `"><span class="ref">`...), c.ref.String()...)
	b = c.appendReview(b)
	b = append(b, `</span>`...)
	b = c.appendChip(b)
	b = append(append(b, `<div class="card-title" dir="auto">`...), templ.EscapeString(c.title)...)
	b = append(b, `</div><div class="card-line">`...)
	b = c.line.append(b)
	if c.tokens != "" || c.look == lookRunning || c.look == lookStalled {
		b = append(append(b, `<span class="tokens num" id="tok-`...), c.id[2:]...)
		b = append(append(b, `">`...), c.tokens...)
		b = append(b, `</span>`...)
	}
	return append(b, `</div></div></foreignObject>`...)
}

func (c *card) appendReview(b []byte) []byte {
	if c.review == nil {
		return b
	}
	b = append(append(b, ` <svg class="glyph review-mark `...), c.review.Class()...)
	b = append(append(b, `" viewBox="-8 -8 16 16" role="img" aria-label="`...), c.review.Word...)
	b = append(append(b, `">`...), glyphs[c.review.Name]...)
	return append(b, `</svg>`...)
}

func (c *card) appendChip(b []byte) []byte {
	text, class := c.chip, "agent-chip"
	switch {
	case c.user:
		text, class = "your step", "agent-chip yours"
	case c.own:
		class = "agent-chip own"
	}
	if text == "" {
		return b
	}
	b = append(append(b, `<span class="`...), class...)
	b = append(append(b, `">`...), templ.EscapeString(text)...)
	return append(b, `</span>`...)
}

// append writes what [Doing] shows, for a card.
func (l Line) append(b []byte) []byte {
	if l.Text != "" {
		b = append(append(b, `<span class="doing-text">`...), templ.EscapeString(l.Text)...)
		b = append(b, `</span>`...)
	}
	switch {
	case l.Since != 0:
		b = append(append(b, `<span class="num tick" data-since="`...), unix(l.Since)...)
		b = append(b, `"></span>`...)
	case l.At != 0:
		b = append(append(b, `<time class="num" data-at="`...), unix(l.At)...)
		b = append(append(b, `">`...), clock(l.At)...)
		b = append(b, `</time>`...)
	case l.Took != "":
		b = append(append(b, `<span class="num">`...), l.Took...)
		b = append(b, `</span>`...)
	}
	if l.Then != "" {
		b = append(append(b, `<span class="doing-text">`...), l.Then...)
		b = append(b, `</span>`...)
	}
	return b
}

// TokensPiece is the token count of a step: it changes too often for the whole
// card to be drawn each time.
func TokensPiece(r plan.Ref, in, out *int64) Piece {
	id := dom("tok", r)
	return Piece{ID: id, Body: templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, `<span class="tokens num" id="`+id+`">`+tokens(in, out)+`</span>`)
		return err
	})}
}
