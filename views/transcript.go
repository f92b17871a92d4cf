package views

import "github.com/clearbox-go/clearbox/engine/plan"

func newSession(s *scene, n *plan.Node, in DrawerInput) *Session {
	scribe := NewScribe(in.Node, in.Runs)
	ses := &Session{Node: in.Node, Runs: runHeads(in.Runs), Segments: segments(scribe.Entries(in.Events)), Live: n.Working(), Waits: s.line(n)}
	if in.Older && len(in.Events) > 0 {
		ses.Older = in.Events[0].ID
	}
	return ses
}

// OlderSession is the part of a transcript before an entry.
func OlderSession(node plan.Ref, runs []plan.Run, events []plan.Event, more bool) *Session {
	ses := &Session{Node: node, Segments: segments(NewScribe(node, runs).Entries(events))}
	if more && len(events) > 0 {
		ses.Older = events[0].ID
	}
	return ses
}
