package handlers

import (
	"context"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// inboxMemory keeps what waits for people as it was at one number, since each
// page shows it.
type inboxMemory struct {
	mu    sync.Mutex
	inbox *views.Inbox
}

// inboxPage shows what waits for a person in all plans.
func (p *site) inboxPage(c echo.Context) error {
	b, err := p.inbox(c.Request().Context())
	if err != nil {
		return err
	}
	return p.answer(c, http.StatusOK, "Waiting for you", views.InboxView(b))
}

// inbox reads what waits. Its number is taken before, as that of the sidebar is.
func (p *site) inbox(ctx context.Context) (*views.Inbox, error) {
	seq := p.engine.Subscribe(0, -1).Cursor()
	p.waits.mu.Lock()
	defer p.waits.mu.Unlock()
	if known := p.waits.inbox; known != nil && known.Seq == seq {
		return known, nil
	}
	in, err := p.engine.Inbox(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := p.limitItems(ctx, in.Limits)
	if err != nil {
		return nil, err
	}
	set, err := p.engine.Settings(ctx)
	if err != nil {
		return nil, err
	}
	b := views.NewInbox(inboxItems(in), limits, seq)
	b.Tell, b.Over = set.Notifications.Events, planNews(in.Plans)
	p.waits.inbox = b
	return b, nil
}

// planNews are the newest plans that have ended.
func planNews(all []engine.Overview) []views.PlanNews {
	const most = 20
	var list []views.PlanNews
	for i := range all {
		o := &all[i]
		if done := o.State == plan.StatusDone; (done || o.State == plan.StatusFailed) && o.Plan.Started && len(list) < most {
			list = append(list, views.PlanNews{ID: o.Plan.ID, Title: o.Plan.Title, Done: done})
		}
	}
	return list
}

func inboxItems(in *engine.Inbox) []views.InboxItem {
	asked := map[plan.Ref]bool{}
	steps := map[plan.Ref]*engine.OpenStep{}
	for i := range in.Steps {
		steps[in.Steps[i].Ref()] = &in.Steps[i]
	}
	var list []views.InboxItem
	for _, q := range in.Questions {
		r := plan.Ref{Plan: q.PlanID, Node: q.NodeID}
		if s := steps[r]; s != nil {
			asked[r] = true
			list = append(list, views.NewQuestion(q, s.Title, s.PlanTitle))
		}
	}
	for i := range in.Steps {
		if it, ok := stepItem(&in.Steps[i]); ok && !asked[it.Node] {
			list = append(list, it)
		}
	}
	for i := range in.Plans {
		list = append(list, planItems(&in.Plans[i])...)
	}
	return list
}

// stepItem says what about a step a person is needed for, if anything.
func stepItem(s *engine.OpenStep) (it views.InboxItem, ok bool) {
	it = views.InboxItem{Node: s.Ref(), Title: s.Title, PlanTitle: s.PlanTitle, Since: s.PhaseSince}
	switch {
	case s.State == plan.Failed:
		it.Kind, it.Text = views.WaitsFailed, views.FirstLine(s.Error)
	case s.State == plan.Running && s.Phase == plan.PhaseNeedsPerson:
		it.Kind = views.WaitsVerdict
	case s.State == plan.Ready && s.Kind == plan.KindUser:
		it.Kind = views.WaitsStep
	case s.State == plan.Running && s.StalledAt > 0:
		it.Kind, it.Since = views.WaitsStalled, s.StalledAt
	default:
		return it, false
	}
	return it, true
}

// planItems say what about a whole plan a person is needed for.
func planItems(o *engine.Overview) []views.InboxItem {
	var list []views.InboxItem
	it := views.InboxItem{Node: plan.Ref{Plan: o.Plan.ID}, Title: o.Plan.Title}
	if a := o.Plan.Approval; a == plan.Awaiting || a == plan.PlanningFailed {
		it.Kind = views.WaitsApproval
		if a == plan.PlanningFailed {
			it.Text = "Planning failed."
		}
		list = append(list, it)
	}
	if over := o.Plan.OverBudget(); over != "" && o.Plan.Started && o.Tally.Pending+o.Tally.Ready > 0 {
		it.Kind, it.Text = views.WaitsBudget, over
		list = append(list, it)
	}
	return list
}

// limitItems name the agents whose providers take no work for now.
func (p *site) limitItems(ctx context.Context, limits []plan.Limit) ([]views.LimitItem, error) {
	if len(limits) == 0 {
		return nil, nil
	}
	profiles, err := p.engine.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	var list []views.LimitItem
	for _, l := range limits {
		for i := range profiles {
			if profiles[i].ID == l.Profile && l.Until != 0 {
				list = append(list, views.LimitItem{Agent: profiles[i].Name, Until: l.Until, Text: l.Text})
			}
		}
	}
	return list, nil
}
