package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// message is one block of a stream.
type message struct {
	id, event string
	data      map[string]any
	comment   bool
}

// reader reads a stream.
type reader struct {
	t    testing.TB
	res  *http.Response
	in   *bufio.Scanner
	stop context.CancelFunc
}

func (r *rig) listen(query string, headers ...string) *reader {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	req, err := http.NewRequestWithContext(ctx, "GET", r.url+"/api/stream"+query, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	in := bufio.NewScanner(res.Body)
	in.Buffer(nil, 1<<24)
	rd := &reader{r.t, res, in, cancel}
	r.t.Cleanup(rd.close)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("X-Accel-Buffering") != "no" {
		r.t.Fatalf("stream: %d %v", res.StatusCode, res.Header)
	}
	return rd
}

func (rd *reader) close() {
	rd.stop()
	rd.res.Body.Close()
}

// next returns the next block; ok is false at the end of the stream.
func (rd *reader) next() (m message, ok bool) {
	for rd.in.Scan() {
		line := rd.in.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			return m, true
		case name == "id":
			m.id = value
		case name == "event":
			m.event = value
		case name == "data":
			if err := json.Unmarshal([]byte(value), &m.data); err != nil {
				rd.t.Errorf("data is no JSON: %s", line)
			}
		case strings.HasPrefix(line, ":"):
			m.comment = true
		default:
			rd.t.Errorf("stray line %q", line)
		}
	}
	return m, false
}

// until reads up to the first message that satisfies a condition.
func (rd *reader) until(what string, ok func(message) bool) message {
	rd.t.Helper()
	for {
		m, more := rd.next()
		if !more {
			rd.t.Fatalf("the stream ended before: %s (%v)", what, rd.in.Err())
		}
		if ok(m) {
			return m
		}
	}
}

func isType(t string) func(message) bool { return func(m message) bool { return m.data["type"] == t } }

func isReport(text string) func(message) bool {
	return func(m message) bool {
		e, _ := m.data["event"].(map[string]any)
		d, _ := e["data"].(map[string]any)
		return d["text"] == text
	}
}

// claimed returns a plan of one step that is claimed, to report on.
func (r *rig) claimed() plan.PlanID {
	r.t.Helper()
	id := r.plan("a")
	r.start(id, plan.External)
	if _, err := r.engine.Claim(context.Background(), "me", id); err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *rig) report(id plan.PlanID, text string) {
	r.t.Helper()
	if err := r.engine.Report(context.Background(), plan.Ref{Plan: id, Node: 1}, text, ""); err != nil {
		r.t.Fatal(err)
	}
}

func TestStreamTellsWhatHappens(t *testing.T) {
	r := newRig(t)
	rd := r.listen("")
	if m, _ := rd.next(); m.event != "hello" || m.id == "" || m.data["app"] != "clearbox" {
		t.Errorf("first: %+v", m)
	}
	id := r.claimed()
	r.report(id, "line one\nline \"two\" <b>\u2028")
	m := rd.until("the report", isReport("line one\nline \"two\" <b>\u2028"))
	e := m.data["event"].(map[string]any)
	if m.id != strconv.FormatFloat(e["id"].(float64), 'f', -1, 64) || e["plan_id"] != float64(id) || e["node_id"] != 1.0 || e["kind"] != "text" || e["ts"].(float64) < 1e9 {
		t.Errorf("event: %+v", m)
	}
	r.want(200, "POST", "/api/agents", `{"name":"x","harness":"mock"}`)
	rd.until("agents", isType("agents"))
	r.want(200, "POST", fmt.Sprintf("/api/plans/%d/stop", id), nil)
	if m := rd.until("plan", isType("plan")); m.data["plan_id"] != float64(id) || m.data["root_id"] != float64(id) || m.data["deleted"] != nil {
		t.Errorf("plan: %+v", m)
	}
	r.ok("/mcp", "complete_node", map[string]any{"plan_id": id, "node_id": 1, "result": "r"})
	r.want(200, "DELETE", fmt.Sprintf("/api/plans/%d", id), nil)
	rd.until("deleted", func(m message) bool { return m.data["type"] == "plan" && m.data["deleted"] == true })
	r.want(200, "POST", "/api/harnesses/rescan", nil)
	rd.until("harnesses", isType("harnesses"))
}

func TestStreamOfOnePlan(t *testing.T) {
	r := newRig(t)
	mine, other := r.claimed(), r.claimed()
	rd := r.listen(fmt.Sprint("?plan=", mine))
	r.report(other, "not for me")
	r.report(mine, "for me")
	for {
		m, ok := rd.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if isReport("not for me")(m) {
			t.Fatal("another plan's event came")
		}
		if isReport("for me")(m) {
			break
		}
	}
	for query, want := range map[string]int{"?plan=x": 422, "?plan=99": 404, "?after=x": 422} {
		if a := r.do("GET", "/api/stream"+query, nil); a.status != want {
			t.Errorf("%s: %s", query, a)
		}
	}
}

func TestNothingIsLostOverACut(t *testing.T) {
	r := newRig(t)
	id := r.claimed()
	var all []string
	for i := range 60 {
		all = append(all, fmt.Sprint("report ", i))
	}
	rd := r.listen("")
	rd.next() // hello
	next := 0
	var last string
	var got []string
	for i, text := range all {
		r.report(id, text)
		if i%20 != 19 {
			continue
		}
		// One is read, then the connection is cut with the rest unread.
		m := rd.until("a report", func(m message) bool { return m.data["type"] == "event" })
		got, last, next = append(got, m.data["event"].(map[string]any)["data"].(map[string]any)["text"].(string)), m.id, next+1
		rd.close()
		if i%40 == 19 {
			rd = r.listen("?after=1", "Last-Event-ID: "+last)
		} else {
			rd = r.listen("?after=" + last)
		}
	}
	for next < len(all) {
		m := rd.until("the rest", func(m message) bool { return m.data["type"] == "event" })
		got, next = append(got, m.data["event"].(map[string]any)["data"].(map[string]any)["text"].(string)), next+1
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestUnknownPlacesAreToldToReadAnew(t *testing.T) {
	r := newRig(t)
	id := r.claimed()
	for _, last := range []string{"999999999", "-5", "abc", "99999999999999999999999"} {
		rd := r.listen("", "Last-Event-ID: "+last)
		m := rd.until("resync", isType("resync"))
		r.report(id, "after "+last)
		if e := rd.until("what follows", isReport("after "+last)); m.id == "" || e.id <= m.id && len(e.id) <= len(m.id) {
			t.Errorf("ids %q, %q", m.id, e.id)
		}
	}
}

func TestPingMovesThePlaceToResumeFrom(t *testing.T) {
	r := newRigWith(t, rigOptions{pace: streamPace{ping: 5 * time.Millisecond, gap: time.Millisecond, write: time.Minute}})
	mine, other := r.claimed(), r.claimed()
	rd := r.listen(fmt.Sprint("?plan=", mine))
	first := rd.until("a ping", func(m message) bool { return m.comment })
	r.report(other, "elsewhere")
	rd.until("a later ping", func(m message) bool { return m.comment && m.data == nil && m.id != first.id })
}

func TestEveryReaderGetsEveryEvent(t *testing.T) {
	const readers, events = 12, 300
	r := newRig(t)
	id := r.claimed()
	open := make([]*reader, readers)
	for i := range open {
		open[i] = r.listen("")
		open[i].next()
	}
	var all sync.WaitGroup
	for _, rd := range open {
		all.Go(func() {
			for n := 0; n < events; {
				m, ok := rd.next()
				if !ok {
					t.Errorf("a stream ended after %d events", n)
					return
				}
				if m.data["type"] == "event" {
					if !isReport(fmt.Sprint("report ", n))(m) {
						t.Errorf("after %d events: %v", n, m.data)
						return
					}
					n++
				}
			}
		})
	}
	for i := range events {
		r.report(id, fmt.Sprint("report ", i))
	}
	all.Wait()
}

// TestReaderThatDoesNotReadIsDropped opens a stream on a bare connection and
// reads nothing of it.
func TestReaderThatDoesNotReadIsDropped(t *testing.T) {
	r := newRigWith(t, rigOptions{pace: streamPace{ping: time.Minute, gap: time.Millisecond, write: 50 * time.Millisecond}})
	id := r.claimed()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
	beside := r.listen("")
	beside.next()
	text := strings.Repeat("x", 400_000)
	for i := range 40 { // 16 MB: more than the system buffers
		r.report(id, fmt.Sprint(i, text))
		beside.until("the reader beside it", isReport(fmt.Sprint(i, text)))
	}
	r.untilLogged(`path=/api/stream`)
}

// untilLogged waits until the log has a line that contains something.
func (r *rig) untilLogged(text string) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; {
		if strings.Contains(r.log.String(), text) {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("the log never had %q", text)
		}
		<-time.After(time.Millisecond)
	}
}

func TestShutdownEndsStreams(t *testing.T) {
	r := newRig(t)
	rd := r.listen("")
	rd.next()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Fatalf("shut down: %v", err)
	}
	for {
		if _, ok := rd.next(); !ok {
			break
		}
	}
}

func TestStreamsAreNotCompressedAndAnswersAre(t *testing.T) {
	r := newRig(t)
	for range 30 {
		r.plan("a b c d")
	}
	if rd := r.listen("", "Accept-Encoding: gzip"); rd.res.Header.Get("Content-Encoding") != "" {
		t.Error("the stream is compressed")
	}
	if a := r.do("GET", "/api/plans", nil, "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("a long answer is not compressed: %v", a.header)
	}
	if a := r.do("GET", "/api/health", nil, "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "" {
		t.Errorf("a short answer is compressed: %v", a.header)
	}
}

func TestMessagesOfABatch(t *testing.T) {
	in, out := int64(3), int64(4)
	event := func(seq int64, data string) plan.Change {
		return plan.Change{Seq: seq, Root: 1, Plan: 1, Node: 2, Kind: plan.ChangeEvent,
			Event: &plan.Event{ID: seq, PlanID: 1, NodeID: 2, At: 1700000000.25, Kind: "text", Data: json.RawMessage(data)}}
	}
	tests := []struct {
		name    string
		changes []plan.Change
		want    string
	}{
		{"a plan that changed twice is told once", []plan.Change{{Seq: 1, Root: 1, Plan: 1, Node: 2, Kind: plan.ChangeNode}, {Seq: 2, Root: 1, Plan: 1, Kind: plan.ChangePlan}},
			"id: 2\ndata: {\"type\":\"plan\",\"plan_id\":1,\"root_id\":1}\n\n"},
		{"a removed step is no deleted plan", []plan.Change{{Seq: 1, Root: 1, Plan: 3, Node: 2, Kind: plan.ChangeNode, Deleted: true}},
			"id: 1\ndata: {\"type\":\"plan\",\"plan_id\":3,\"root_id\":1}\n\n"},
		{"a deleted plan", []plan.Change{{Seq: 1, Root: 1, Plan: 1, Kind: plan.ChangePlan, Deleted: true}},
			"id: 1\ndata: {\"type\":\"plan\",\"plan_id\":1,\"root_id\":1,\"deleted\":true}\n\n"},
		{"tokens: the last", []plan.Change{{Seq: 1, Plan: 1, Node: 2, Kind: plan.ChangeTokens}, {Seq: 2, Plan: 1, Node: 2, Kind: plan.ChangeTokens, TokensIn: &in, TokensOut: &out}},
			"id: 2\ndata: {\"type\":\"tokens\",\"plan_id\":1,\"node_id\":2,\"tokens_in\":3,\"tokens_out\":4}\n\n"},
		{"events are all told", []plan.Change{event(1, `{"text":"a"}`), event(2, "{\n \"text\": \"b\"\r\n}")},
			"id: 1\ndata: {\"type\":\"event\",\"event\":{\"id\":1,\"plan_id\":1,\"node_id\":2,\"ts\":1700000000.25,\"kind\":\"text\",\"data\":{\"text\":\"a\"}}}\n\n" +
				"id: 2\ndata: {\"type\":\"event\",\"event\":{\"id\":2,\"plan_id\":1,\"node_id\":2,\"ts\":1700000000.25,\"kind\":\"text\",\"data\":{\"text\":\"b\"}}}\n\n"},
		{"agents, each", []plan.Change{{Seq: 1, Kind: plan.ChangeAgents}, {Seq: 2, Kind: plan.ChangeAgents}},
			"id: 1\ndata: {\"type\":\"agents\"}\n\nid: 2\ndata: {\"type\":\"agents\"}\n\n"},
		{"a question", []plan.Change{{Seq: 1, Root: 1, Plan: 2, Node: 3, Kind: plan.ChangeQuestion}},
			"id: 1\ndata: {\"type\":\"question\",\"plan_id\":2,\"node_id\":3,\"root_id\":1}\n\n"},
		{"what is not known is left out", []plan.Change{{Seq: 1, Kind: "later"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(new(sentEvents).encode(nil, tt.changes))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// BenchmarkEncodeEvents is what one reader costs for each event.
func BenchmarkEncodeEvents(b *testing.B) {
	data := json.RawMessage(`{"text":"` + strings.Repeat("looked at the callers ", 8) + `","parent_tool_use_id":null}`)
	changes := make([]plan.Change, 50)
	for i := range changes {
		changes[i] = plan.Change{Seq: int64(i), Root: 1, Plan: 1, Node: 2, Kind: plan.ChangeEvent,
			Event: &plan.Event{ID: int64(i), PlanID: 1, NodeID: 2, At: 1700000000.123456, Kind: "text", Data: data}}
	}
	var buf []byte
	var sent sentEvents
	for b.Loop() {
		buf = sent.encode(buf[:0], changes)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(changes)), "ns/event")
}
