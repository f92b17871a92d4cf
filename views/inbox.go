package views

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// InboxURL is the page of everything that waits for a person.
const InboxURL = "/inbox"

// WaitKind is what about something a person is needed for.
type WaitKind int

// The kinds, the most urgent first.
const (
	WaitsAnswer WaitKind = iota // an agent asks
	WaitsVerdict
	WaitsApproval
	WaitsStep
	WaitsBudget
	WaitsStalled
	WaitsFailed
	waitKinds
)

// InboxItem is one thing that waits for a person.
type InboxItem struct {
	Kind      WaitKind
	Node      plan.Ref // Node 0: it is about a whole plan
	Title     string   // of the step, or of the plan
	PlanTitle string   // of the tree; "" where Title is that
	Text      string   // more about it
	Since     plan.Stamp
	Ask       *AskItem // of a question
}

// NewQuestion makes an item of a question of an agent.
func NewQuestion(q plan.Question, title, planTitle string) InboxItem {
	n := &plan.Node{PlanID: q.PlanID, ID: q.NodeID, Title: title}
	ask := askItem(Place{Plan: q.PlanID}, n, q)
	return InboxItem{Kind: WaitsAnswer, Node: n.Ref(), Title: title, PlanTitle: planTitle, Since: q.AskedAt, Ask: &ask}
}

// LimitItem is a provider that takes no work for now. It waits for nobody: it is
// told of because steps wait for it.
type LimitItem struct {
	Agent string
	Until plan.Stamp
	Text  string
}

// Inbox is what waits for a person in all plans.
type Inbox struct {
	Items  []InboxItem
	Limits []LimitItem
	Over   []PlanNews // plans that have ended, the newest first
	Tell   []string   // events that browsers tell of
	Seq    int64
}

// PlanNews is a plan that is done or has failed.
type PlanNews struct {
	ID    plan.PlanID
	Title string
	Done  bool
}

// headline is one line that a browser may tell: what happened, to what.
type headline struct{ key, url, what, text string }

// NewInbox puts things in order: the most urgent kinds first, in each the longest
// waiting first.
func NewInbox(items []InboxItem, limits []LimitItem, seq int64) *Inbox {
	slices.SortStableFunc(items, func(a, b InboxItem) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Since, b.Since), a.Node.Compare(b.Node))
	})
	return &Inbox{Items: items, Limits: limits, Seq: seq}
}

// Waiting counts what does not go on without a person: not failures.
func (b *Inbox) Waiting() int {
	n := 0
	for i := range b.Items {
		if b.Items[i].Kind != WaitsFailed {
			n++
		}
	}
	return n
}

// Failed counts failed steps.
func (b *Inbox) Failed() int { return len(b.Items) - b.Waiting() }

// group is the items of one kind.
type group struct {
	kind  WaitKind
	items []InboxItem
}

func (b *Inbox) groups() []group {
	all := make([]group, waitKinds)
	for k := range all {
		all[k].kind = WaitKind(k)
	}
	for _, it := range b.Items {
		all[it.Kind].items = append(all[it.Kind].items, it)
	}
	return all
}

func (g *group) dom() string { return "inbox-" + strconv.Itoa(int(g.kind)) }

func (k WaitKind) words() string {
	switch k {
	case WaitsAnswer:
		return "Agents ask"
	case WaitsVerdict:
		return "Checks that failed: you decide"
	case WaitsApproval:
		return "Plans to approve"
	case WaitsStep:
		return "Steps for you"
	case WaitsBudget:
		return "Budgets used up"
	case WaitsStalled:
		return "No sign of life"
	}
	return "Failed"
}

func (k WaitKind) look() Look {
	switch k {
	case WaitsStalled:
		return lookStalled
	case WaitsFailed, WaitsBudget:
		return lookFailed
	}
	return lookYou
}

// news is the line of a notification.
func (k WaitKind) news() string {
	switch k {
	case WaitsAnswer:
		return "An agent asks"
	case WaitsVerdict:
		return "A step needs your decision"
	case WaitsApproval:
		return "A plan waits for your approval"
	case WaitsStep:
		return "It is your turn"
	case WaitsBudget:
		return "A budget is used up"
	case WaitsStalled:
		return "No sign of life"
	}
	return "A step failed"
}

// URL leads to the thing.
func (it *InboxItem) URL() string {
	switch {
	case it.Node.Node == 0:
		return PlanURL(it.Node.Plan)
	case it.Kind == WaitsVerdict:
		return Place{Plan: it.Node.Plan, Tab: TabReview}.Node(it.Node)
	case it.Kind == WaitsStalled:
		return Place{Plan: it.Node.Plan, Tab: TabSession}.Node(it.Node)
	}
	return NodeURL(it.Node)
}

// Ref is the number of the thing.
func (it *InboxItem) Ref() string {
	if it.Node.Node == 0 {
		return strconv.FormatInt(int64(it.Node.Plan), 10)
	}
	return it.Node.String()
}

// Key names the thing, the same as long as it waits.
func (it *InboxItem) Key() string {
	key := fmt.Sprintf("%d-%d-%d", it.Kind, it.Node.Plan, it.Node.Node)
	if it.Ask != nil {
		key += "-" + token(it.Ask.ID)
	}
	return key
}

// headlines are what a browser may tell of now.
func (b *Inbox) headlines() []headline {
	const most = 40
	var list []headline
	for i := range b.Items {
		it := &b.Items[i]
		event := "waiting"
		if it.Kind == WaitsFailed {
			event = "step_failed"
		}
		if slices.Contains(b.Tell, event) && len(list) < most {
			list = append(list, headline{it.Key(), it.URL(), it.Kind.news(), it.Ref() + " " + it.Title})
		}
	}
	for _, p := range b.Over {
		event, what := "plan_failed", "A plan has failed"
		if p.Done {
			event, what = "plan_done", "A plan is done"
		}
		if slices.Contains(b.Tell, event) && len(list) < most {
			list = append(list, headline{fmt.Sprintf("%s-%d", event, p.ID), PlanURL(p.ID), what, p.Title})
		}
	}
	return list
}

// words say how much waits.
func (b *Inbox) words() string {
	switch w, f := b.Waiting(), b.Failed(); {
	case w > 0 && f > 0:
		return plural(w, "thing waits for you", "things wait for you") + ", " + plural(f, "step failed", "steps failed")
	case w > 0:
		return plural(w, "thing waits for you", "things wait for you")
	case f > 0:
		return plural(f, "step failed", "steps failed")
	}
	return "Nothing waits for you"
}

// Pieces are the parts of the page that change.
func (b *Inbox) Pieces() []Piece {
	list := []Piece{{ID: "inbox-none", Body: inboxNone(b)}}
	for _, g := range b.groups() {
		list = append(list, Piece{ID: g.dom(), Body: inboxGroup(&g)})
	}
	return append(list, Piece{ID: "inbox-limits", Body: inboxLimits(b)})
}

// YouPieces are what every page shows of it, seen or not.
func (b *Inbox) YouPieces() []Piece { return []Piece{{ID: "you", Body: YouLink(b)}} }

// AnswerWords say what became of an answer to an agent.
func AnswerWords(r plan.Ref, tool string, allowed, attached bool) string {
	word := "Denied"
	if allowed {
		word = "Allowed"
	}
	if !attached {
		return fmt.Sprintf("%s %s to step %s. Its agent gets the answer when it is connected again.", word, tool, r)
	}
	return fmt.Sprintf("%s %s to step %s: its agent has the answer.", word, tool, r)
}

// FirstLine returns the first line of a text, cut where it is long.
func FirstLine(text string) string { return firstLine(text, 240) }
