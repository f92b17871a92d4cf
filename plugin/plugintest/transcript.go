package plugintest

import (
	"context"
	"encoding/json"

	"github.com/clearbox-go/clearbox/plugin"
)

// transcript is what one run told, checked while it grows.
type transcript struct {
	check  *check
	last   int64
	events int
	bytes  int
	tools  int             // calls
	open   map[string]bool // ids of tool calls; true until answered
	asked  []string
	taken  int // answers that the harness took
	result plugin.Result
}

func (t *transcript) add(e plugin.Event) {
	c := t.check
	if e.Seq != t.last+1 {
		c.fail("event %d came after event %d", e.Seq, t.last)
	}
	t.last = e.Seq
	t.events++
	t.bytes += len(e.Data)
	if err := plugin.CheckEvent(e); err != nil {
		c.fail("%v", err)
		return
	}
	text, _ := plugin.DecodeText(e)
	if e.Seq == 1 && (e.Kind != plugin.KindSystem || text != "session started") {
		c.fail(`the first event must be of kind system with the text "session started", but it is of kind %s with %q`, e.Kind, text)
	}
	switch e.Kind {
	case plugin.KindToolUse:
		t.call(e)
	case plugin.KindToolResult:
		t.returned(e)
	}
}

func (t *transcript) call(e plugin.Event) {
	id, name, _, _ := plugin.DecodeToolUse(e)
	if t.open == nil {
		t.open = map[string]bool{}
	}
	if _, used := t.open[id]; used || id == "" {
		t.check.fail("event %d: the id %q of a tool use is empty or was used before", e.Seq, id)
	}
	if name == "" {
		t.check.fail("event %d: a tool use without a name", e.Seq)
	}
	t.open[id] = true
	t.tools++
}

func (t *transcript) returned(e plugin.Event) {
	id, _, _, _ := plugin.DecodeToolResult(e)
	if !t.open[id] {
		t.check.fail("event %d: a tool result for %q, which is not an open tool use", e.Seq, id)
	}
	if t.open != nil {
		t.open[id] = false
	}
}

// answer allows whatever is asked.
func (t *transcript) answer(ctx context.Context, conn *connection, q plugin.Question) {
	t.asked = append(t.asked, q.ID)
	if q.ID == "" || q.Text == "" && q.Tool == "" {
		t.check.fail("a question needs an id, and a text or a tool: %+v", q)
	}
	taken, err := conn.client.Answer(ctx, conn.run, q.ID, plugin.Answer{Allow: true})
	if err != nil {
		t.check.fail("answer a question: %v", err)
	}
	if taken {
		t.taken++
	}
}

// end checks the result.
func (t *transcript) end(rep plugin.Reply) {
	c := t.check
	if err := json.Unmarshal(rep.Result, &t.result); err != nil {
		c.fail("the result cannot be read: %v", err)
		return
	}
	r := t.result
	if r.IsError && r.Text == "" && len(r.Errors) == 0 {
		c.fail("the result is an error that says nothing")
	}
	if r.Subtype == "" {
		c.fail("the result has no subtype")
	}
	if t.events == 0 && !r.IsError {
		c.fail("the run succeeded without a single event")
	}
	if len(plugin.ResultEvent(r).Data) > plugin.MaxEventSize {
		c.fail("the result is larger than an event may be")
	}
}

// unanswered counts the tool calls without a result.
func (t *transcript) unanswered() (n int) {
	for _, open := range t.open {
		if open {
			n++
		}
	}
	return n
}
