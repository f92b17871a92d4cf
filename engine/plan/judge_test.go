package plan

import (
	"strings"
	"testing"
)

func TestJudgementsAreCheckedForSense(t *testing.T) {
	met := `{"criteria":[{"number":1,"verdict":"met","evidence":"a"},{"number":2,"verdict":"Met"}],"verdict":"pass","reason":"all there"}`
	for name, c := range map[string]struct {
		reply  string
		passed bool
		fault  string // part of the error
	}{
		"passed":                    {met, true, ""},
		"after some talk, fenced":   {"I looked {at} it.\n```json\n" + met + "\n```\nDone.", true, ""},
		"the last object counts":    {met + "\n" + strings.Replace(strings.Replace(met, `"verdict":"met"`, `"verdict":"unmet"`, 1), "pass", "fail", 1), false, ""},
		"failed for another reason": {strings.Replace(met, `"pass"`, `"fail"`, 1), false, ""},
		"prose":                     {"It is fine.", false, "no JSON object"},
		"a broken object":           {`{"criteria": [`, false, "no JSON object"},
		"another shape":             {`{"criteria": "all"}`, false, "does not parse"},
		"no verdict":                {`{"criteria":[]}`, false, "pass or fail"},
		"a criterion left out":      {`{"criteria":[{"number":1,"verdict":"met"}],"verdict":"pass"}`, false, "criterion 2 is not judged"},
		"a criterion twice":         {`{"criteria":[{"number":1,"verdict":"met"},{"number":1,"verdict":"met"}],"verdict":"pass"}`, false, "judged twice"},
		"one that is not there":     {`{"criteria":[{"number":3,"verdict":"met"}],"verdict":"pass"}`, false, "no criterion 3"},
		"an unknown verdict":        {`{"criteria":[{"number":1,"verdict":"maybe"}],"verdict":"pass"}`, false, "must be met, unmet or unknown"},
		"pass with one unmet":       {strings.Replace(met, `"verdict":"met"`, `"verdict":"unmet"`, 1), false, "1 of the criteria are not met"},
		"pass with one unknown":     {strings.Replace(met, `"verdict":"met"`, `"verdict":"unknown"`, 1), false, "1 of the criteria are not met"},
		"fail without a reason":     {strings.Replace(strings.Replace(met, `"pass"`, `"fail"`, 1), "all there", "", 1), false, "says why"},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := ParseJudgement(c.reply, 2)
			switch {
			case c.fault == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
				t.Fatalf("got %v; want an error with %q", err, c.fault)
			case c.fault == "" && j.Passed != c.passed:
				t.Errorf("passed = %v, want %v", j.Passed, c.passed)
			}
		})
	}
}

func FuzzJudgement(f *testing.F) {
	f.Add(`{"criteria":[{"number":1,"verdict":"met"}],"verdict":"pass","reason":""}`)
	f.Add(`{"a":{"b":[1,2,{}]}} {"verdict":"fail","reason":"x"`)
	f.Fuzz(func(t *testing.T, reply string) {
		if j, err := ParseJudgement(reply, 1); err == nil && j.Passed && j.Criteria[0].Verdict != Met {
			t.Errorf("%q passes with a criterion that is %s", reply, j.Criteria[0].Verdict)
		}
	})
}
