package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReviewRepliesAreReadLeniently(t *testing.T) {
	some := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		reply string
		want  Review
	}{
		"as asked for":         {"VERDICT: ok\nSUMMARY: all good\nFINDINGS:\n- a\n- b", Review{Verdict: VerdictOK, Summary: "all good", Findings: some("- a\n- b")}},
		"markup around labels": {"## **VERDICT:** Concerns\n\n**Summary**: so so\n\n> *Findings*:\n1. x", Review{Verdict: VerdictConcerns, Summary: "so so", Findings: some("1. x")}},
		"code marks":           {"`VERDICT: OK`\n`SUMMARY:` fine", Review{Verdict: VerdictOK, Summary: "fine"}},
		"the last verdict counts": {"I will end with VERDICT: ok or so.\nVERDICT: ok\nSUMMARY: first\nVERDICT: concerns\nSUMMARY: second",
			Review{Verdict: VerdictConcerns, Summary: "second"}},
		"an unknown last word is passed over": {"VERDICT: ok\nSUMMARY: s\nVERDICT: maybe", Review{Verdict: VerdictOK, Summary: "s"}},
		"findings none":                       {"VERDICT: ok\nSUMMARY: s\nFINDINGS: none", Review{Verdict: VerdictOK, Summary: "s"}},
		"findings - none":                     {"VERDICT: ok\nSUMMARY: s\nFINDINGS:\n- None.", Review{Verdict: VerdictOK, Summary: "s"}},
		"without labels":                      {"It works.\n\nBut the name is odd.\n\nVERDICT: concerns", Review{Verdict: VerdictConcerns, Summary: "It works.", Findings: some("But the name is odd.")}},
		"verdict first, no labels":            {"VERDICT: ok\n\nNice.", Review{Verdict: VerdictOK, Summary: "Nice."}},
		"no verdict":                          {"I could not run the tests.", Review{Verdict: VerdictError, Summary: "I could not run the tests."}},
		"an empty reply":                      {" \n", Review{Verdict: VerdictError, Summary: "(reviewer produced no output)"}},
		"verdict error":                       {"VERDICT: error\nSUMMARY: no tests here", Review{Verdict: VerdictError, Summary: "no tests here"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got Review
			got.SetVerdict(c.reply)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzReviewReply(f *testing.F) {
	f.Add("VERDICT: ok\nSUMMARY: s\nFINDINGS: none")
	f.Add("**VERDICT**: concerns")
	f.Fuzz(func(t *testing.T, reply string) {
		var r Review
		r.SetVerdict(reply)
		if r.Verdict != VerdictOK && r.Verdict != VerdictConcerns && r.Verdict != VerdictError {
			t.Errorf("%q gives the verdict %q", reply, r.Verdict)
		}
		if r.Findings != nil && *r.Findings == "" {
			t.Errorf("%q gives empty findings instead of none", reply)
		}
	})
}

func TestABriefHasAllThatTheReviewFound(t *testing.T) {
	findings := "- the cache is never cleared"
	r := Review{Verdict: VerdictConcerns, Summary: "Works, leaks.", Findings: &findings}
	want := "A review came to the verdict: concerns.\n\nWorks, leaks.\n\nFindings:\n- the cache is never cleared"
	if diff := cmp.Diff(want, r.Brief()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
