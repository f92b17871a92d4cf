package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

func TestAReportHasEverythingButSecrets(t *testing.T) {
	const stored, inEnv, given = `sk-"stored"-<7f3a9c>`, "value-of-a-secret-variable", "token-of-the-server"
	const signs, hook = "signs-*what*-is-posted", "https://chat.example/services/T0/B0/xyz"
	t.Setenv("SOME_SECRET_THING", inEnv)
	var token string
	work := writing(map[string]string{"a.txt": "key = " + stored + "\n"})
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		token = path.Base(task.MCPURL)
		h.Emit(plugin.Text("it is "+stored+" and "+inEnv+" at http://x/mcp-agent/"+token+"/", ""))
		if _, err := work(ctx, task, h); err != nil {
			return plugin.Result{}, err
		}
		return plugin.Result{Text: "used " + stored + ", " + given + ", " + signs + " at " + hook}, nil
	}})
	o.NoSnapshots = false
	e := enginetest.Start(t, o)
	e.Hide(given)
	_, err := e.ChangeSettings(bg, engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{URL: p(hook), Enabled: p(false), Secret: p(signs)}}})
	must(t, err)
	e.SetAddress(1, func(token string) string { return "http://x/mcp-agent/" + token })
	_, err = e.CreateProfile(bg, engine.ProfileFields{Name: p("keyed"), Harness: p("mock"), Key: p(stored)})
	must(t, err)
	in := spec(t, "a b:a")
	in.Nodes[0].Files, in.Nodes[0].Agent, in.Nodes[1].Description = []string{"a.txt"}, "keyed", "never write "+given
	id := finished(t, e, in)
	r, err := e.PlanReport(bg, engine.ReportIn{Plan: id, Transcripts: true})
	must(t, err)
	step := r.Steps[ref(id, 1)]
	if len(step.Runs) != 1 || len(step.Events) == 0 || len(step.Diffs) != 1 || !strings.Contains(step.Diffs[0].Diff, "+key = [removed]") {
		t.Errorf("%d runs, %d entries, diffs %v", len(step.Runs), len(step.Events), step.Diffs)
	}
	all := fmt.Sprintf("%+v %+v", *r.Snapshot.Node(ref(id, 1)).Result, r.Snapshot.Node(ref(id, 2)).Description)
	for _, s := range r.Steps {
		all += fmt.Sprintf("%+v", *s)
		for _, ev := range s.Events {
			var any any
			must(t, json.Unmarshal(ev.Data, &any))
			all += fmt.Sprintf("%v %s", any, ev.Data)
		}
	}
	if token == "" || !strings.Contains(all, "/mcp-agent/[removed]/") {
		t.Errorf("the token %q is not replaced", token)
	}
	md, err := e.Export(bg, id, true)
	must(t, err)
	if !strings.Contains(md, "+key = [removed]") || !strings.Contains(md, "never write [removed]") {
		t.Errorf("nothing is replaced in the export:\n%s", md)
	}
	for _, secret := range []string{stored, inEnv, given, token, signs, hook} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in the report", secret)
		}
		if strings.Contains(md, secret) {
			t.Errorf("%q is in the export:\n%s", secret, md)
		}
	}
	short, err := e.PlanReport(bg, engine.ReportIn{Plan: id})
	must(t, err)
	if len(short.Steps[ref(id, 1)].Events) != 0 {
		t.Error("a report without transcripts has some")
	}
	_, err = e.PlanReport(bg, engine.ReportIn{Plan: 99})
	refused(t, err, plan.NotFound, "99")
}
