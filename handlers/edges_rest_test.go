package handlers

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// The tests here are derived from the table of operations: a new route is tested
// the moment that it has a row.

// edgeRig has a started plan whose step 1 is claimed, so that there is something
// of each kind.
func edgeRig(t *testing.T) *rig {
	r := newRig(t)
	id := r.plan("a b:a c")
	r.start(id, plan.External)
	r.claim()
	return r
}

// eachRoute runs a test for every REST route of the table.
func eachRoute(t *testing.T, test func(t *testing.T, r *rig, o operation)) {
	r := edgeRig(t)
	for _, o := range table() {
		if o.doors.rest.path == "" {
			continue
		}
		t.Run(o.doors.rest.method+strings.ReplaceAll(o.doors.rest.path, "/", " "), func(t *testing.T) {
			r.t = t
			before := r.everything()
			test(t, r, o)
			if after := r.everything(); !bytes.Equal(before, after) {
				t.Errorf("something was changed:\n%s\n%s", before, after)
			}
		})
	}
}

// everything reads what refused requests must leave as it is.
func (r *rig) everything() []byte {
	r.t.Helper()
	var all []byte
	for _, path := range []string{"/api/plans", "/api/plans/1", "/api/plans/1/nodes/1", "/api/agents", "/api/plans/1/nodes/1/runs"} {
		all = append(append(all, r.do("GET", path, nil).body...), '\n')
	}
	return all
}

// there are values of path parameters that name something.
var there = map[string]string{"plan_id": "1", "node_id": "1", "run": "1", "agent_id": "2", "from": "1", "to": "2"}

// pathOf fills in a route's path: given values, and for the rest what is there.
func pathOf(o *operation, given map[string]string) string {
	return "/api" + wildcard.ReplaceAllStringFunc(o.doors.rest.path, func(p string) string {
		if v, ok := given[p[1:]]; ok {
			return v
		}
		if v, ok := there[p[1:]]; ok {
			return v
		}
		return "1"
	})
}

// plausible is a body that a route can read.
func plausible(o *operation) any {
	if o.doors.rest.method == "GET" || o.doors.rest.method == "DELETE" {
		return nil
	}
	body := map[string]any{}
	for _, f := range bodyFields(o) {
		if f.required {
			body[f.name] = plausibleValue(f)
		}
	}
	return body
}

func bodyFields(o *operation) []field {
	var list []field
	for _, f := range o.in.fields {
		if f.name != "" && f.param == "" {
			list = append(list, f)
		}
	}
	return list
}

func plausibleValue(f field) any {
	switch f.name {
	case "kind":
		return "agent"
	case "answer":
		return "allow"
	}
	switch t := f.typ; {
	case t == agentRefType || t.Kind() == reflect.Pointer:
		return nil
	case t.Kind() == reflect.String:
		return "x"
	case t.Kind() == reflect.Slice:
		return []any{}
	case t.Kind() == reflect.Bool:
		return true
	}
	return 1
}

func (o *operation) paramField(name string) *field {
	for i := range o.in.fields {
		if o.in.fields[i].param == name {
			return &o.in.fields[i]
		}
	}
	return nil
}

func wantRefusal(t *testing.T, what string, a answer, says string, codes ...int) {
	t.Helper()
	ok := false
	for _, code := range codes {
		ok = ok || a.status == code
	}
	if !ok || !strings.HasPrefix(string(a.body), `{"detail":"`) || !strings.Contains(a.detail(t), says) {
		t.Errorf("%s: got %s, want %d with %q", what, a, codes, says)
	}
}

func TestEveryRouteSaysThatSomethingIsNotThere(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *rig, o operation) {
		for _, name := range paramsOf(o.doors.rest.path) {
			missing := []string{"999999", "0", "-1"}
			if f := o.paramField(name); f != nil && f.typ.Kind() == reflect.String {
				missing = []string{"nobody", "999999", "%2e%2e", "a%00b", strings.Repeat("x", 5000)}
			}
			if o.name == "remove_edge" && name != "plan_id" || o.name == "list_runs" && name == "node_id" {
				// An edge that is not there is as good as removed; the runs of a
				// whole plan are kept under node 0.
				missing = missing[:0]
			}
			for _, value := range missing {
				path := pathOf(&o, map[string]string{name: value})
				wantRefusal(t, o.doors.rest.method+" "+clip(path), r.do(o.doors.rest.method, path, plausible(&o)), "", 404)
			}
		}
	})
}

func TestEveryRouteNamesAParameterThatIsNoNumber(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *rig, o operation) {
		for _, name := range paramsOf(o.doors.rest.path) {
			if f := o.paramField(name); f == nil || f.typ.Kind() == reflect.String {
				continue
			}
			for _, value := range []string{"abc", "1.5", "99999999999999999999", "1e400", "%20", "0x1", "null", "%C3%28"} {
				path := pathOf(&o, map[string]string{name: value})
				wantRefusal(t, o.doors.rest.method+" "+path, r.do(o.doors.rest.method, path, plausible(&o)), name+" must be a whole number", 422)
			}
		}
		for _, f := range o.in.fields {
			if f.query == "" || f.typ.Kind() == reflect.String {
				continue
			}
			path := pathOf(&o, nil) + "?" + f.query + "=["
			wantRefusal(t, o.doors.rest.method+" "+path, r.do(o.doors.rest.method, path, plausible(&o)), f.query+" must be", 422)
		}
	})
}

func TestEveryRouteRefusesMalformedBodies(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20_000)
	eachRoute(t, func(t *testing.T, r *rig, o operation) {
		if o.doors.rest.method == "GET" || o.doors.rest.method == "DELETE" {
			return
		}
		for _, body := range []string{`{`, `[1]`, `"x"`, `7`, `null`, `true`, `{"a":1}}`, `{"a":1}{"b":2}`, "\xff\xfe", `{'a':1}`, `{"a":tru`, deep, "{\"a\":\"\x01\"}", `{"a":1,}`, "title=x&y=1"} {
			a := r.do(o.doors.rest.method, pathOf(&o, nil), body)
			wantRefusal(t, clip(body), a, "", 400, 422)
		}
	})
}

func TestEveryRouteNamesAFieldOfTheWrongType(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *rig, o operation) {
		for _, f := range bodyFields(&o) {
			body, _ := plausible(&o).(map[string]any)
			body[f.name] = wrongFor(f)
			a := r.do(o.doors.rest.method, pathOf(&o, nil), body)
			wantRefusal(t, fmt.Sprint(f.name, "=", body[f.name]), a, f.name+" must be ", 422)
		}
	})
}

func TestEveryRouteNamesAFieldThatIsMissing(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *rig, o operation) {
		for _, f := range bodyFields(&o) {
			if !f.required {
				continue
			}
			body, _ := plausible(&o).(map[string]any)
			delete(body, f.name)
			wantRefusal(t, "without "+f.name, r.do(o.doors.rest.method, pathOf(&o, nil), body), f.name+" is required", 422)
		}
	})
}

// TestRoutesOfOursRefuseUnknownFields: older routes ignore them, as their clients
// expect.
func TestRoutesOfOursRefuseUnknownFields(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *rig, o operation) {
		body, ok := plausible(&o).(map[string]any)
		if !ok || !o.doors.rest.strict {
			return
		}
		body["bogus_field"] = 1
		wantRefusal(t, "an unknown field", r.do(o.doors.rest.method, pathOf(&o, nil), body), `unknown field "bogus_field"`, 422)
	})
}

// TestRoutesByHandSayWhatIsWrong does the same for the routes that have no row in
// the table: exports, patches, the stream.
func TestRoutesByHandSayWhatIsWrong(t *testing.T) {
	r := edgeRig(t)
	inTable, tried := map[string]bool{}, 0
	for _, o := range table() {
		inTable[o.name] = true
	}
	fill := func(path, name, value string) string {
		return regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(path, func(p string) string {
			if p == "{"+name+"}" {
				return value
			}
			return there[strings.Trim(p, "{}")]
		})
	}
	for path, actions := range newServer(r.engine, Options{}).describe().Paths {
		a := actions["get"]
		if a == nil || inTable[a.ID] {
			continue
		}
		for _, p := range a.Parameters {
			tried++
			switch {
			case p.In == "path":
				wantRefusal(t, a.ID, r.do("GET", fill(path, p.Name, "999999"), nil), "", 404)
				wantRefusal(t, a.ID, r.do("GET", fill(path, p.Name, "abc"), nil), p.Name+" must be a whole number", 422)
			case p.In == "query" && p.Schema.Type != "string":
				wantRefusal(t, a.ID, r.do("GET", fill(path, "", "")+"?"+p.Name+"=%5B", nil), p.Name+" must be", 422)
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d parameters were tried", tried)
	}
}
