package handlers

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// metricsNow reads /metrics: the samples by their name and labels. It fails the
// test where the text is not what Prometheus reads.
func (r *rig) metricsNow(headers ...string) map[string]string {
	r.t.Helper()
	a := r.do("GET", "/metrics", nil, headers...)
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain; version=0.0.4") {
		r.t.Fatalf("metrics: %d %s", a.status, a.header)
	}
	sample := regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? (-?[0-9.e+-]+|\+Inf|NaN)$`)
	got, family := map[string]string{}, ""
	for line := range strings.Lines(string(a.body)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			family, _, _ = strings.Cut(name, " ")
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil || !strings.HasPrefix(m[1], family) || strings.TrimPrefix(m[1], family) != "" &&
			!strings.Contains("_bucket_sum_count", strings.TrimPrefix(m[1], family)) {
			r.t.Errorf("line %q in family %s", line, family)
			continue
		}
		if _, twice := got[m[1]+m[2]]; twice {
			r.t.Errorf("%s is there twice", m[1]+m[2])
		}
		got[m[1]+m[2]] = m[4]
	}
	return got
}

func (r *rig) wantMetrics(want map[string]string) {
	r.t.Helper()
	got := r.metricsNow()
	for name, value := range want {
		if got[name] != value {
			r.t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
}

func TestMetricsTellHowPlansStand(t *testing.T) {
	r := newRig(t)
	r.wantMetrics(map[string]string{`clearbox_plans{status="running"}`: "0", "clearbox_plans_started": "0", "clearbox_questions": "0"})
	first, _ := r.plan("a b:a c"), r.plan("x")
	r.start(first, plan.External)
	r.claim()
	r.wantMetrics(map[string]string{`clearbox_plans{status="running"}`: "1", `clearbox_plans{status="pending"}`: "1", "clearbox_plans_started": "1",
		`clearbox_steps{state="running"}`: "1", `clearbox_steps{state="ready"}`: "1", `clearbox_steps{state="pending"}`: "2", "clearbox_steps_waiting": "0",
		`clearbox_build_info{version="test",goversion="` + runtime.Version() + `"}`: "1"})
	if err := r.engine.DeletePlan(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	r.wantMetrics(map[string]string{`clearbox_plans{status="running"}`: "0", `clearbox_steps{state="running"}`: "0"})
}

func TestMetricsTellWhatTheEngineIsAt(t *testing.T) {
	r := newRig(t)
	before := r.metricsNow()
	first := r.plan("a b c:a d:b")
	r.start(first, plan.External)
	r.claim()
	r.wantMetrics(map[string]string{`clearbox_runs_open{kind="external"}`: "1", `clearbox_runs_open{kind="step"}`: "0", `clearbox_steps_ready{waits="queued"}`: "1",
		`clearbox_steps_ready{waits="person"}`: "0", "clearbox_reviews_queued": "0", "clearbox_webhook_deliveries_queued": "0"})
	after := r.metricsNow()
	for _, name := range []string{"clearbox_events_total", "clearbox_facts_total", "clearbox_store_commits_total", "clearbox_store_commit_changes_sum"} {
		if after[name] == before[name] {
			t.Errorf("%s is still %s", name, after[name])
		}
	}
	if got := after[`clearbox_store_commit_changes_bucket{le="128"}`]; got != after["clearbox_store_commit_changes_count"] {
		t.Errorf("%s of %s transactions are in the buckets", got, after["clearbox_store_commit_changes_count"])
	}
}

func TestEveryMetricIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range newRig(t).metricsNow() {
		name, _, _ = strings.Cut(name, "{")
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, part)
		}
		if strings.HasPrefix(name, "clearbox_") && !strings.Contains(string(doc), "`"+name) {
			t.Errorf("%s is not in docs/metrics.md", name)
		}
	}
}

func TestMetricsCountWhatTheDoorsDo(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b")
	for range 3 {
		r.do("GET", fmt.Sprintf("/api/plans/%d", id), nil)
	}
	r.do("GET", "/api/plans/99", nil)
	r.do("GET", "/", nil, "Host: evil.example")
	r.do("BREW", "/api/plans", nil)
	r.call("/mcp", "get_plan", map[string]any{"plan_id": id})
	r.call("/mcp", "get_plan", map[string]any{"plan_id": 99})
	r.call("/mcp/observe", "claim_next_node", map[string]any{"agent_name": "me"})
	r.call("/mcp", "no_such_tool", nil)
	r.wantMetrics(map[string]string{
		`clearbox_http_requests_total{route="/api/plans/:plan_id",method="GET",code="200"}`:                 "3",
		`clearbox_http_requests_total{route="/api/plans/:plan_id",method="GET",code="404"}`:                 "1",
		`clearbox_http_requests_total{route="none",method="GET",code="421"}`:                                "1",
		`clearbox_http_requests_total{route="/mcp",method="POST",code="200"}`:                               "3",
		`clearbox_http_request_duration_seconds_count{route="/api/plans/:plan_id",method="GET"}`:            "4",
		`clearbox_http_request_duration_seconds_bucket{route="/api/plans/:plan_id",method="GET",le="+Inf"}`: "4",
		`clearbox_mcp_tool_calls_total{endpoint="mcp",tool="get_plan",outcome="ok"}`:                        "1",
		`clearbox_mcp_tool_calls_total{endpoint="mcp",tool="get_plan",outcome="refused"}`:                   "1",
		`clearbox_mcp_tool_calls_total{endpoint="observe",tool="claim_next_node",outcome="ok"}`:             "1",
	})
}

func TestOpenStreamsAreCounted(t *testing.T) {
	r := newRig(t)
	const api, page = `clearbox_http_streams_open{route="/api/stream"}`, `clearbox_http_streams_open{route="/live"}`
	a, b := r.listen(""), r.listen("")
	a.next()
	b.next()
	live := r.watchLive(t, "plans@1")
	r.wantMetrics(map[string]string{api: "2", page: "1"})
	a.close()
	live.close()
	r.untilMetric(api, "1")
	r.untilMetric(page, "0")
	if got := r.metricsNow(); got[`clearbox_http_request_duration_seconds_count{route="/api/stream",method="GET"}`] != "" {
		t.Error("the time that a stream was open counts as a duration")
	}
}

// untilMetric waits until a metric has a value.
func (r *rig) untilMetric(name, want string) {
	r.t.Helper()
	for end := time.Now().Add(patience); r.metricsNow()[name] != want; <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s never was %s", name, want)
		}
	}
}

func TestMetricsTellAboutTheProcess(t *testing.T) {
	got := newRig(t).metricsNow()
	for _, name := range []string{"go_goroutines", "go_memstats_heap_alloc_bytes", "go_memstats_sys_bytes", "go_gc_cycles_total"} {
		if got[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	if _, ok := residentPages(); ok && (got["process_resident_memory_bytes"] == "" || got["process_resident_memory_bytes"] == "0") {
		t.Errorf("resident memory is %q", got["process_resident_memory_bytes"])
	}
}

// TestMetricsHaveNoNamesOfClients: whatever clients send, the number of series
// stays, and nothing of it is in a label.
func TestMetricsHaveNoNamesOfClients(t *testing.T) {
	const planted = "s3cr3t"
	r := newRig(t)
	visit := func(i int) {
		for _, path := range []string{"/api/plans/%d" + planted, "/no/such/%d" + planted, "/mcp-agent/%d" + planted, "/static/%d" + planted, "/plans/%d?x=" + planted} {
			r.do("GET", fmt.Sprintf(path, i), nil)
			r.do(fmt.Sprint("BREW", i), fmt.Sprintf(path, i), nil)
		}
		r.call("/mcp", fmt.Sprint(planted, i), map[string]any{planted: 1})
	}
	visit(0)
	before := r.metricsNow()
	for i := range 20 {
		visit(i)
	}
	after := r.metricsNow()
	if len(after) > len(before)+20 { // those of /metrics itself are new
		t.Errorf("%d series became %d", len(before), len(after))
	}
	for name := range after {
		if strings.Contains(name, planted) || strings.Contains(name, "BREW") {
			t.Errorf("a client made the series %s", name)
		}
	}
}

func TestMetricsNeedTheToken(t *testing.T) {
	r := authRig(t)
	if a := r.do("GET", "/metrics", nil); a.status != 401 || strings.Contains(string(a.body), "clearbox_plans") || a.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("without the token: %s", a)
	}
	r.metricsNow("Authorization: Bearer " + testToken)
	for name := range r.metricsNow("Authorization: Bearer " + testToken) {
		if strings.Contains(name, testToken) {
			t.Errorf("the token is in %s", name)
		}
	}
}

func TestHistogramsAddUp(t *testing.T) {
	h := &histogram{}
	for _, seconds := range []float64{0, 0.001, 0.0011, 0.3, 29, 31, 1e6} {
		h.add(seconds)
	}
	p := &metricsText{}
	h.write(p, "x", "route", `a"b\c`+"\n")
	for _, want := range []string{`x_bucket{route="a\"b\\c\n",le="0.001"} 2`, `le="0.0025"} 3`, `le="0.25"} 3`, `le="0.5"} 4`, `le="30"} 5`, `le="+Inf"} 7`, `x_count{route="a\"b\\c\n"} 7`} {
		if !strings.Contains(p.b.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, p.b.String())
		}
	}
}
