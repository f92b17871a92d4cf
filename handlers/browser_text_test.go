package handlers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// hostile are texts that must be shown and never obeyed.
var hostile = []string{
	`<img src=x onerror="window.owned=1"><script>window.owned=2</script>`,
	"\u202eright to left\u202c \u2067nested\u2069 \u200f",
	"👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0323 Z\u0351\u036b\u0343\u036a\u0302",
	"测试步骤：实现解析器并编写测试用例以及文档说明和示例代码直到全部通过为止",
	strings.Repeat("Donaudampfschifffahrtsgesellschaft", 9)[:300],
	`"><svg onload=window.owned=3>&lt;b&gt; ' " \ {{7*7}} ${1} javascript:window.owned=4`,
}

func hostileText(t *testing.T, b *browser) {
	agent := func(_ context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
		h.Emit(plugin.System("session started", plugin.SessionInfo{Model: hostile[0]}))
		for i, text := range hostile {
			h.Emit(plugin.Text(text+"\n\n[link](javascript:window.owned=5) ![image](http://127.0.0.1:1/x.png)", ""))
			h.Emit(plugin.Thinking(text, ""))
			id := fmt.Sprint(i, `"><img src=x onerror=window.owned=6>`)
			h.Emit(plugin.ToolUse(id, text, []byte(fmt.Sprintf(`{%q: %q}`, text, text)), ""))
			h.Emit(plugin.ToolResult(id, text, true, ""))
			h.Emit(plugin.Log(text, text))
			h.Emit(plugin.Err(text))
		}
		return plugin.Result{IsError: true, Errors: hostile, Text: hostile[0]}, nil
	}
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": agent}})
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: hostile[0], Description: hostile[0], WorkingDirectory: t.TempDir()}}
	for i, text := range hostile {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: text, Description: text, AcceptanceCriteria: []string{text},
			Files: []string{"dir/" + strings.NewReplacer("/", "", "\\", "").Replace(text)}})
	}
	if _, err := r.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	name := hostile[0]
	harness := "mock"
	if _, err := r.engine.CreateProfile(context.Background(), engine.ProfileFields{Name: &name, Harness: &harness, Description: &hostile[5]}); err != nil {
		t.Fatal(err)
	}
	r.start(1, plan.Builtin)
	enginetest.Until(t, r.engine, 1, "all failed", func(s *plan.Snapshot) bool { return s.Tally(1).Failed == len(hostile) })
	p := b.tab(t, r.url)
	fits := func(path string) {
		for _, size := range []int64{1440, 375} {
			p.size(size, 800)
			p.fits(fmt.Sprint(path, " at ", size))
		}
	}
	p.open("/plans/1?view=list")
	fits("the list")
	for _, path := range []string{"/plans", "/agents", "/plans/1?view=graph"} {
		p.visit(path)
		fits(path)
	}
	for i := range hostile {
		for _, tab := range []string{"task", "session"} {
			p.visit(fmt.Sprintf("/plans/1/nodes/%d?view=graph&tab=%s", i+1, tab))
			if got := p.eval(`document.querySelector('[data-testid=node-title]').textContent`); got != hostile[i] {
				t.Errorf("the title is %q, want %q", got, hostile[i])
			}
			fits(fmt.Sprint("step ", i+1))
		}
	}
	p.open("/plans/1/nodes/1/full?tab=session") // as the server sends it
	fits("a full page")
	if got := p.eval(`window.owned ?? 'no'`); got != "no" {
		t.Errorf("text was obeyed: %v", got)
	}
	if got := p.eval(`document.querySelectorAll('#page img, #page script, #sidebar img').length`); got != 0.0 {
		t.Errorf("%v elements came out of text", got)
	}
}
