package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestRESTSettings(t *testing.T) {
	r := newRig(t)
	const planted = "planted-secret-0123456789"
	in := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }))
	t.Cleanup(in.Close)
	id := r.plan("a")
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
	waits := r.plan("b")
	vars := []string{"$IN", in.URL, "$P", fmt.Sprint(id), "$W", fmt.Sprint(waits)}
	r.play(t, vars, []step{
		{"nothing is set", "GET", "/api/settings", nil, 200, []string{`"webhooks":[]`, `"keep_days":null`, `"keep_gb":null`, `"automatic":false`,
			`"notifications":{"events":["plan_done","plan_failed","waiting"]}`}, nil},
		{"a webhook", "PATCH", "/api/settings", `{"webhooks":[{"url":"$IN/x","events":["waiting","plan_done"],"secret":"` + planted + `"}]}`, 200,
			[]string{`"id":1`, `"url":"$IN/x"`, `"events":["plan_done","waiting"]`, `"enabled":true`, `"has_secret":true`, `"last_delivery":null`, `"waiting":0`}, []string{planted}},
		{"test it", "POST", "/api/settings/webhooks/1/test", nil, 200, []string{`"event":"test"`, `"delivered":true`, `"status":202`, `"error":null`, `"attempts":1`}, nil},
		{"test another", "POST", "/api/settings/webhooks/9/test", nil, 404, []string{"webhook 9"}, nil},
		{"null keeps a secret", "PATCH", "/api/settings", `{"webhooks":[{"id":1,"secret":null,"enabled":false}]}`, 200, []string{`"has_secret":true`, `"enabled":false`,
			`"last_delivery":{"id":"`}, []string{planted}},
		{"an empty one clears it", "PATCH", "/api/settings", `{"webhooks":[{"id":1,"secret":""}]}`, 200, []string{`"has_secret":false`}, nil},
		{"a secret of another type is not repeated", "PATCH", "/api/settings", `{"webhooks":[{"id":1,"secret":{"x":"` + planted + `"}}]}`, 422, []string{"webhooks[0].secret"}, []string{planted}},
		{"unknown field", "PATCH", "/api/settings", `{"webhook":[]}`, 422, []string{"webhook", "unknown field"}, nil},
		{"unknown field inside", "PATCH", "/api/settings", `{"webhooks":[{"uri":"x"}]}`, 422, []string{"webhooks[0].uri"}, nil},
		{"no list", "PATCH", "/api/settings", `{"webhooks":{}}`, 422, []string{"webhooks must be a list"}, nil},
		{"bad URL", "PATCH", "/api/settings", `{"webhooks":[{"url":"nowhere"}]}`, 400, []string{"webhooks[0].url must be a whole URL"}, nil},
		{"zero days", "PATCH", "/api/settings", `{"retention":{"keep_days":0}}`, 400, []string{"retention.keep_days must be a positive number; null clears it"}, nil},
		{"retention", "PATCH", "/api/settings", `{"retention":{"keep_days":30,"keep_gb":1.5}}`, 200, []string{`"keep_days":30`, `"keep_gb":1.5`}, nil},
		{"null clears", "PATCH", "/api/settings", `{"retention":{"keep_gb":null}}`, 200, []string{`"keep_days":30`, `"keep_gb":null`}, nil},
		{"null clears all of it", "PATCH", "/api/settings", `{"retention":null}`, 200, []string{`"keep_days":null`, `"keep_gb":null`, `"automatic":false`}, nil},
		{"retention again", "PATCH", "/api/settings", `{"retention":{"keep_days":30}}`, 200, []string{`"keep_days":30`}, nil},
		{"notifications", "PATCH", "/api/settings", `{"notifications":{"events":["waiting"]}}`, 200, []string{`"notifications":{"events":["waiting"]}`}, nil},
		{"notifications as at first", "PATCH", "/api/settings", `{"notifications":{"events":null}}`, 200, []string{`"events":["plan_done","plan_failed","waiting"]`}, nil},
		{"all webhooks removed", "PATCH", "/api/settings", `{"webhooks":[]}`, 200, []string{`"webhooks":[]`, `"keep_days":30`}, nil},

		{"preview by what is set", "GET", "/api/settings/retention/preview", nil, 200, []string{`"plans":[]`, `"bytes":0`, `"stay_plans":1`}, nil},
		{"preview by another", "GET", "/api/settings/retention/preview?keep_gb=1e-9", nil, 200, []string{`"plan_id":$P`, `"stay_plans":0`}, nil},
		{"preview by nonsense", "GET", "/api/settings/retention/preview?keep_days=-1", nil, 400, []string{"keep_days"}, nil},
		{"preview by no number", "GET", "/api/settings/retention/preview?keep_days=x", nil, 422, []string{"keep_days"}, nil},
		{"apply to a plan that is not over", "POST", "/api/settings/retention/apply", `{"plan_ids":[$P,$W]}`, 400, []string{"plan $W is not over"}, nil},
		{"apply to an unknown plan", "POST", "/api/settings/retention/apply", `{"plan_ids":[99]}`, 400, []string{"99"}, nil},
		{"apply to nothing", "POST", "/api/settings/retention/apply", `{}`, 422, []string{"plan_ids is required"}, nil},
		{"the plan is whole", "GET", "/api/plans/$P", nil, 200, []string{`"trimmed_at":null`}, nil},
		{"apply", "POST", "/api/settings/retention/apply", `{"plan_ids":[$P]}`, 200, []string{`"removed"`}, nil},
		{"the plan is trimmed", "GET", "/api/plans/$P", nil, 200, []string{`"result":"did`}, []string{`"trimmed_at":null`}},
		{"its transcript is gone", "GET", "/api/plans/$P/nodes/1", nil, 200, []string{`"events":[]`}, nil},
	})
	if strings.Contains(r.log.String(), planted) || strings.Contains(r.log.String(), in.URL+"/x") {
		t.Error("the log has a secret or the address of a webhook")
	}
}
