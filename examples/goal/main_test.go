package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clearbox is a stand-in that answers from a list of looks, the last for ever.
func clearbox(t *testing.T, looks ...view) (address string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		*asked = append(*asked, r.Method+" "+r.URL.Path+" "+body.String())
		var out any = object{"plan_id": 7}
		switch {
		case strings.Contains(body.String(), `"agent":"nobody"`):
			http.Error(w, `{"detail":"unknown agent profile 'nobody'"}`, http.StatusBadRequest)
			return
		case strings.HasSuffix(r.URL.Path, "/revisions"):
			out = object{"goal": object{"problems": []string{"no steps"}}}
		case r.Method == http.MethodGet:
			out = looks[0]
			if len(looks) > 1 {
				looks = looks[1:]
			}
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func look(status, approval string, nodes ...nodeView) view {
	return view{Status: status, Plan: planView{Approval: approval, Revision: 2}, Nodes: nodes}
}

func poster(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"--poll", "1ms"}, args...), &o, &e)
	return code, o.String(), e.String()
}

func TestAGoalIsAskedForApprovedFollowedAndProved(t *testing.T) {
	url, asked := clearbox(t, look("pending", "planning"), look("pending", "awaiting", nodeView{ID: 1, Title: "Handler", Status: "pending"}),
		look("failed", "approved", nodeView{ID: 1, Title: "Handler", Status: "failed", Attempts: 3, Error: "it did not pass\nmore"}, nodeView{ID: 2, Title: "Docs", Status: "running"}),
		look("failed", "approved", nodeView{ID: 1, Title: "Handler", Status: "failed", Attempts: 3}, nodeView{ID: 2, Title: "Docs", Status: "done", Attempts: 1}))
	dir := filepath.Join(t.TempDir(), "service")
	code, out, errs := poster(t, "--server", url+"/", "--agent", "someone", "--dir", dir, "--yes")
	if code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errs)
	}
	for _, want := range []string{url + "/plans/7", "Revision 2 with 1 steps waits for you", "7.1 failed, attempt 3  Handler: it did not pass\n", "7.2 done, attempt 1", "Plan 7 is failed.", "ok  \texample.com/notes"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	all := strings.Join(*asked, "\n")
	for _, want := range []string{`"check_command":"go test ./..."`, `POST /api/plans/7/approve {"revision":2,"start":true}`, `PUT /api/plans/7/agent {"agent":"someone"}`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q was not asked for:\n%s", want, all)
		}
	}
}

func TestWhatGoesWrongIsSaid(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	failing, _ := clearbox(t, look("pending", "planning_failed"))
	rejected, _ := clearbox(t, look("pending", "rejected"))
	hanging, _ := clearbox(t, look("pending", "awaiting"))
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"planning fails":     {[]string{"--server", failing, "--dir", t.TempDir()}, 1, "could not be made: no steps"},
		"it is rejected":     {[]string{"--server", rejected, "--dir", t.TempDir()}, 1, "was rejected"},
		"nobody approves":    {[]string{"--server", hanging, "--dir", t.TempDir(), "--timeout", "500ms"}, 1, "deadline exceeded"},
		"unknown agent":      {[]string{"--server", failing, "--agent", "nobody", "--dir", t.TempDir()}, 1, "unknown agent profile"},
		"nobody listens":     {[]string{"--server", "http://127.0.0.1:9", "--dir", t.TempDir()}, 1, "is it running?"},
		"a folder in use":    {[]string{"--dir", full}, 1, "is not empty"},
		"no service to copy": {[]string{"--repo", full, "--dir", t.TempDir()}, 1, "name the folder with --repo"},
		"a stray argument":   {[]string{"now"}, 2, `unexpected argument "now"`},
		"no time":            {[]string{"--poll", "0s"}, 2, "--poll"},
	} {
		if code, out, errs := poster(t, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit code %d, want %d with %q\n%s\n%s", name, code, c.code, c.want, out, errs)
		}
	}
}
