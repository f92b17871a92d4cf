package planfile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsWrittenAsYAMLIsReadAsItWas(t *testing.T) {
	text := `{"title":"T: a","max_parallel":2,"max_cost_usd":1.5,"nodes":[{"key":"step-1","title":"1.10","description":"two\nlines\n\tand \u007f a tab ","files":["a","yes","é"],` +
		`"acceptance_criteria":["null","x: y # z","- a"]},{"key":"2","title":"true","description":" lead\n","files":[]}],"edges":[["step-1","2"]],"isolate_steps":true}`
	b, err := YAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read("p.yaml", strings.NewReader(string(b)))
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(p.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(again, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, b)
	}
	if !strings.HasPrefix(string(b), "title: ") || !strings.Contains(string(b), "[step-1, \"2\"]") {
		t.Errorf("the file is not in order, or not easy to read:\n%s", b)
	}
}

func FuzzReadPlanFile(f *testing.F) {
	f.Add("title: x\nnodes:\n  - {key: 1, title: yes}\n")
	f.Add("{\"title\": 1}")
	f.Add("a: &a [*a]\n")
	f.Add("---\n- ? [x]\n: y\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := &File{Name: "p", lines: map[string]int{}, nodes: map[string][]int{}}
		err := p.readYAML([]byte(text))
		if err == nil && p.Body == nil {
			t.Error("there is no plan and no fault")
		}
		_ = p.readJSON([]byte(text))
		_ = p.Explain(text)
		for path, line := range p.lines {
			if line < 0 || line > strings.Count(text, "\n")+strings.Count(text, "\r")+1 {
				t.Errorf("%s is at line %d", path, line)
			}
		}
	})
}
