package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// crawl reads every answer and page that tells of a plan.
func (r *rig) crawl(id int) string {
	r.t.Helper()
	paths := []string{"/api/health", "/api/plans", "/api/agents", "/api/harnesses", "/api/questions", "/", "/plans", "/agents", "/connect",
		"/api/settings", "/api/agents/spend", "/api/openapi.json", "/metrics", "/settings", "/inbox", "/plans/new"}
	for _, of := range []string{"/api/plans/%d", "/plans/%d", "/plans/%d?view=timeline", "/api/plans/%d/revisions", "/api/plans/%d/export.md", "/api/plans/%d/export.html",
		"/api/plans/%d/export.json", "/api/plans/%d/export.yaml"} {
		paths = append(paths, fmt.Sprintf(of, id))
	}
	for _, a := range r.agents() {
		paths = append(paths, fmt.Sprintf("/agents/%d", a), fmt.Sprintf("/agents/new?from=%d", a), fmt.Sprintf("/api/agents/%d/uses", a))
	}
	for _, n := range r.plan(id).Nodes {
		api, page := fmt.Sprintf("/api/plans/%d/nodes/%d", id, n.NodeID), fmt.Sprintf("/plans/%d/nodes/%d", id, n.NodeID)
		paths = append(paths, api, api+"/context", api+"/runs", page, page+"/full", page+"/prompt")
		for _, run := range r.runs(id, n.NodeID) {
			paths = append(paths, fmt.Sprintf("%s/runs/%d", api, run.Run), fmt.Sprintf("%s/runs/%d/events", api, run.Run),
				fmt.Sprintf("%s/runs/%d/diffs", api, run.Run), fmt.Sprintf("%s/runs/%d/patch", api, run.Run))
		}
	}
	var all strings.Builder
	for _, path := range paths {
		status, b, err := r.ask(http.MethodGet, path, nil)
		nothing := status == http.StatusNotFound && strings.HasSuffix(path, "/patch") // of a run that changed nothing
		if err != nil || status != http.StatusOK && !nothing {
			r.t.Errorf("%s: %d %v", path, status, err)
		}
		fmt.Fprintf(&all, "%s\n%s\n", path, b)
	}
	return all.String()
}

// agents are the numbers of all agents.
func (r *rig) agents() (ids []int) {
	var list []struct{ ID int }
	r.get("/api/agents", &list)
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

// checkAbsent makes sure that a secret is not in a text.
func checkAbsent(t testing.TB, secret, what, text string) {
	t.Helper()
	if at := strings.Index(text, secret); at >= 0 {
		t.Errorf("the key is in %s: …%s…", what, text[max(0, at-300):min(len(text), at+100)])
	}
}

// filesWith returns the files below a folder that a secret is in.
func filesWith(dir, secret string) []string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(secret)) {
				found = append(found, path)
			}
		}
		return nil // what vanishes meanwhile holds nothing
	})
	return found
}

// spy looks again and again which processes but the server can be seen to have a
// secret, and which files of open runs.
type spy struct {
	seen   map[string]int // processes of the rig, by the name of their program
	shown  []string       // those with the secret
	leaked []string       // files with it
}

// spyOn starts one; the returned function ends it.
func (r *rig) spyOn(secret string) (stop func() *spy) {
	s := &spy{seen: map[string]int{}}
	own, _ := readProcess(r.pid())
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			s.look(r, own, secret)
			select {
			case <-end:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() *spy {
		close(end)
		<-done
		return s
	}
}

func (s *spy) look(r *rig, own process, secret string) {
	for _, p := range processes() {
		if p.pid == own.pid || p.args == own.args { // a child on its way to another program shows the server's
			continue
		}
		if strings.Contains(p.args, secret) || strings.Contains(strings.Join(p.env, "\n"), secret) {
			s.shown = append(s.shown, p.String())
		}
		if strings.HasPrefix(p.runFolder(), r.dir) {
			s.seen[filepath.Base(p.exe)]++
		}
	}
	s.leaked = append(s.leaked, filesWith(filepath.Join(r.dir, "runs"), secret)...)
}

func TestAKeyThatIsPostedIsNeverShownAgain(t *testing.T) {
	t.Parallel()
	const key, hookSecret = "sk-e2e-literal-0f9c2b71d5", "signs-what-is-posted-5d17b2c9f0"
	folder := t.TempDir()
	drop(t, "harness-stranger", folder)
	r := newRig(t, "--mock", "--log-level", "debug", "--harness-dir", folder)
	stream := r.listen(t)
	var answers strings.Builder
	send := func(method, path, body string, want int) {
		t.Helper()
		q, err := http.NewRequest(method, r.url()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want {
			t.Errorf("%s %s: %s, want %d: %s %v", method, path, res.Status, want, b, err)
		}
		answers.Write(b)
	}
	send("POST", "/api/harnesses/rescan", ``, 200)
	send("POST", "/api/agents", `{"name":"keyed","harness":"stranger","api_key":"`+key+`"}`, 200)
	send("POST", "/api/agents", `{"name":"keyed","harness":"stranger","api_key":"`+key+`"}`, 400)
	send("POST", "/api/agents", `{"name":"other","harness":"nowhere","api_key":"`+key+`"}`, 400)
	send("POST", "/api/agents", `{"name":"other","harness":"mock","api_key":["`+key+`"]}`, 422)
	send("POST", "/api/agents", `{"name":"other","harness":"mock","api_key":"`+key, 422)
	var agents []struct {
		ID     int
		Name   string
		HasKey bool `json:"has_api_key"`
	}
	r.get("/api/agents", &agents)
	keyed := agents[len(agents)-1]
	if keyed.Name != "keyed" || !keyed.HasKey {
		t.Fatalf("the profile is %+v", keyed)
	}
	path := fmt.Sprintf("/api/agents/%d", keyed.ID)
	send("PATCH", path, `{"api_key":"`+key+`","description":"with a key"}`, 200)
	send("PATCH", path, `{"api_key":"`+key+`","capability":"fly"}`, 400)
	send("POST", path+"/test", ``, 200)
	send("GET", "/api/agents?api_key="+key, ``, 200)
	send("POST", "/api/agents/test", `{"name":"draft","harness":"stranger","api_key":"`+key+`"}`, 200)
	send("POST", path+"/test", `{"api_key":"`+key+`","capability":"fly"}`, 400)
	hook := httptest.NewServer(http.NotFoundHandler()) // each delivery fails, and is told of
	t.Cleanup(hook.Close)
	send("PATCH", "/api/settings", `{"webhooks":[{"url":"`+hook.URL+`","secret":"`+hookSecret+`"}]}`, 200)
	send("PATCH", "/api/settings", `{"webhooks":[{"url":"`+hook.URL+`","secret":"`+hookSecret+`","events":["fly"]}]}`, 400)
	send("PATCH", "/api/settings", `{"webhooks":[{"url":"`+hook.URL+`","secret":["`+hookSecret+`"]}]}`, 422)
	send("POST", "/api/settings/webhooks/1/test", ``, 200)

	g := graph{WorkingDirectory: t.TempDir(), Nodes: []node{{Key: "a", Title: "leak", Agent: "keyed"}}}
	stop := r.spyOn(key)
	id := r.submit(g)
	r.begin(id)
	r.awaitText(id, 1, 1, "waiting")
	r.kill()
	r.restart() // and this one learns the key anew
	stream.moved(r.url())
	touch(t, g.WorkingDirectory, "go")
	v := r.awaitStep(id, 1, "done")
	if !strings.Contains(v.Result, `"Secret":true`) {
		t.Errorf("the harness did not get its key: %s", v.Result)
	}
	if cause := r.runs(id, 1)[0].Cause; !strings.Contains(cause, "exited with code 9") || !strings.Contains(cause, "my key is ") {
		t.Errorf("the step was interrupted by: %s", cause)
	}
	if s := stop(); len(s.shown) > 0 || s.seen["harness-stranger"] == 0 {
		t.Errorf("of %v the key is to be seen in %v", s.seen, s.shown)
	}
	told := answers.String() + r.crawl(id)
	for _, secret := range []string{key, hookSecret} {
		checkAbsent(t, secret, "an answer", told)
		checkAbsent(t, secret, "the stream", stream.all())
		checkAbsent(t, secret, "the log", r.log()+r.printed())
		if len(filesWith(r.dir, secret)) == 0 {
			t.Error("a secret is not even where it has to be: this test looks in the wrong places")
		}
	}
}
