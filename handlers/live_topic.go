package handlers

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// topicKind is what a part of a page shows.
type topicKind string

const (
	topicPlans    topicKind = "plans"    // the sidebar
	topicAllPlans topicKind = "allplans" // the page of plans
	topicAgents   topicKind = "agents"
	topicInbox    topicKind = "inbox" // the page of what waits for people
	topicYou      topicKind = "you"   // how much does: every page shows it
	topicPlan     topicKind = "plan"  // plan:3, as a graph
	topicList     topicKind = "list"  // list:3, the same as a table
	topicTimeline topicKind = "timeline"
	topicNode     topicKind = "node" // node:3.2, or node:3.2/list beside a table
)

// topic is something that pages follow.
type topic struct {
	kind topicKind
	plan plan.PlanID // of those that are about one
	node plan.Ref    // of node
	view string      // of node: the view that its links lead to; "": whatever is usual
}

func (t topic) String() string {
	switch t.kind {
	case topicPlan, topicList, topicTimeline:
		return string(t.kind) + ":" + strconv.FormatInt(int64(t.plan), 10)
	case topicNode:
		name := string(t.kind) + ":" + t.node.String()
		if t.view != "" {
			name += "/" + t.view
		}
		return name
	}
	return string(t.kind)
}

// wish is a topic with the number up to which its changes have been seen.
type wish struct {
	topic topic
	after int64
}

// maxWishes bounds what one connection may follow.
const maxWishes = 100

// parseWishes reads a list such as "plans@120,node:3.2@118".
func parseWishes(text string) ([]wish, error) {
	words := strings.Split(text, ",")
	if len(words) > maxWishes {
		return nil, plan.Errorf(plan.Invalid, "topics: %d are too many; the limit is %d", len(words), maxWishes)
	}
	list := make([]wish, 0, len(words))
	for _, word := range words {
		name, seq, _ := strings.Cut(word, "@")
		after, err := strconv.ParseInt(seq, 10, 64)
		t, ok := parseTopic(name)
		if !ok || err != nil || after < 0 {
			return nil, plan.Errorf(plan.Invalid, "topics: %s is no topic with a number; an example is plan:3@120", clip(strconv.Quote(word)))
		}
		list = append(list, wish{t, after})
	}
	return list, nil
}

func parseTopic(name string) (topic, bool) {
	kind, id, _ := strings.Cut(name, ":")
	t := topic{kind: topicKind(kind)}
	switch t.kind {
	case topicPlans, topicAllPlans, topicAgents, topicInbox, topicYou:
		return t, id == ""
	case topicPlan, topicList, topicTimeline:
		n, err := strconv.ParseInt(id, 10, 64)
		t.plan = plan.PlanID(n)
		return t, err == nil && n > 0
	case topicNode:
		id, view, beside := strings.Cut(id, "/")
		r, err := plan.ParseRef(id)
		t.plan, t.node, t.view = r.Plan, r, view
		return t, err == nil && r.Plan > 0 && r.Node >= 0 && beside == slices.Contains(views.Views(), view)
	}
	return t, false
}
