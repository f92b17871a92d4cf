package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func scribe() *Scribe {
	return NewScribe(plan.Ref{Plan: 1, Node: 2}, []plan.Run{{ID: "a", Number: 1, Kind: plan.RunStep, AgentName: "claude", Outcome: plan.OutcomeDone, StartedAt: 100},
		{ID: "b", Number: 2, Kind: plan.RunStep, StartedAt: 200}})
}

func TestResultsGoToTheirCalls(t *testing.T) {
	list := scribe().Entries([]plan.Event{
		{ID: 1, RunID: "a", Kind: "tool_use", Data: []byte(`{"id":"x","name":"Read","input":{"path":"f"}}`)},
		{ID: 2, RunID: "a", Kind: "text", Data: []byte(`{"text":"between"}`)},
		{ID: 3, RunID: "a", Kind: "tool_result", Data: []byte(`{"tool_use_id":"x","content":"of a"}`)},
		{ID: 4, RunID: "b", Kind: "tool_result", Data: []byte(`{"tool_use_id":"x","content":"of another run"}`)},
	})
	if len(list) != 3 || list[0].Result == nil || list[0].Result.Text != "of a" {
		t.Fatalf("got %+v", list)
	}
	if last := list[2]; last.Text != "of another run" || last.DOM() == list[0].Slot {
		t.Errorf("the same id in another run was taken for the same call: %+v", last)
	}
}

func TestEventsAreSortedByRun(t *testing.T) {
	s := scribe()
	var list []Entry
	for _, ev := range []struct {
		run plan.RunID
		at  plan.Stamp
	}{{"", 50}, {"a", 100}, {"", 150}, {"b", 200}, {"a", 210}, {"", 220}, {"unknown", 230}} {
		list = append(list, s.Entry(&plan.Event{ID: int64(ev.at), RunID: ev.run, At: ev.at, Kind: "text", Data: []byte(`{"text":"x"}`)}))
	}
	got := map[string][]int64{}
	var order []string
	for _, seg := range segments(list) {
		name := "none"
		if seg.Run != nil {
			name = seg.Run.Name()
		}
		order = append(order, name)
		for _, e := range seg.Entries {
			got[name] = append(got[name], e.ID)
		}
	}
	want := map[string][]int64{"none": {50, 230}, "Run 1": {100, 150, 210}, "Run 2 · rework": {200, 220}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"none", "Run 1", "Run 2 · rework"}, order); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnEntryBringsThePlaceForItsRun(t *testing.T) {
	e := scribe().Entry(&plan.Event{ID: 9, RunID: "b", At: 200, Kind: "text", Data: []byte(`{"text":"x"}`)})
	list := e.Pieces()
	if len(list) != 2 || list[0].ID != "run-2" || list[0].In != "log" || !list[0].Once || list[1].ID != "ev-9" || list[1].In != "seg-2" {
		t.Errorf("got %+v", list)
	}
	if shell := render(t, list[0].Body); !strings.Contains(shell, `id="seg-2"`) || !strings.Contains(shell, `id="run-head-2"`) {
		t.Errorf("the run's place is %s", shell)
	}
}

func TestLongTextIsCutAndItsRestIsToBeHad(t *testing.T) {
	e := scribe().Entry(&plan.Event{ID: 9, RunID: "a", Kind: "tool_result", Data: []byte(`{"tool_use_id":"x","content":"` + strings.Repeat("ä", maxShown) + `"}`)})
	if len(e.Text) != maxShown || e.More != maxShown || !strings.HasSuffix(e.Text, "ä") {
		t.Errorf("kept %d bytes, %d more", len(e.Text), e.More)
	}
	if out := render(t, entry(&e)); !strings.Contains(out, "/plans/1/nodes/2/events/9") {
		t.Error("nothing leads to the rest")
	}
}

func TestCallsAreRead(t *testing.T) {
	for _, c := range []struct {
		name, input string
		want        Call
	}{
		{"the order is the author's", `{"z":1,"a":"two"}`, Call{Key: "1", Args: []Arg{{"z", "1", false}, {"a", "two", false}}, Whole: "z: 1\na: two"}},
		{"the telling argument", `{"description":"why","command":"go test\n./..."}`, Call{Key: "go test",
			Args: []Arg{{"description", "why", false}, {"command", "go test\n./...", true}}, Whole: "description: why\ncommand: go test\n./..."}},
		{"a nested value", `{"edits":[{"a":1}]}`, Call{Key: "[", Args: []Arg{{"edits", "[\n  {\n    \"a\": 1\n  }\n]", true}}, Whole: "edits: [\n  {\n    \"a\": 1\n  }\n]"}},
		{"nothing", `{}`, Call{}},
		{"null", `null`, Call{}},
		{"no object", `"just text"`, Call{Key: "just text", Args: []Arg{{"input", "just text", false}}, Whole: "input: just text"}},
		{"broken", `{"a":`, Call{Key: `{"a":`, Args: []Arg{{"input", `{"a":`, false}}, Whole: `input: {"a":`}},
	} {
		if diff := cmp.Diff(c.want, readCall("", []byte(c.input))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func FuzzReadCall(f *testing.F) {
	f.Add([]byte(`{"command":"ls","x":[1,{"y":null}]}`))
	f.Add([]byte(`{"a":"\ud800"}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		c := readCall("tool", input)
		if strings.Contains(c.Key, "\n") {
			t.Errorf("the key argument has lines: %q", c.Key)
		}
	})
}

func TestEndingsAreSaid(t *testing.T) {
	for data, want := range map[string]string{
		`{"is_error":false,"num_turns":2,"duration_ms":73000}`: "Finished",
		`{"is_error":true,"subtype":"error_max_turns"}`:        "Ended with an error",
		`{"is_error":true,"subtype":"error_stopped"}`:          "Stopped",
		`{"is_error":true,"subtype":"error_interrupted"}`:      "Interrupted",
	} {
		e := scribe().Entry(&plan.Event{Kind: "result", Data: []byte(data)})
		if e.End == nil || e.End.Word != want {
			t.Errorf("%s: got %+v, want %s", data, e.End, want)
		}
	}
}

func TestRawText(t *testing.T) {
	for _, c := range []struct{ kind, data, want string }{
		{"text", `{"text":"hello"}`, "hello"},
		{"tool_result", `{"content":"out"}`, "out"},
		{"tool_use", `{"name":"Read","input":{"a":1}}`, "Read\n{\"a\":1}"},
		{"status", `{"from":"a"}`, `{"from":"a"}`},
	} {
		if got := RawText(&plan.Event{Kind: c.kind, Data: []byte(c.data)}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.kind, got, c.want)
		}
	}
}
