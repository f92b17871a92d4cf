package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
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

func TestChangesOfEveryRunCanBeHad(t *testing.T) {
	s := newStudio(t)
	id := s.submit("")
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	s.write("main.go", "package other\n")
	if err := s.engine.ReworkNode(context.Background(), plan.Ref{Plan: id, Node: 1}, "again"); err != nil {
		t.Fatal(err)
	}
	enginetest.Until(t, s.engine, id, "done twice", func(n *plan.Snapshot) bool { return n.Node(plan.Ref{Plan: id, Node: 1}).Attempts == 2 })
	for path, want := range map[string]string{
		"/plans/1/nodes/1/patch?path=main.go":            "-package other\n",
		"/plans/1/nodes/1/patch?run=1&path=main.go":      "-import \"fmt\"\n",
		"/api/plans/1/nodes/1/runs/1/patch?path=main.go": "-import \"fmt\"\n",
		"/api/plans/1/nodes/1/runs/1/patch":              "+another line of a long file\n",
	} {
		if a := s.do("GET", path, nil); a.status != 200 || !strings.Contains(string(a.body), want) || strings.Contains(string(a.body), "<html") {
			t.Errorf("GET %s has no %q: %.300s", path, want, a)
		}
	}
	if a := s.do("GET", "/plans/1/nodes/1/patch?run=x", nil); a.status != 400 {
		t.Errorf("run=x: %d", a.status)
	}
	if text := textAt(t, s.page("/plans/1/nodes/1?tab=changes&run=1"), "past-run"); !strings.Contains(text, "Run 1 of 2, not the newest.") {
		t.Errorf("an earlier run says of itself %q", text)
	}
	if text := textAt(t, s.page("/plans/1/nodes/1?tab=changes"), "changes"); strings.Contains(text, "not the newest") {
		t.Error("the newest run is said to be another")
	}
	if text := textAt(t, s.page("/plans/1/nodes/1?tab=changes&run=1"), "changes"); !strings.Contains(text, "Run 1 Done Run 2 Done") || !strings.Contains(text, "import \"fmt\"") {
		t.Errorf("the first run: %.600s", text)
	}
	run := s.want(200, "GET", "/api/plans/1/nodes/1/runs/1", nil)
	if tree, _ := run["base_tree"].(string); tree == "" || fmt.Sprint(run["base_writers"]) != "[]" {
		t.Errorf("base %v, writers %v", run["base_tree"], run["base_writers"])
	}
}

func TestAFindingIsMadeAStepFromThePage(t *testing.T) {
	s := newStudio(t)
	id := s.submit("")
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	s.letGo <- struct{}{}
	if _, err := s.engine.Review(context.Background(), plan.Ref{Plan: id, Node: 1}, "critic"); err != nil {
		t.Fatal(err)
	}
	steps := findAll(s.page("/plans/1/nodes/1?tab=review"), "data-testid", "follow-up")
	if len(steps) != 2 {
		t.Fatalf("%d findings can be made steps", len(steps))
	}
	a := s.form("/plans/1/nodes/1/follow", url.Values{"finding": {"`main.go:9` writes to standard error"}}, byHtmx)
	if a.status != 204 || a.header.Get("HX-Redirect") != "/plans/1/nodes/2" {
		t.Fatalf("follow up: %v %s", a.header, a)
	}
	enginetest.Until(t, s.engine, id, "the new step is done", func(n *plan.Snapshot) bool { return n.Node(plan.Ref{Plan: id, Node: 2}).State == plan.Done })
	node := s.want(200, "GET", "/api/plans/1/nodes/2", nil)["node"].(map[string]any)
	if node["title"] != "Put right: main.go:9 writes to standard error" || fmt.Sprint(node["files"]) != "[data.bin long.txt main.go]" {
		t.Errorf("the step is %v, files %v", node["title"], node["files"])
	}
	made := s.want(200, "POST", "/api/plans/1/nodes/1/follow-up", `{"finding":"x","title":"By REST"}`)
	if made["title"] != "By REST" {
		t.Errorf("by REST: %v", made)
	}
	s.want(422, "POST", "/api/plans/1/nodes/1/follow-up", `{"findings":"x"}`)
}

// sendFile posts the form of a new plan with a file.
func (r *rig) sendFile(name, text string, fields map[string]string) answer {
	r.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if name != "" {
		f, err := w.CreateFormFile("file", name)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprint(f, text)
	}
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	return r.do("POST", "/plans/new/file", b.String(), "Content-Type: "+w.FormDataContentType(), byHtmx)
}

func TestATemplateGoesOutAndComesBackIn(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	r.want(200, "POST", "/api/plans", fmt.Sprintf(`{"title":"T: \"x\"","working_directory":%q,"max_parallel":2,"nodes":[{"key":"one","title":"1.10","description":"two\nlines","files":["a"]},
		{"key":"b","title":"B","kind":"user","results_from":["one"]}],"edges":[["one","b"]]}`, dir))
	out := r.do("GET", "/api/plans/1/export.yaml?download=1", nil)
	if out.status != 200 || out.header.Get("Content-Disposition") != `attachment; filename="plan-1.yaml"` || !strings.Contains(string(out.body), "description: |-\n      two\n      lines\n") {
		t.Fatalf("export: %v %s", out.header, out)
	}
	first := r.do("GET", "/api/plans/1/export.json", nil)
	for i, send := range []func() answer{
		func() answer {
			return r.sendFile("plan.yaml", string(out.body), map[string]string{"working_directory": dir})
		},
		func() answer {
			return r.sendFile("plan.json", string(first.body), map[string]string{"working_directory": dir})
		},
		func() answer {
			return r.sendFile("", "", map[string]string{"working_directory": dir, "text": string(out.body)})
		},
	} {
		a := send()
		if want := fmt.Sprintf("/plans/%d", i+2); a.status != 204 || a.header.Get("HX-Redirect") != want {
			t.Fatalf("%d: %q %s", i, a.header.Get("HX-Redirect"), a.body)
		}
		if again := r.do("GET", fmt.Sprintf("/api/plans/%d/export.json", i+2), nil); string(again.body) != string(first.body) {
			t.Errorf("%d came back as\n%s\nand went out as\n%s", i, again.body, first.body)
		}
	}
	for name, c := range map[string]struct {
		a        answer
		at, text string
	}{
		"nothing":      {r.sendFile("", "", nil), "#new-file-error", "choose a file"},
		"no folder":    {r.sendFile("p.yaml", "title: x\n", nil), "#new-dir-error", "working_directory"},
		"no plan":      {r.sendFile("p.yaml", "- 1\n", nil), "#new-file-error", "p.yaml:1"},
		"a bad field":  {r.sendFile("p.yaml", "title: x\nnodes:\n  - key: a\n    titel: y\n", map[string]string{"working_directory": dir}), "#new-file-error", "p.yaml:4"},
		"a bad agent":  {r.sendFile("p.yaml", "title: x\nnodes:\n  - key: a\n    title: y\n    agent: nobody\n", map[string]string{"working_directory": dir}), "#new-file-error", "p.yaml:5"},
		"broken JSON":  {r.sendFile("p.json", "{\"title\": ", nil), "#new-file-error", "ends in the middle"},
		"not a number": {r.sendFile("p.yaml", "title: x\nmax_parallel: many\n", map[string]string{"working_directory": dir}), "#new-file-error", "p.yaml:2"},
	} {
		if c.a.status < 400 || c.a.status >= 500 || c.a.header.Get("HX-Retarget") != c.at || !strings.Contains(html.UnescapeString(string(c.a.body)), c.text) {
			t.Errorf("%s: %d at %q: %s", name, c.a.status, c.a.header.Get("HX-Retarget"), c.a.body)
		}
	}
	if n := len(findAll(r.page("/plans/new?by=file"), "id", "new-file")); n != 1 {
		t.Errorf("the page has %d places for a file", n)
	}
}

// nastyText is a text that does something wherever it is taken for markup.
const nastyText = `"><script>document.title='owned'</script><img src=x onerror="document.title='owned'"></style></svg><iframe src=/></iframe>` +
	`<a href="javascript:alert(1)">x</a> [y](javascript:alert(2)) ![z](http://127.0.0.1:9/z.png) ` + "</td></table>'\"\u202e"

// hostilePlan runs a plan all of whose texts are nastyText, and returns its report.
func hostilePlan(t *testing.T) (*rig, string) {
	dir := t.TempDir()
	input, err := json.Marshal(map[string]string{"command": nastyText, nastyText: "x"})
	if err != nil {
		t.Fatal(err)
	}
	work := func(_ context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		h.Emit(plugin.Text(nastyText, ""))
		h.Emit(plugin.ToolUse("t1", nastyText, input, ""))
		h.Emit(plugin.ToolResult("t1", nastyText, true, ""))
		if err := os.WriteFile(task.WorkDir+"/a.html", []byte(nastyText+"\n"), 0o644); err != nil {
			return plugin.Result{}, err
		}
		return plugin.Result{Text: "VERDICT: concerns\nSUMMARY: " + nastyText + "\nFINDINGS:\n- " + nastyText}, nil
	}
	r := newRigWith(t, rigOptions{snapshots: true, agents: map[string]enginetest.Agent{"mock": work}, http: Options{}})
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "T " + strings.TrimSuffix(nastyText, "\u202e"), Description: nastyText, WorkingDirectory: dir}, Nodes: []engine.NodeSpec{
		{Key: "a", Title: "Step " + nastyText, Description: nastyText, Files: []string{"a.html"}, AcceptanceCriteria: []string{nastyText}}, {Key: "b", Title: "B", ResultsFrom: []string{"a"}}}, Edges: [][]string{{"a", "b"}}}
	out, err := r.engine.SubmitPlan(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	r.start(out.PlanID, plan.Builtin)
	enginetest.Until(t, r.engine, out.PlanID, "done", enginetest.Status(plan.StatusDone))
	if _, err := r.engine.Review(context.Background(), plan.Ref{Plan: out.PlanID, Node: 1}, "mock"); err != nil {
		t.Fatal(err)
	}
	a := r.do("GET", "/api/plans/1/export.html", nil)
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !strings.Contains(a.header.Get("Content-Security-Policy"), "sandbox") {
		t.Fatalf("report: %v %.300s", a.header, a)
	}
	return r, string(a.body)
}

func TestAReportIsWholeAndInert(t *testing.T) {
	_, text := hostilePlan(t)
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	ids, targets := map[string]int{}, []string{}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			switch n.Data {
			case "script", "img", "iframe", "link", "object", "form", "button", "input", "base":
				t.Errorf("the report has a %s", n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style", strings.HasPrefix(a.Key, "hx-"):
					t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
				case a.Key == "id":
					ids[a.Val]++
				case a.Key == "href" && n.Data == "a":
					if strings.HasPrefix(a.Val, "#") {
						targets = append(targets, a.Val[1:])
					} else if !strings.HasPrefix(a.Val, "http") {
						t.Errorf("a link leads to %q", a.Val)
					}
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(doc)
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements have the id %s", n, id)
		}
	}
	for _, id := range targets {
		if ids[id] == 0 {
			t.Errorf("a link leads to #%s, which is not there", id)
		}
	}
	if len(targets) < 4 {
		t.Errorf("there are %d links within the report", len(targets))
	}
	words := textIn(doc)
	for _, want := range []string{"Step \"><script>", "Result", "Review: concerns", "Transcript of run 1", "a.html", "+1", "Run 1", "Keys and tokens", "foreignobject"} {
		if !strings.Contains(words, want) && !strings.Contains(text, want) {
			t.Errorf("the report does not have %q", want)
		}
	}
}

func TestAReportIsAskedForAsItIsWanted(t *testing.T) {
	r, whole := hostilePlan(t)
	short := r.do("GET", "/api/plans/1/export.html?transcripts=false&download=1", nil)
	if short.status != 200 || len(short.body) >= len(whole) || strings.Contains(string(short.body), "Transcript of run") || short.header.Get("Content-Disposition") != `attachment; filename="plan-1.html"` {
		t.Errorf("without transcripts: %d of %d bytes, %v", len(short.body), len(whole), short.header)
	}
	for path, status := range map[string]int{"/api/plans/9/export.html": 404, "/api/plans/x/export.html": 422, "/api/plans/1/export.html?transcripts=maybe": 422,
		"/api/plans/9/export.json": 404, "/api/plans/x/export.yaml": 422} {
		if a := r.do("GET", path, nil); a.status != status {
			t.Errorf("GET %s: %d, want %d", path, a.status, status)
		}
	}
}

func reportAndDiffs(t *testing.T, b *browser) {
	r, text := hostilePlan(t)
	file := t.TempDir() + "/report.html"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := b.tab(t, r.url)
	p.ignore("sandboxed") // what it refuses to run is told on the console
	for _, at := range []string{"file://" + file, r.url + "/api/plans/1/export.html"} {
		p.base = ""
		p.open(at)
		p.until("the report is there", `document.querySelectorAll('.report-step').length === 2 && document.title.startsWith('T ')`)
		p.until("the graph is drawn", `document.querySelector('.report-graph svg foreignObject .box').getBoundingClientRect().width > 50`)
		if got := p.eval(`performance.getEntriesByType('resource').length`); fmt.Sprint(got) != "0" {
			t.Errorf("%s loaded %v things", at, got)
		}
	}
	p.shoot("report")
	p.base = r.url
	p.open("/plans/1/nodes/1?tab=changes")
	p.click(".layout-switch a:not(.on)")
	p.until("the diff stands side by side", `document.querySelector('#node-changes-split table.d-split') && location.search.includes('diff=split')`)
	p.eval(`(navigator.clipboard.writeText = (t) => { window.copied = t; return Promise.resolve(); }, true)`)
	p.click("#node-changes-split [data-testid=copy-patch]")
	p.until("the patch is copied", `window.copied?.startsWith('diff --git a/a.html')`)
}
