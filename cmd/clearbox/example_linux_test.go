package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const exampleRepo = "../../examples/fix-the-tests/repo"

// startModel starts the model of an example, until the test ends, and returns the
// address that it prints.
func startModel(t *testing.T, name string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program(t, name))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// scriptedModel starts the example's model behind a proxy that counts the
// requests with and without a key. It returns the base URL.
func scriptedModel(t *testing.T, key string) (base string, with, without *atomic.Int64) {
	t.Helper()
	model, err := url.Parse(startModel(t, "model"))
	if err != nil {
		t.Fatal(err)
	}
	with, without = &atomic.Int64{}, &atomic.Int64{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: model.Scheme, Host: model.Host})
	proxy.FlushInterval = -1
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") == "Bearer "+key {
			with.Add(1)
		} else {
			without.Add(1)
		}
		proxy.ServeHTTP(w, q)
	}))
	t.Cleanup(front.Close)
	return front.URL + model.Path, with, without
}

func TestTheExampleMendsARealLibrary(t *testing.T) {
	t.Parallel()
	const key = "sk-e2e-planted-6b1d0e94a7"
	base, with, without := scriptedModel(t, key)
	r := prepareRig(t, "--log-level", "debug", "--harness-dir", program(t, more), "--openai-base-url", base, "--openai-model", "scripted-model", "--openai-api-key-env", "EXAMPLE_API_KEY")
	r.env = []string{"EXAMPLE_API_KEY=" + key}
	r.restart()
	stream := r.listen(t)
	stop := r.spyOn(key)
	dir := filepath.Join(t.TempDir(), "library")
	cmd := exec.CommandContext(t.Context(), program(t, "fix-the-tests"), "--server", r.url(), "--agent", "openai", "--repo", exampleRepo,
		"--dir", dir, "--yes", "--poll", "100ms")
	cmd.Env = cleanEnv()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ok  \texample.com/timesheet") {
		t.Fatalf("%v\n%s", err, out)
	}
	s := stop()
	const id = 1
	v := r.plan(id)
	if v.Status != "done" || len(v.Nodes) != 8 {
		t.Fatalf("the plan is %s with %d steps", v.Status, len(v.Nodes))
	}
	checkTurns(t, v)
	r.checkResultsHandedOn(id, v)
	checkUserStep(t, v)
	r.checkEdits(id, v, dir)

	if with.Load() == 0 || without.Load() != 0 {
		t.Errorf("%d requests came with the key, %d without", with.Load(), without.Load())
	}
	if len(s.shown)+len(s.leaked) > 0 || s.seen["harness-openai"] == 0 || s.seen["go"] == 0 { // go is what its shells run
		t.Errorf("of %v the key is to be seen in %v %v", s.seen, s.shown, s.leaked)
	}
	checkAbsent(t, key, "an answer", r.crawl(id))
	checkAbsent(t, key, "the stream", stream.all())
	checkAbsent(t, key, "the log", r.log()+r.printed()+string(out))
	if found := append(filesWith(r.dir, key), filesWith(dir, key)...); len(found) > 0 {
		t.Errorf("the key is in %v", found)
	}
}

// checkTurns makes sure that the steps which declare the same file were never at
// work at the same time. There is one such pair.
func checkTurns(t *testing.T, v planView) {
	t.Helper()
	pairs := 0
	for i, a := range v.Nodes {
		for _, b := range v.Nodes[i+1:] {
			if len(a.Files) == 0 || !slices.Equal(a.Files, b.Files) {
				continue
			}
			pairs++
			if a.StartedAt < b.FinishedAt && b.StartedAt < a.FinishedAt {
				t.Errorf("%q (%f to %f) and %q (%f to %f) changed %v at once",
					a.Title, a.StartedAt, a.FinishedAt, b.Title, b.StartedAt, b.FinishedAt, a.Files)
			}
		}
	}
	if pairs != 1 {
		t.Errorf("%d pairs of steps share a file, want 1", pairs)
	}
}

// checkResultsHandedOn makes sure that the prompt of a step has the results that
// it asked for.
func (r *rig) checkResultsHandedOn(id int, v planView) {
	r.t.Helper()
	handed := 0
	for _, n := range v.Nodes {
		var page struct {
			Node struct {
				ResultsFrom []int `json:"results_from"`
			}
		}
		r.get(fmt.Sprintf("/api/plans/%d/nodes/%d", id, n.NodeID), &page)
		if len(page.Node.ResultsFrom) == 0 {
			continue
		}
		var run runView
		r.get(fmt.Sprintf("/api/plans/%d/nodes/%d/runs/1", id, n.NodeID), &run)
		for _, from := range page.Node.ResultsFrom {
			handed++
			if text := v.Nodes[from-1].Result; text == "" || !strings.Contains(run.Prompt, text) {
				r.t.Errorf("the prompt of %q lacks the result of %q: %s", n.Title, v.Nodes[from-1].Title, text)
			}
		}
	}
	if handed == 0 {
		r.t.Error("no step asked for a result")
	}
}

// checkUserStep makes sure that what comes after the step of a person waited for
// that person.
func checkUserStep(t *testing.T, v planView) {
	t.Helper()
	at := slices.IndexFunc(v.Nodes, func(n nodeView) bool { return n.Kind == "user" })
	if at < 1 || at+1 >= len(v.Nodes) {
		t.Fatal("there is no step of a person, or nothing around it")
	}
	before, user, after := v.Nodes[at-1], v.Nodes[at], v.Nodes[at+1]
	if user.Status != "done" || user.Result != "Yes, the changes are right." {
		t.Errorf("the person's step is %s: %s", user.Status, user.Result)
	}
	if before.FinishedAt == 0 || user.FinishedAt < before.FinishedAt || after.StartedAt < user.FinishedAt {
		t.Errorf("%q ended at %f, the person agreed at %f, %q began at %f", before.Title, before.FinishedAt, user.FinishedAt, after.Title, after.StartedAt)
	}
}

// checkEdits makes sure that the library is what comes of the tool calls in the
// transcripts, applied in their order to what was there; and that each step
// touched only what it declared.
func (r *rig) checkEdits(id int, v planView, dir string) {
	r.t.Helper()
	var calls []event
	for _, n := range v.Nodes {
		if n.Kind == "user" {
			continue
		}
		for _, e := range r.transcript(id, n.NodeID, 1) {
			if e.Kind == "tool_use" && (e.Data["name"] == "edit_file" || e.Data["name"] == "write_file") {
				if path := e.Data["input"].(object)["path"].(string); !slices.Contains(n.Files, path) {
					r.t.Errorf("%q changed %s, which it had not declared", n.Title, path)
				}
				calls = append(calls, e)
			}
		}
	}
	slices.SortFunc(calls, func(a, b event) int { return int(a.ID - b.ID) })
	want := filesOf(r.t, exampleRepo)
	original := maps.Clone(want)
	for _, e := range calls {
		in := e.Data["input"].(object)
		path := in["path"].(string)
		if text, ok := in["content"].(string); ok {
			want[path] = text
		} else {
			want[path] = strings.Replace(want[path], in["old_string"].(string), in["new_string"].(string), 1)
		}
	}
	if diff := cmp.Diff(want, filesOf(r.t, dir)); diff != "" {
		r.t.Errorf("the library is not what the tools made of it (-want +got):\n%s", diff)
	}
	if len(calls) < 5 || maps.Equal(original, want) {
		r.t.Errorf("only %d calls changed anything", len(calls))
	}
}

// filesOf reads the files of a folder, what git keeps left out.
func filesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
	}
	return files
}
