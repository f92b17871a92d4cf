package main

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// picture builds a tree from lines such as "running 1.2 Title"; further spaces
// before the state put it deeper.
func picture(lines ...string) *tree {
	t := &tree{top: &planPage{Status: "running"}, steps: map[stepKey]*stepView{}, depth: map[stepKey]int{}, plans: map[int]*planPage{}}
	t.top.Plan.ID, t.top.Plan.Title, t.top.Plan.StartedAt = 3, "A plan", 1000
	t.top.Root.ID, t.top.Root.Started = 3, true
	for _, line := range lines {
		f := strings.Fields(line)
		id, node, _ := planOrStep(f[1])
		n := &stepView{PlanID: id, NodeID: node, Status: f[0], Title: strings.Join(f[2:], " "), Kind: "agent", AgentName: "mock", StartedAt: 1000, FinishedAt: 1065}
		switch f[0] {
		case "you":
			n.Status, n.Kind, n.WaitingForUser, n.StartedAt = "ready", "user", true, 0
		case "running":
			n.FinishedAt = 0
		case "failed":
			n.Error = "no luck\ntoday"
		case "pending":
			n.StartedAt = 0
		}
		at := stepKey{id, node}
		t.steps[at], t.depth[at] = n, (len(line)-len(strings.TrimLeft(line, " ")))/2
		t.order = append(t.order, at)
		t.top.Progress.Total++
		t.top.Progress.count(n.Status)
		if n.WaitingForUser {
			t.top.Progress.Waiting++
		}
	}
	return t
}

func TestThePictureOfAPlan(t *testing.T) {
	t.Parallel()
	sc := newScreen(nil, false)
	sc.tree = picture("done 3.1 Read", "running 3.2 Write", "  done 4.1 Inner 日本", "  failed 4.2 Other", "you 3.3 Look", "pending 3.4 Last")
	sc.tree.asked = []question{{PlanID: 3, NodeID: 2, Text: "may I\x1b[2J?"}}
	sc.said(stepKey{3, 2}, "uses bash")
	want := []string{
		"Plan 3  A plan",
		"██████░░░░░░░░░░░░░░  2/6  1 running, 1 waiting for you, 1 failed, 1 pending, 2 done  2m00s",
		"",
		"✓ 3.1   Read       mock   1m05s",
		"● 3.2   Write      mock   2m00s  uses bash",
		"✓   4.1 Inner 日本 mock   1m05s",
		"✗   4.2 Other      mock   1m05s  no luck",
		"? 3.3   Look       you           waits for you",
		"· 3.4   Last",
		"? 3.2 asks: may I[2J? (clearbox answer 3.2 allow|deny)",
	}
	if diff := cmp.Diff(want, sc.frame(frameSize{100, 30}, time.Unix(1120, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestThePictureFitsTheTerminal(t *testing.T) {
	t.Parallel()
	sc := newScreen(nil, false)
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("done 3.%d %s", i+1, strings.Repeat("日本語 long ", 10)), fmt.Sprintf("pending 3.%d x", 100+i))
	}
	sc.tree = picture(append(lines, "running 3.7777 now", "failed 3.8888 broken", "you 3.9999 yours")...)
	sc.tree.asked = []question{{PlanID: 3, NodeID: 2, Text: strings.Repeat("why ", 100)}}
	sc.away = true
	for _, size := range []frameSize{{20, 6}, {40, 10}, {79, 24}, {200, 50}} {
		got := sc.frame(size, time.Unix(1120, 0))
		for _, line := range got {
			if w := widthOf(line); w > size.width {
				t.Errorf("%v: %d columns: %q", size, w, line)
			}
		}
		if len(got) > max(size.height, 6) {
			t.Errorf("%v: %d lines", size, len(got))
		}
		if all := strings.Join(got, "\n"); size.height >= 10 && (!strings.Contains(all, "3.7777") || !strings.Contains(all, "3.8888") || !strings.Contains(all, "… and ")) {
			t.Errorf("%v: what matters is left out:\n%s", size, all)
		}
	}
}

func TestTextOfOthersCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                       "plain",
		"two\nlines\tand  more":       "two lines and more",
		"\x1b[31mred\x1b[0m \x07bell": "[31mred[0m bell",
		"turned \u202eround":          "turned round",
		"👩\u200d💻 works":              "👩\u200d💻 works",
		"\u009b31m":                   "31m",
		"bad \xff bytes":              "bad bytes",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := plainText("a\n\tb\x1b]0;title\x07\r"); got != "a\n\tb]0;title" {
		t.Errorf("several lines became %q", got)
	}
}

func TestLinesAreCutToColumns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in      string
		columns int
		want    string
	}{
		{"short", 10, "short"}, {"exactly", 7, "exactly"}, {"too long", 7, "too lo…"}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"},
		{"日本語", 4, "日…"}, {"abc", 1, "…"}, {"", 3, ""},
	} {
		got := cut(tt.in, tt.columns)
		if got != tt.want || widthOf(got) > tt.columns {
			t.Errorf("%q in %d columns is %q, want %q", tt.in, tt.columns, got, tt.want)
		}
		if w := widthOf(pad(tt.in, tt.columns)); w != tt.columns {
			t.Errorf("%q padded to %d columns has %d", tt.in, tt.columns, w)
		}
	}
}

func TestSpansAreWrittenAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]string{0: "0s", 59 * time.Second: "59s", 60 * time.Second: "1m00s", 3599 * time.Second: "59m59s",
		3600 * time.Second: "1h00m", 26*time.Hour + 5*time.Minute: "26h05m", 1499 * time.Millisecond: "1s"} {
		if got := spanText(in); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

func TestWordsThatComeNearAreSuggested(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"pln": "plan", "lpan": "plan", "ensrue": "ensure", "rest": "restart", "Stop": "stop", "frobnicate": "", "x": "", "": "", "questiosn": "questions"} {
		got := suggestion(word, commands())
		if want == "" && got != "" || want != "" && got != `did you mean "`+want+`"? Or ` {
			t.Errorf("for %q it suggests %q, want %q", word, got, want)
		}
	}
}

func TestMessagesOfTheStreamAreRead(t *testing.T) {
	t.Parallel()
	in := bufio.NewReader(strings.NewReader("event: hello\nid: 7\ndata: {\"app\":\"clearbox\"}\n\n: ping\nid: 8\n\n" +
		"id: 9\ndata: {\"type\":\"event\",\"event\":{\"plan_id\":3,\"node_id\":2,\"kind\":\"status\"}}\r\n\r\nid: 10\ndata: {\"type\""))
	var got []string
	for {
		m, id, err := nextMessage(in)
		if err != nil {
			got = append(got, err.Error())
			break
		}
		got = append(got, id+" "+m.Type+" "+m.Event.Kind)
	}
	if diff := cmp.Diff([]string{"7 hello ", "8  ", "9 event status", "unexpected EOF"}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzNextMessage(f *testing.F) {
	f.Add("event: hello\nid: 7\ndata: {}\n\n")
	f.Add("data: {\"type\":\ndata: \"plan\"}\n\n:x\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		in := bufio.NewReader(strings.NewReader(text))
		for n := 0; ; n++ {
			if _, _, err := nextMessage(in); err != nil {
				return
			}
			if n > len(text) {
				t.Fatal("it reads more messages than there are bytes")
			}
		}
	})
}

func TestWhatAgentsDoIsSaidInAFewWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, data, want string }{
		{"text", `{"text":"\n I read\tit.\nThen more."}`, "I read it."},
		{"thinking", `{"text":"long"}`, "thinks"},
		{"tool_use", `{"name":"Bash","input":{"command":"go test ./...\nls"}}`, "Bash go test ./..."},
		{"tool_use", `{"name":"Edit","input":{"file_path":"a.go","old_string":"x"}}`, "Edit a.go"},
		{"tool_use", `{"name":"TodoWrite","input":{"todos":[]}}`, "TodoWrite"},
		{"tool_use", `{"name":"odd","input":"text"}`, ""},
		{"tool_result", `{"content":"much"}`, ""},
		{"result", `{"text":"end"}`, ""},
	} {
		if got := eventText(tt.kind, []byte(tt.data)); got != tt.want {
			t.Errorf("%s %s is %q, want %q", tt.kind, tt.data, got, tt.want)
		}
	}
}
