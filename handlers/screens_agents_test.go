package handlers

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
)

// TestAgentScreens takes pictures of the pages of agents.
func TestAgentScreens(t *testing.T) {
	if os.Getenv("CLEARBOX_SCREENS") == "" {
		t.Skip("CLEARBOX_SCREENS names no folder for pictures")
	}
	b := openBrowser(t)
	r := agentStage(t)
	params := json.RawMessage(`{"temperature":0.2,"extra_body":{"top_k":4}}`)
	tools := json.RawMessage(`{"preset":"readonly"}`)
	if _, err := r.engine.CreateProfile(context.Background(), engine.ProfileFields{Name: ptr("night shift"), Harness: ptr("openai"), Model: ptr("qwen3-coder-30b"),
		BaseURL: ptr("http://127.0.0.1:8080/v1"), Key: ptr(goodKey), Params: &params, Tools: &tools, MaxParallel: ptr(2), Description: ptr("Cheap and slow, for the long tail.")}); err != nil {
		t.Fatal(err)
	}
	r.agentNamed("broken", "openai")
	r.want(200, "POST", "/api/plans", `{"title":"Move the importer","working_directory":"`+t.TempDir()+`","nodes":[{"key":"a","title":"Read it","agent":"night shift"}]}`)
	r.want(200, "PUT", "/api/plans/1/agent", `{"agent":"night shift"}`)
	p := b.tab(t, r.url)
	p.ignore("status of 400")
	for _, size := range []screenSize{{1440, 900}, {375, 812}} {
		p.size(size.w, size.h)
		for _, dark := range []bool{false, true} {
			p.dark(dark)
			name := size.name(dark)
			p.open("/agents")
			p.shoot("agents-" + name)
			p.eval(`document.querySelector('#harnesses').scrollIntoView()`)
			p.shoot("agents-harnesses-" + name)
			p.open("/agents/3")
			p.shoot("agent-" + name)
			for i, at := range []string{"part-model", "part-rights", "part-limits", "part-settings", "part-advanced"} {
				p.eval(`document.querySelector('#` + at + `').scrollIntoView()`)
				p.shoot("agent-" + string(rune('1'+i)) + "-" + name)
			}
			p.set("#f-params-temperature", "9")
			p.set("#f-base_url", "localhost")
			p.click(".form-foot [data-testid=save-agent]")
			p.has("[data-testid=agent-faults]")
			p.eval(`document.querySelector('.form-foot').scrollIntoView()`)
			p.click("[data-testid=delete-agent]")
			p.shoot("agent-faults-" + name)
			p.open("/agents/new")
			p.shoot("agent-new-" + name)
		}
	}
}
