package handlers

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// metricsPage answers GET /metrics: the state of the server in the text format
// of Prometheus.
func (s *server) metricsPage(c echo.Context) error {
	p := &metricsText{}
	p.family("clearbox_build_info", "gauge", "Always 1; its labels say what runs.")
	p.sample("clearbox_build_info", 1, "version", s.opts.Version, "goversion", runtime.Version())
	if err := s.planMetrics(c.Request().Context(), p); err != nil {
		return err
	}
	if err := s.engineMetrics(c.Request().Context(), p); err != nil {
		return err
	}
	s.metrics.write(p)
	writeProcess(p)
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", []byte(p.b.String()))
}

// planMetrics tells how the plans stand.
func (s *server) planMetrics(ctx context.Context, p *metricsText) error {
	all, err := s.engine.Overviews(ctx)
	if err != nil {
		return err
	}
	asked, err := s.engine.Questions(ctx)
	if err != nil {
		return err
	}
	byStatus, started, steps := map[plan.Status]int{}, 0, plan.Tally{}
	for i := range all {
		byStatus[all[i].State]++
		started += zeroOne(all[i].Plan.Started)
		steps = added(steps, all[i].Tally)
	}
	p.family("clearbox_plans", "gauge", "Top-level plans by status.")
	for _, status := range []plan.Status{plan.StatusEmpty, plan.StatusPending, plan.StatusRunning, plan.StatusDone, plan.StatusFailed} {
		p.sample("clearbox_plans", float64(byStatus[status]), "status", string(status))
	}
	p.single("clearbox_plans_started", "gauge", "Top-level plans that are started.", float64(started))
	p.family("clearbox_steps", "gauge", "Steps of all plans by state, those that are broken down into a subplan left out.")
	for _, state := range plan.States {
		p.sample("clearbox_steps", float64(stepsIn(&steps, state)), "state", string(state))
	}
	p.single("clearbox_steps_waiting", "gauge", "Steps that wait for a person: to do them, for a verdict, or because their agent is silent.", float64(steps.Waiting+steps.Asking))
	p.single("clearbox_questions", "gauge", "Questions of agents that wait for an answer.", float64(len(asked)))
	p.single("clearbox_changes_total", "counter", "Changes and events recorded since the database was made.",
		float64(s.engine.Subscribe(0, -1).Cursor()))
	return nil
}

func added(a, b plan.Tally) plan.Tally {
	return plan.Tally{Total: a.Total + b.Total, Pending: a.Pending + b.Pending, Ready: a.Ready + b.Ready, Running: a.Running + b.Running,
		Done: a.Done + b.Done, Failed: a.Failed + b.Failed, Skipped: a.Skipped + b.Skipped, Waiting: a.Waiting + b.Waiting, Asking: a.Asking + b.Asking}
}

func stepsIn(t *plan.Tally, s plan.State) int {
	switch s {
	case plan.Pending:
		return t.Pending
	case plan.Ready:
		return t.Ready
	case plan.Running:
		return t.Running
	case plan.Done:
		return t.Done
	case plan.Failed:
		return t.Failed
	}
	return t.Skipped
}

// write tells what the doors have counted.
func (m *metrics) write(p *metricsText) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.family("clearbox_http_requests_total", "counter", "Requests answered, by route pattern; none was turned away before routing.")
	for _, k := range sortedBy(m.requests, func(k requestKind) string { return k.route + " " + k.method + " " + strconv.Itoa(k.status) }) {
		p.sample("clearbox_http_requests_total", float64(m.requests[k]), "route", k.route, "method", k.method, "code", strconv.Itoa(k.status))
	}
	const took = "clearbox_http_request_duration_seconds"
	p.family(took, "histogram", "How long answers took, streams left out.")
	for _, k := range sortedBy(m.took, func(k routeKind) string { return k.route + " " + k.method }) {
		m.took[k].write(p, took, "route", k.route, "method", k.method)
	}
	p.family("clearbox_http_streams_open", "gauge", "Event streams open now.")
	for _, route := range slices.Sorted(maps.Keys(m.streams)) {
		p.sample("clearbox_http_streams_open", float64(m.streams[route]), "route", route)
	}
	p.family("clearbox_mcp_tool_calls_total", "counter", "Tool calls by endpoint and outcome.")
	for _, k := range sortedBy(m.tools, func(k toolKind) string { return k.door + " " + k.tool + " " + k.outcome }) {
		p.sample("clearbox_mcp_tool_calls_total", float64(m.tools[k]), "endpoint", k.door, "tool", k.tool, "outcome", k.outcome)
	}
	p.single("clearbox_logins_refused_total", "counter", "Wrong tokens at the login page, and guesses that were put off.", float64(m.guesses))
}

// sortedBy returns the keys of a map in the order of a text that they have.
func sortedBy[K comparable, V any](m map[K]V, text func(K) string) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int { return cmp.Compare(text(a), text(b)) })
}

func (h *histogram) write(p *metricsText, name string, labels ...string) {
	var below uint64
	for i, bound := range durationBounds {
		below += h.buckets[i]
		p.sample(name+"_bucket", float64(below), append(labels, "le", strconv.FormatFloat(bound, 'g', -1, 64))...)
	}
	p.sample(name+"_bucket", float64(h.count), append(labels, "le", "+Inf")...)
	p.sample(name+"_sum", h.sum, labels...)
	p.sample(name+"_count", float64(h.count), labels...)
}

// metricsText writes the text format of Prometheus.
type metricsText struct{ b strings.Builder }

// family begins a metric.
func (p *metricsText) family(name, kind, help string) {
	p.b.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

// sample adds one value; labels are pairs of name and value.
func (p *metricsText) sample(name string, value float64, labels ...string) {
	p.b.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		p.b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		p.b.WriteString(labels[i] + `="` + labelEscapes.Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		p.b.WriteByte('}')
	}
	p.b.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// single adds a metric of one value.
func (p *metricsText) single(name, kind, help string, value float64) {
	p.family(name, kind, help)
	p.sample(name, value)
}
