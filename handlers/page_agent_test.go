package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// agentStage is a server with two harnesses that say what can be set, and one
// that is refused. The endpoint of openai answers those who come with its key.
func agentStage(t testing.TB) *rig {
	return newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"openai": enginetest.Done}, launcher: func(l *enginetest.Launcher) {
		l.Infos = map[string]plugin.Info{}
		for _, slug := range []string{"mock", "openai"} {
			settings, err := os.ReadFile("../views/testdata/settings/" + slug + ".json")
			if err != nil {
				t.Fatal(err)
			}
			l.Infos[slug] = plugin.Info{Slug: slug, Name: map[string]string{"mock": "Mock", "openai": "OpenAI-compatible"}[slug], Version: "1.2.3",
				Settings: settings, Capabilities: []plugin.Capability{plugin.Read, plugin.Full}, Features: plugin.Features{Model: slug == "openai", MCP: true}}
		}
		l.Also = []engine.HarnessFound{{Slug: "old", Path: "/opt/harness-old", Refused: "it speaks protocol 0, this server 1"}}
		l.Checker = func(slug string, p plugin.Profile) plugin.Report {
			switch {
			case slug != "openai":
				return plugin.Report{OK: true, Detail: "ready: plays runs without a model", Credential: "none"}
			case p.Secret != goodKey:
				return plugin.Report{Detail: "the endpoint refused the key (401)", Credential: p.Credential, Field: "api_key"}
			}
			return plugin.Report{OK: true, Detail: "ready", Credential: p.Credential, BaseURL: p.BaseURL, ModelsSample: []string{"small-1", "large-2"}}
		}
	}})
}

const goodKey = "sk-good-31337"

// filled are the values of an agent's form on a page, as a browser would send
// them.
func filled(doc *html.Node) url.Values {
	form := url.Values{}
	var visit func(n *html.Node, choice string)
	visit = func(n *html.Node, choice string) {
		a := map[string]string{}
		for _, x := range n.Attr {
			a[x.Key] = x.Val
		}
		_, selected := a["selected"]
		switch {
		case n.Data == "select":
			choice = a["name"]
		case n.Data == "option" && choice != "" && (selected || !form.Has(choice)):
			form.Set(choice, a["value"])
		case n.Data == "textarea":
			form.Set(a["name"], strings.TrimSpace(textIn(n)))
		case n.Data == "input" && a["type"] != "checkbox" && a["name"] != "":
			form.Set(a["name"], a["value"])
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c, choice)
		}
	}
	for _, f := range findAll(doc, "id", "agent-form") {
		visit(f, "")
	}
	return form
}

func (r *rig) profile(id plan.ProfileID) *plan.Profile {
	r.t.Helper()
	p, err := r.engine.Profile(context.Background(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func with(form url.Values, pairs ...string) url.Values {
	out := url.Values{}
	for k, v := range form {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	return out
}

func TestAnAgentIsMadeChangedAndDeletedWithoutScripts(t *testing.T) {
	r := agentStage(t)
	form := with(filled(r.page("/agents/new?harness=openai")), "do", "save", "name", "cheap", "model", "small-1", "api_key", goodKey,
		"params.temperature", "0,5", "params.extra_body", `{"top_k": 4}`, "tools.deny", "bash\n\n write_file ", "max_parallel", "2", "capability", "edit")
	a := r.form("/agents/new", form)
	if a.status != 303 || a.header.Get("Location") != "/agents/3?saved=1" {
		t.Fatalf("got %s, %s", a, a.header.Get("Location"))
	}
	p := r.profile(3)
	if p.Name != "cheap" || p.Harness != "openai" || p.Model != "small-1" || !p.HasKey || p.MaxParallel != 2 || p.Capability != "edit" ||
		!plan.SameJSON(p.Params, json.RawMessage(`{"temperature":0.5,"extra_body":{"top_k":4}}`)) || !plan.SameJSON(p.Tools, json.RawMessage(`{"deny":["bash","write_file"]}`)) {
		t.Errorf("made %+v, params %s, tools %s", p, p.Params, p.Tools)
	}
	page := r.page("/agents/3?saved=1")
	if textAt(t, page, "agent-saved") == "" || !strings.Contains(textAt(t, page, "key-state"), "A key is stored") {
		t.Error("the page does not say what was saved")
	}
	before := r.now()
	if a := r.form("/agents/3", with(filled(page), "do", "save")); a.status != 303 || r.now() != before {
		t.Errorf("saving what was there is a change: %s", a)
	}
	form = with(filled(page), "do", "save", "params.temperature", "", "params.max_turns", "9", "max_parallel", "", "api_key_clear", "yes", "tools.deny", "", "params.review_capability", "read")
	if a := r.form("/agents/3", form); a.status != 303 {
		t.Fatalf("got %s", a)
	}
	p = r.profile(3)
	if p.HasKey || p.MaxParallel != 0 || !plan.SameJSON(p.Params, json.RawMessage(`{"max_turns":9,"extra_body":{"top_k":4},"review_capability":"read"}`)) || string(p.Tools) != "{}" {
		t.Errorf("changed to %+v, params %s, tools %s", p, p.Params, p.Tools)
	}
	copied := filled(r.page("/agents/new?from=3"))
	if copied.Get("name") != "cheap copy" || copied.Get("params.max_turns") != "9" || copied.Get("capability") != "edit" {
		t.Errorf("a copy begins with %v", copied)
	}
	id := r.plan("a b")
	if a := r.do("PUT", fmt.Sprintf("/api/plans/%d/nodes/2/agent", id), `{"agent":"cheap"}`); a.status != 200 {
		t.Fatal(a)
	}
	if got := textAt(t, r.page("/agents/3"), "agent-uses"); got != "1.2 Step b runs on mock" {
		t.Errorf("before it is deleted it says %q", got)
	}
	if a := r.form("/agents/3/delete", nil); a.status != 303 || a.header.Get("Location") != "/agents" {
		t.Fatalf("got %s", a)
	}
	if a := r.do("GET", "/agents/3", nil); a.status != 404 {
		t.Errorf("after it was deleted: %s", a)
	}
}

func TestWhatIsWrongWithAnAgentIsToldAtItsField(t *testing.T) {
	r := agentStage(t)
	good := with(filled(r.page("/agents/new?harness=openai")), "do", "save", "name", "x", "model", "m")
	before := r.now()
	for _, c := range []struct{ field, value, says string }{
		{"name", "", "must not be empty"},
		{"name", "42", "digits alone"},
		{"name", "mock", "there is an agent profile"},
		{"base_url", "ftp://x", "must begin with http://"},
		{"base_url", "http://", "whole address"},
		{"base_url", "http://me:pw@host/v1", "everyone could read"},
		{"api_key_env", "sk-123", "NAME of an environment variable"},
		{"capability", "all", "unknown value"},
		{"test_level", "some", "unknown value"},
		{"isolation", "sandbox", "unknown value"},
		{"max_parallel", "-1", "whole number"},
		{"max_parallel", "99999999999", "whole number"},
		{"max_tokens_per_run", "many", "whole number"},
		{"max_cost_per_run_usd", "NaN", "above 0"},
		{"params.temperature", "3", "at most 2"},
		{"params.temperature", "warm", "must be a number"},
		{"params.max_turns", "0", "at least 1"},
		{"params.max_turns", "1.5", "whole number"},
		{"params.extra_body", "[]", "must be an object"},
		{"params.extra_body", `{"a"`, "in JSON"},
		{"params.extra_body", `{"api_key":"k"}`, "everyone could read it"},
		{"params.stream", "maybe", "true or false"},
		{"params.review_capability", "all", "unknown value"},
		{"tools.preset", "some", "one of all"},
		{"system_append", "a\x00b", "NUL"},
		{"harness", "nobody", "settings of its own"},
		{"api_key", "a\x01b", "control characters"},
	} {
		a := r.form("/agents/new", with(good, c.field, c.value), byHtmx)
		doc, err := html.Parse(strings.NewReader(string(a.body)))
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, f := range findAll(doc, "hx-swap-oob", "innerHTML") {
			if text := strings.TrimSpace(textIn(f)); text != "" {
				told = append(told, f.Attr[0].Val+": "+text)
			}
		}
		want := "f-" + strings.ReplaceAll(c.field, ".", "-") + "-error: "
		if a.status != 400 || len(told) != 1 || !strings.HasPrefix(told[0], want) || !strings.Contains(told[0], c.says) {
			t.Errorf("%s %q: %d, %q", c.field, c.value, a.status, told)
		}
		plain := r.form("/agents/new", with(good, c.field, c.value))
		if back := filled(parse(t, plain)); plain.status != 400 || c.field != "api_key" && back.Get(c.field) != strings.ReplaceAll(c.value, "\x00", "\ufffd") {
			t.Errorf("without scripts %s %q came back as %q, %d", c.field, c.value, back.Get(c.field), plain.status)
		}
	}
	if r.now() != before {
		t.Error("what was refused is a change")
	}
	both := r.form("/agents/new", with(good, "name", "", "params.temperature", "9", "max_parallel", "x"), byHtmx)
	if n := strings.Count(string(both.body), "<li>"); n != 3 {
		t.Errorf("%d faults are listed: %s", n, both.body)
	}
}

func parse(t *testing.T, a answer) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(string(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestAnotherHarnessBringsItsOwnSettings(t *testing.T) {
	r := agentStage(t)
	form := with(filled(r.page("/agents/new?harness=openai")), "do", "choose", "name", "x", "harness", "mock", "params.max_turns", "7", "api_key", goodKey)
	a := r.form("/agents/new", form, byHtmx)
	if text := string(a.body); a.status != 200 || !strings.Contains(text, `name="params.script"`) || strings.Contains(text, "params.temperature") || strings.Contains(text, goodKey) {
		t.Errorf("got %s", a)
	}
	back := filled(parse(t, r.form("/agents/new", form)))
	if back.Get("name") != "x" || back.Get("harness") != "mock" || !back.Has("params.script") || back.Get("settings_of") != "mock" {
		t.Errorf("without scripts the form has %v", back)
	}
	if a := r.form("/agents/new", with(back, "do", "save")); a.status != 303 {
		t.Errorf("saved: %s", a)
	}
	missing := string(r.form("/agents/new", with(form, "harness", "claude"), byHtmx).body)
	if !strings.Contains(missing, "was not found") || !strings.Contains(missing, `name="params"`) {
		t.Errorf("a harness that was not found: %s", missing)
	}
	refused := string(r.form("/agents/new", with(form, "harness", "old"), byHtmx).body)
	if !strings.Contains(refused, "it speaks protocol 0") {
		t.Errorf("a harness that is refused: %s", refused)
	}
}

func TestAnAgentIsTestedBeforeItIsSaved(t *testing.T) {
	r := agentStage(t)
	form := with(filled(r.page("/agents/new?harness=openai")), "do", "test", "name", "x", "model", "m", "base_url", "http://127.0.0.1:1/v1")
	before := r.now()
	if a := r.form("/agents/new", form, byHtmx); a.status != 200 || !strings.Contains(string(a.body), "the endpoint refused the key (401)") {
		t.Errorf("without a key: %s", a)
	}
	a := r.form("/agents/new", with(form, "api_key", goodKey), byHtmx)
	if text := string(a.body); a.status != 200 || !strings.Contains(text, "the stored one") && !strings.Contains(text, "ready") || !strings.Contains(text, `<option value="large-2">`) || strings.Contains(text, goodKey) {
		t.Errorf("with a key: %s", a)
	}
	plain := r.form("/agents/new", with(form, "api_key", goodKey))
	if text := string(plain.body); plain.status != 200 || !strings.Contains(text, "outcome-line good") || strings.Contains(text, goodKey) {
		t.Errorf("without scripts: %s", plain)
	}
	if a := r.form("/agents/new", with(form, "name", "", "params.temperature", "9"), byHtmx); !strings.Contains(string(a.body), "at most 2") {
		t.Errorf("with faults: %s", a)
	}
	if r.now() != before {
		t.Error("a test is a change")
	}
	saved := with(form, "do", "save", "api_key", goodKey)
	if a := r.form("/agents/new", saved, byHtmx); a.header.Get("HX-Redirect") != "/agents/3?saved=1" {
		t.Fatalf("got %s", a)
	}
	own := with(filled(r.page("/agents/3")), "do", "test")
	if a := r.form("/agents/3", own, byHtmx); !strings.Contains(string(a.body), "outcome-line good") {
		t.Errorf("the stored key was not used: %s", a)
	}
	if a := r.form("/agents/3", with(own, "api_key_clear", "yes"), byHtmx); !strings.Contains(string(a.body), "401") {
		t.Errorf("a key that is to be cleared was used: %s", a)
	}
	if a := r.form("/agents/3/test", nil); a.status != 200 || !strings.Contains(string(a.body), "outcome-line good") || !strings.Contains(string(a.body), "<html") {
		t.Errorf("the button without scripts: %s", a)
	}
}

func TestTheKeyOfAnAgentIsOnNoPage(t *testing.T) {
	r := agentStage(t)
	form := with(filled(r.page("/agents/new?harness=openai")), "name", "x", "model", "m", "api_key", goodKey)
	all := []answer{r.form("/agents/new", with(form, "do", "save", "name", "")), r.form("/agents/new", with(form, "do", "save", "name", ""), byHtmx),
		r.form("/agents/new", with(form, "do", "save", "api_key_clear", "yes"), byHtmx), r.form("/agents/new", with(form, "do", "choose")),
		r.form("/agents/new", with(form, "do", "test")), r.form("/agents/new", with(form, "do", "save"))}
	for _, path := range []string{"/agents", "/agents/3", "/agents/new?from=3"} {
		all = append(all, r.do("GET", path, nil))
	}
	again := with(filled(r.page("/agents/3")), "do", "save", "api_key", goodKey+"2")
	all = append(all, r.form("/agents/3", again, byHtmx))
	for i, a := range all {
		if strings.Contains(string(a.body), goodKey) {
			t.Errorf("answer %d has the key: %s", i, a)
		}
	}
	if !r.profile(3).HasKey {
		t.Error("no key was stored: the test shows nothing")
	}
	if strings.Contains(r.log.String(), goodKey) {
		t.Error("the key is in the log")
	}
}

func TestAnAgentThatSomeoneElseChangedIsNotOverwritten(t *testing.T) {
	r := agentStage(t)
	form := with(filled(r.page("/agents/2")), "do", "save", "description", "mine")
	if _, err := r.engine.UpdateProfile(context.Background(), 2, engine.ProfileFields{Description: ptr("theirs")}); err != nil {
		t.Fatal(err)
	}
	if a := r.form("/agents/2", form, byHtmx); a.status != 400 || !strings.Contains(string(a.body), "someone has changed this agent") {
		t.Errorf("got %s", a)
	}
	first := with(filled(r.page("/agents/2")), "do", "save", "description", "mine")
	a := r.form("/agents/2", first, byHtmx)
	stamp := findAll(parse(t, a), "id", "agent-stamp")
	if a.status != 200 || len(stamp) != 1 {
		t.Fatalf("got %s", a)
	}
	next := ""
	for _, x := range stamp[0].Attr {
		if x.Key == "value" {
			next = x.Val
		}
	}
	if a := r.form("/agents/2", with(first, "stamp", next, "description", "mine again"), byHtmx); a.status != 200 || r.profile(2).Description != "mine again" {
		t.Errorf("a second change from the same page: %s", a)
	}
}

func TestAgentsSayWhatIsWrongWithThem(t *testing.T) {
	r := agentStage(t)
	if _, err := r.engine.CreateProfile(context.Background(), engine.ProfileFields{Name: ptr("gpt"), Harness: ptr("openai"), KeyEnv: ptr("NO_SUCH_KEY")}); err != nil {
		t.Fatal(err)
	}
	doc := r.page("/agents")
	var told []string
	for _, n := range findAll(doc, "data-testid", "agent-misconfigured") {
		told = append(told, strings.Join(strings.Fields(textIn(n)), " "))
	}
	text := strings.Join(told, "|")
	for _, want := range []string{"harness-claude", "It needs a model.", "The variable NO_SUCH_KEY is not set"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q: %q", want, text)
		}
	}
	all := strings.Join(strings.Fields(textIn(doc)), " ")
	for _, want := range []string{"★ default", "Refused: it speaks protocol 0, this server 1", "1.2.3", "protocol 1", "/opt/harness-old", "Keeps its agents to: read, full."} {
		if !strings.Contains(all, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if a := r.form("/agents/rescan", nil, byHtmx); a.status != 204 {
		t.Errorf("look again: %s", a)
	}
	if !strings.Contains(string(r.do("GET", "/agents/2", nil).body), "This is the server's default agent") {
		t.Error("the default agent can be deleted")
	}
	if a := r.form("/agents/2/delete", nil, byHtmx); a.status != 400 {
		t.Errorf("deleting the default: %s", a)
	}
}

func TestAgentsThatAreNotThere(t *testing.T) {
	r := agentStage(t)
	for path, want := range map[string]int{"/agents/99": 404, "/agents/x": 404, "/agents/new?from=99": 404, "/agents/new?from=x": 404, "/agents/0": 404} {
		if a := r.do("GET", path, nil); a.status != want {
			t.Errorf("GET %s: %d", path, a.status)
		}
	}
	for _, path := range []string{"/agents/99", "/agents/99/delete", "/agents/99/test", "/agents/x"} {
		if a := r.form(path, url.Values{"do": {"save"}}, byHtmx); a.status != 404 {
			t.Errorf("POST %s: %s", path, a)
		}
	}
}
