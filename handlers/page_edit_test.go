package handlers

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

func TestStepsAreEditedOverThePages(t *testing.T) {
	r := newRig(t)
	r.plan("a b:a c:b")
	second := plan.Ref{Plan: 1, Node: 2}
	edit := func(fields ...string) answer {
		form := url.Values{"seen": {views.Seen(r.step(second))}}
		for i := 0; i+1 < len(fields); i += 2 {
			form.Add(fields[i], fields[i+1])
		}
		return r.form("/plans/1/nodes/2/edit", form, byHtmx)
	}
	for _, c := range []struct{ field, value, at string }{
		{"title", "", "#edit-title-error"}, {"title", "a\x00b", "#edit-title-error"}, {"description", "a\x00b", "#edit-description-error"},
		{"acceptance_criteria", "a\x00b", "#edit-criteria-error"}, {"files", "/etc/passwd", "#edit-files-error"}, {"files", "../x", "#edit-files-error"},
		{"task_type", "magic", "#edit-type-error"}, {"isolation", "none of these", "#edit-isolation-error"}, {"max_attempts", "21", "#edit-attempts-error"},
		{"max_attempts", "x", "#edit-attempts-error"}, {"estimate_minutes", "-3", "#edit-estimate-error"}, {"check_command", "a\x00b", "#edit-check-error"},
		{"agent", "nobody", "#edit-agent-error"},
	} {
		if a := edit(c.field, c.value); a.status != 400 || a.header.Get("HX-Retarget") != c.at {
			t.Errorf("%s %q: %d at %q: %s", c.field, c.value, a.status, a.header.Get("HX-Retarget"), a.body)
		}
	}
	if a := edit("title", "B2", "acceptance_criteria", " one ", "acceptance_criteria", "", "acceptance_criteria", "two\r\nlines", "files", "src", "kind", "user", "estimate_minutes", "2,5"); a.status != 204 {
		t.Fatal(a)
	}
	if n := r.step(second); n.Title != "B2" || strings.Join(n.Criteria, "|") != "one|two\nlines" || n.Files[0].Path != "src" || n.Kind != plan.KindUser || n.EstimateMinutes != 2.5 {
		t.Errorf("it is %+v", n)
	}
	if a := edit("acceptance_criteria", "", "estimate_minutes", "", "title", "B2"); a.status != 204 || len(r.step(second).Criteria) != 0 || r.step(second).EstimateMinutes != 0 {
		t.Errorf("emptied: %s", a)
	}
	if a := r.form("/plans/1/nodes/2/edit", url.Values{"seen": {"old"}, "title": {"B3"}}, byHtmx); a.status != 409 || !strings.Contains(string(a.body), "changed since you opened it") {
		t.Errorf("what was not seen: %s", a)
	}
	for path, want := range map[string]string{
		"order?side=after&step=3": "#order-after-error", "order?side=before&step=1": "#order-before-error", "order?side=after&step=x": "#order-after-error",
		"order?side=after&step=99": "#order-after-error",
	} {
		action, query, _ := strings.Cut(path, "?")
		form, _ := url.ParseQuery(query)
		if a := r.form("/plans/1/nodes/2/"+action, form, byHtmx); a.status < 400 || a.header.Get("HX-Retarget") != want {
			t.Errorf("%s: %d at %q: %s", path, a.status, a.header.Get("HX-Retarget"), a.body)
		}
	}
	steps := func(action string, fields ...string) {
		t.Helper()
		form := url.Values{}
		for i := 0; i+1 < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		if a := r.form(action, form, byHtmx); a.status != 204 {
			t.Fatalf("%s %v: %s", action, fields, a)
		}
	}
	steps("/plans/1/nodes/3/results", "from", "1", "on", "true")
	steps("/plans/1/nodes/3/unorder", "from", "2", "to", "3")
	steps("/plans/1/nodes/3/order", "side", "after", "step", "1.1")
	steps("/plans/1/nodes/2/remove")
	steps("/plans/1/steps", "title", "D", "after", "3")
	s, err := r.engine.Snapshot(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if g := s.Graph(1); !g.Reaches(1, 3) || !g.Reaches(3, 4) || len(s.NodesOf(1)) != 3 || s.Node(plan.Ref{Plan: 1, Node: 3}).ResultsFrom[0] != 1 {
		t.Errorf("the steps are %+v", s.NodesOf(1))
	}
	if a := r.form("/plans/1/steps", url.Values{"title": {" "}}, byHtmx); a.status != 400 || a.header.Get("HX-Retarget") != "#add-title-error" {
		t.Errorf("without a title: %v %s", a.header, a)
	}
	steps("/plans/1/settings", "title", "Other", "check_command", "make", "review_policy", "gate")
	if root := r.root(1); root.Title != "Other" || root.CheckCommand != "make" || root.ReviewPolicy != plan.PolicyGate {
		t.Errorf("the plan is %+v", root)
	}
	if a := r.form("/plans/1/settings", url.Values{"title": {""}}, byHtmx); a.status != 400 || a.header.Get("HX-Retarget") != "#set-title-error" {
		t.Errorf("a plan without a title: %v %s", a.header, a)
	}
	for path, status := range map[string]int{"/plans/1/nodes/0?tab=session": 200, "/plans/1/nodes/0/full": 200, "/plans/9/nodes/0": 404, "/plans/1/nodes/3?tab=edit": 200} {
		if a := r.do("GET", path, nil); a.status != status {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	for _, action := range []string{"edit", "remove", "order", "complete"} {
		if a := r.form("/plans/1/nodes/0/"+action, url.Values{}, byHtmx); a.status != 404 {
			t.Errorf("%s of the plan's own session: %d", action, a.status)
		}
	}
}
