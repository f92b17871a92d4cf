package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// lineTeller prints a line for everything that matters.
type lineTeller struct {
	out, err io.Writer
}

func (l *lineTeller) begin(t *tree) {
	fmt.Fprintf(l.out, "plan %d: %s (%s%s)\n", t.top.Plan.ID, plain(t.top.Plan.Title), t.top.Progress.words(), started(t.top))
}

func (l *lineTeller) step(ch change) {
	what := ch.To
	begun := ch.From == "running" || ch.From == "failed" || ch.From == "done"
	switch {
	case (ch.To == "ready" || ch.To == "pending") && !begun && ch.Waits != waitsForYou:
		return // on its way
	case ch.Waits != "":
		what = ch.Waits
	case ch.To == "running" && ch.Agent != "":
		what = "running, " + plain(ch.Agent)
	}
	if ch.took >= time.Second {
		what += " after " + spanText(ch.took)
	}
	if said := plain(firstLine(ch.Error + ch.Result)); said != "" {
		what += ": " + cut(said, 160)
	}
	fmt.Fprintf(l.out, "%s  %-6s %s: %s\n", moment(ch.At).Local().Format("15:04:05"), ch.Step, plain(ch.Title), what)
}

func (l *lineTeller) said(stepKey, string)     {}
func (l *lineTeller) picture(*tree, time.Time) {}

func (l *lineTeller) lost() {
	fmt.Fprintln(l.err, "clearbox: the connection is lost; trying to come back")
}

func (l *lineTeller) end(t *tree, v verdict) { fmt.Fprintln(l.out, lastWords(t, v)) }

// lastWords say how a plan ended.
func lastWords(t *tree, v verdict) string {
	what := "the plan"
	if t != nil {
		what = fmt.Sprintf("plan %d", t.top.Plan.ID)
	}
	switch v.Status {
	case "deleted":
		return what + " was deleted"
	case "waiting":
		return what + " waits: " + v.Why
	case "failed":
		return what + " has failed: " + v.Why
	}
	return what + " is done: " + v.Why
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// jsonTeller prints an object in a line for every change, and one at the end.
type jsonTeller struct{ out io.Writer }

func (j *jsonTeller) print(v any) {
	e := json.NewEncoder(j.out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // of plain values to a pipe that may be closed
}

func (j *jsonTeller) begin(*tree)              {}
func (j *jsonTeller) step(ch change)           { j.print(ch) }
func (j *jsonTeller) said(stepKey, string)     {}
func (j *jsonTeller) picture(*tree, time.Time) {}
func (j *jsonTeller) lost()                    {}
func (j *jsonTeller) end(_ *tree, v verdict)   { j.print(v) }
