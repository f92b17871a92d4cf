package handlers

import (
	"context"
	"hash/maphash"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// canvas knows what the pieces of one topic look like on the pages that follow
// it, and so what a change has changed. It is for one goroutine.
type canvas struct {
	site  *site
	topic topic
	seed  maphash.Seed

	known  map[string]uint64 // by id, a hash of its HTML; nil: not known
	state  int64             // the number that known includes
	base   int64             // the number at which known began: what went before that is not known
	unsent bool              // no page was sent what known says: it comes from a look
	seen   int64             // the last number that a look may have seen something of

	scribe   *views.Scribe // of a step's transcript
	firstRun plan.RunID
}

func newCanvas(p *site, t topic) *canvas {
	return &canvas{site: p, topic: t, seed: maphash.MakeSeed()}
}

// look notes what everything looks like now, so that the first change costs no
// more than it has changed.
func (v *canvas) look(ctx context.Context) {
	v.forget()
	pieces, seq, err := v.pieces(ctx)
	if err != nil {
		return
	}
	if _, err = v.diff(ctx, pieces, seq); err != nil {
		v.known = nil
	}
	// What is drawn may be newer than its number, which is taken before.
	v.unsent, v.seen = true, v.site.engine.Subscribe(0, -1).Cursor()
	if v.topic.kind == topicNode {
		_, _ = v.lostTranscript(ctx) // notes the first run
	}
}

// forget makes the next change send everything.
func (v *canvas) forget() { v.known, v.unsent = nil, false }

// news is what some changes are about, for one topic.
type news struct {
	all    bool  // pieces have to be compared
	first  int64 // the first number for which
	shape  int64 // the first number at which the picture changed
	gone   bool  // the topic's plan or step was deleted
	tokens map[plan.Ref]*plan.Change
	events []plan.Event
}

// sort says what changes mean for the topic.
func (v *canvas) sort(changes []plan.Change) news {
	n := news{tokens: map[plan.Ref]*plan.Change{}}
	for i := range changes {
		c := &changes[i]
		if c.Shape && n.shape == 0 {
			n.shape = c.Seq
		}
		n.gone = n.gone || c.Deleted && v.topic.plan != 0 && (c.Ref() == plan.Ref{Plan: v.topic.plan} || c.Ref() == v.topic.node)
		if v.concerns(c) && !n.all {
			n.all, n.first = true, c.Seq
		}
		switch {
		case c.Kind == plan.ChangeTokens && c.Plan == v.topic.plan:
			n.tokens[c.Ref()] = c
		case c.Kind == plan.ChangeEvent && v.topic.kind == topicNode && c.Ref() == v.topic.node && c.Event != nil:
			n.events = append(n.events, *c.Event)
		}
	}
	return n
}

// concerns reports whether a change may make pieces look different.
func (v *canvas) concerns(c *plan.Change) bool {
	lists := v.topic.kind == topicPlans || v.topic.kind == topicAllPlans || v.topic.kind == topicYou
	switch c.Kind {
	case plan.ChangeNode, plan.ChangePlan, plan.ChangeQuestion:
		return v.topic.kind != topicAgents
	case plan.ChangeAgents:
		return !lists
	case plan.ChangeSettings:
		return v.topic.kind == topicYou
	case plan.ChangeHarness:
		return v.topic.kind == topicAgents
	case plan.ChangeTokens:
		return v.topic.kind == topicNode && c.Ref() == v.topic.node
	}
	return false
}

// maxReplayed is how many transcript entries a page gets one by one. Beyond that
// it is cheaper to read the newest anew.
const maxReplayed = 300

// message returns what pages are sent about some changes, nil when they show
// nothing of them, and the number that it includes: reading the state may have
// seen changes beyond those at hand.
func (v *canvas) message(ctx context.Context, changes []plan.Change, seq int64) (message []byte, state int64, err error) {
	n := v.sort(changes)
	if v.unsent && n.all && n.first <= v.seen {
		v.forget() // pages may not have what came before I looked
	}
	v.unsent = v.unsent && seq < v.seen
	if n.gone {
		message, err = v.goneMessage(ctx, seq, seq)
		return message, seq, err
	}
	// What has left a picture can only be told from one that was known.
	lost := n.shape != 0 && v.topic.plan != 0 && (v.known == nil || n.shape <= v.base)
	// Where a new step goes in the order of a timeline only its page can tell.
	anew := lost || n.shape != 0 && v.topic.kind == topicTimeline || len(n.events) > maxReplayed
	if !anew && n.shape != 0 && v.topic.kind == topicNode {
		if anew, err = v.lostTranscript(ctx); err != nil {
			return nil, 0, err
		}
	}
	if anew {
		message, err = v.anewMessage(ctx, seq)
		return message, seq, err
	}
	frames, err := v.frames(ctx, n)
	if err != nil || len(frames) == 0 {
		return nil, 0, err
	}
	state = seq
	if n.all {
		state = max(seq, v.state)
	}
	message, err = encodeMessage(liveMessage{Topic: v.topic.String(), Seq: seq, State: state, Frames: frames})
	return message, state, err
}

// anewMessage tells pages to read their part anew, if it is still there.
func (v *canvas) anewMessage(ctx context.Context, seq int64) ([]byte, error) {
	v.look(ctx)
	v.unsent = false // what pages read is no older
	if v.topic.plan != 0 {
		if _, err := v.site.engine.RootOf(ctx, v.topic.plan); err != nil {
			return nil, err
		}
	}
	return resyncMessage(v.topic, seq), nil
}

// goneMessage tells pages that what they show is no more: those that are older
// than a state.
func (v *canvas) goneMessage(ctx context.Context, seq, state int64) ([]byte, error) {
	v.forget()
	_, err := v.site.engine.RootOf(ctx, v.topic.plan)
	if err != nil && plan.KindOf(err) != plan.NotFound {
		return nil, err
	}
	var frames []frame
	for _, p := range views.GonePieces(err != nil) {
		f, err := drawn(ctx, p)
		if err != nil {
			return nil, err
		}
		frames = append(frames, f)
	}
	return encodeMessage(liveMessage{Topic: v.topic.String(), Seq: seq, State: state, Frames: frames})
}

// frames draws the news: first what happened, which may bring places for what is
// shown of it.
func (v *canvas) frames(ctx context.Context, n news) ([]frame, error) {
	frames, err := v.entries(ctx, n.events)
	if err != nil {
		return nil, err
	}
	if n.all {
		pieces, seq, err := v.pieces(ctx)
		if err != nil {
			return nil, err
		}
		changed, err := v.diff(ctx, pieces, seq)
		return append(frames, changed...), err
	}
	if v.topic.kind == topicPlan || v.topic.kind == topicList {
		for r, c := range n.tokens {
			f, err := drawn(ctx, views.TokensPiece(r, c.TokensIn, c.TokensOut))
			if err != nil {
				return nil, err
			}
			f.Parent = ""
			frames = append(frames, f)
		}
	}
	return frames, nil
}

// pieces reads the present state and the number that it includes.
func (v *canvas) pieces(ctx context.Context) ([]views.Piece, int64, error) {
	switch v.topic.kind {
	case topicPlans:
		side, err := v.site.sidebar(ctx)
		if err != nil {
			return nil, 0, err
		}
		return side.Pieces(), side.Seq, nil
	case topicAllPlans:
		seq := v.site.engine.Subscribe(0, -1).Cursor()
		list, err := v.site.summaries(ctx)
		return views.RowPieces(list), seq, err
	case topicInbox, topicYou:
		b, err := v.site.inbox(ctx)
		if err != nil {
			return nil, 0, err
		}
		if v.topic.kind == topicYou {
			return b.YouPieces(), b.Seq, nil
		}
		return b.Pieces(), b.Seq, nil
	case topicAgents:
		page, err := v.site.agentsNow(ctx)
		if err != nil {
			return nil, 0, err
		}
		return page.Pieces(), page.Seq, nil
	case topicNode:
		return v.nodePieces(ctx)
	}
	at := views.Place{Plan: v.topic.plan}
	switch v.topic.kind {
	case topicList:
		at.View = views.ViewList
	case topicTimeline:
		at.View = views.ViewTimeline
	}
	page, err := v.site.planNow(ctx, at)
	if err != nil {
		return nil, 0, err
	}
	return page.Pieces(), page.Seq, nil
}

func (v *canvas) nodePieces(ctx context.Context) ([]views.Piece, int64, error) {
	s, err := v.site.engine.Snapshot(ctx, v.topic.plan)
	if err != nil {
		return nil, 0, err
	}
	d, err := v.site.drawer(ctx, s, v.topic.node, views.Place{Plan: v.topic.plan, View: v.topic.view}, inAllTabs)
	if err != nil {
		return nil, 0, err
	}
	return d.Pieces(), s.Seq, nil
}

// diff draws pieces, as they are at a number, and returns those that look
// different from before.
func (v *canvas) diff(ctx context.Context, pieces []views.Piece, seq int64) ([]frame, error) {
	fresh := make(map[string]uint64, len(pieces))
	var frames []frame
	for _, p := range pieces {
		f, err := drawn(ctx, p)
		if err != nil {
			return nil, err
		}
		h := maphash.String(v.seed, f.HTML)
		fresh[p.ID] = h
		if was, ok := v.known[p.ID]; !ok || was != h {
			frames = append(frames, f)
		}
	}
	for id := range v.known {
		if _, ok := fresh[id]; !ok {
			frames = append(frames, frame{ID: id})
		}
	}
	if v.known == nil {
		v.base = seq
	}
	v.known, v.state = fresh, seq
	return frames, nil
}

// entries draws transcript entries.
func (v *canvas) entries(ctx context.Context, events []plan.Event) ([]frame, error) {
	if len(events) == 0 {
		return nil, nil
	}
	if err := v.learn(ctx, events); err != nil {
		return nil, err
	}
	var frames []frame
	placed := map[string]bool{} // what each message needs once: viewers may have missed others
	for i := range events {
		e := v.scribe.Entry(&events[i])
		for _, p := range e.Pieces() {
			if p.Once && placed[p.ID] {
				continue
			}
			placed[p.ID] = true
			f, err := drawn(ctx, p)
			if err != nil {
				return nil, err
			}
			frames = append(frames, f)
		}
	}
	return frames, nil
}

// learn makes sure that the runs of some events are known.
func (v *canvas) learn(ctx context.Context, events []plan.Event) error {
	known := v.scribe != nil
	for i := range events {
		known = known && v.scribe.Knows(&events[i])
	}
	if known {
		return nil
	}
	runs, err := v.site.engine.Runs(ctx, v.topic.node)
	if err != nil {
		return err
	}
	if v.scribe == nil {
		v.scribe = views.NewScribe(v.topic.node, nil)
	}
	v.scribe.Learn(runs)
	if len(runs) > 0 {
		v.firstRun = runs[0].ID
	}
	return nil
}

// lostTranscript reports whether runs that pages may show are no more, as after
// a reset.
func (v *canvas) lostTranscript(ctx context.Context) (bool, error) {
	runs, err := v.site.engine.Runs(ctx, v.topic.node)
	if err != nil {
		return false, err
	}
	first := plan.RunID("")
	if len(runs) > 0 {
		first = runs[0].ID
	}
	lost := v.firstRun != "" && first != v.firstRun
	v.firstRun = first
	if lost {
		v.scribe = nil
	}
	return lost, nil
}
