package handlers

import (
	"context"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// engineMetrics tell what the engine is at and how it stores.
func (s *server) engineMetrics(ctx context.Context, p *metricsText) error {
	st, err := s.engine.Stats(ctx)
	if err != nil {
		return err
	}
	p.family("clearbox_runs_open", "gauge", "Sessions of agents that are open, by what they are for.")
	for _, kind := range []plan.RunKind{plan.RunStep, plan.RunExternal, plan.RunReview, plan.RunPlanReview, plan.RunJudge, plan.RunPlanner} {
		p.sample("clearbox_runs_open", float64(st.OpenRuns[kind]), "kind", string(kind))
	}
	p.family("clearbox_steps_ready", "gauge", "Ready steps of started plans by what they wait for.")
	for _, phase := range []plan.Phase{plan.PhaseQueued, plan.PhaseFiles, plan.PhaseSlot, plan.PhaseLimit, plan.PhaseBudget, plan.PhasePerson} {
		p.sample("clearbox_steps_ready", float64(st.Waiting[phase]), "waits", string(phase))
	}
	p.single("clearbox_reviews_queued", "gauge", "Reviews that wait for an agent.", float64(st.ReviewsQueued))
	p.single("clearbox_webhook_deliveries_queued", "gauge", "Notices on their way to webhooks.", float64(st.DeliveriesQueued))
	p.single("clearbox_events_total", "counter", "Transcript entries stored since the server started.", float64(st.Events))
	p.single("clearbox_facts_total", "counter", "Other changes recorded since the server started.", float64(st.Changes))
	p.single("clearbox_store_commits_total", "counter", "Transactions of the database since the server started.", float64(st.Commits.Total))
	const group = "clearbox_store_commit_changes"
	p.family(group, "histogram", "Changes that were made durable by one transaction.")
	var below uint64
	for i, n := range st.Commits.Groups {
		below += n
		p.sample(group+"_bucket", float64(below), "le", strconv.Itoa(1<<i))
	}
	p.sample(group+"_bucket", float64(st.Commits.Total), "le", "+Inf")
	p.sample(group+"_sum", float64(st.Commits.Writes))
	p.sample(group+"_count", float64(st.Commits.Total))
	return nil
}
