package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// ServerURL is the page of settings.
const ServerURL = "/settings"

// ServerPage is the page of what is set for the whole server.
type ServerPage struct {
	Events    []string // that can be told
	Told      []string // of them, what browsers tell
	Hooks     []Hook
	KeepDays  string // "" : for ever
	KeepGB    string
	Automatic bool
	Excess    *Excess // nil: nobody asked what would go
}

// Hook is a webhook; ID 0 is the form for a new one.
type Hook struct {
	ID        int64
	URL       string
	Events    []string
	Enabled   bool
	HasSecret bool
	Waiting   int
	Last      *HookResult // nil: nothing was sent
}

// HookResult is how a notice to a webhook went.
type HookResult struct {
	Event  string
	OK     bool
	Status int    // of the answer; 0: there was none
	Fault  string // "" : it was taken
	At     plan.Stamp
	Again  plan.Stamp // when it is tried again; 0: not
}

// Excess is what would go by a retention.
type Excess struct {
	Plans     []ExcessPlan
	Bytes     int64
	Kept      int
	KeptBytes int64
	Boundless bool // neither number is given: nothing goes
}

// ExcessPlan is one plan whose history would go.
type ExcessPlan struct {
	ID       plan.PlanID
	Title    string
	Finished plan.Stamp
	Bytes    int64
}

// newHook is the form for a webhook that is not there yet.
func (p *ServerPage) newHook() Hook { return Hook{Events: p.Events, Enabled: true} }

// action returns the path of an action on the webhook; "" is the one that keeps it.
func (h *Hook) action(what string) string {
	if h.ID == 0 {
		return ServerURL + "/webhooks"
	}
	return ServerURL + "/webhooks/" + strconv.FormatInt(h.ID, 10) + what
}

// id makes an element's id for the webhook.
func (h *Hook) id(what string) string { return fmt.Sprintf("hook-%d-%s", h.ID, what) }

func (h *Hook) tells(event string) bool { return slices.Contains(h.Events, event) }

func (p *ServerPage) tells(event string) bool { return slices.Contains(p.Told, event) }

// eventWords say what an event is.
func eventWords(event string) string {
	switch event {
	case "plan_done":
		return "A plan is done"
	case "plan_failed":
		return "A plan fails"
	case "step_failed":
		return "A step fails"
	case "waiting":
		return "Something waits for a person"
	}
	return strings.ReplaceAll(event, "_", " ")
}

// words say how a notice went.
func (r *HookResult) words() string {
	what := strings.ToLower(eventWords(r.Event))
	switch {
	case r.OK:
		return fmt.Sprintf("Taken with %d: %s", r.Status, what)
	case r.Status != 0:
		return fmt.Sprintf("Not taken (%d): %s", r.Status, r.Fault)
	}
	return "Not taken: " + r.Fault
}

// words say what would go and what would stay.
func (x *Excess) words() string {
	if x.Boundless {
		return "Without a number of days or gigabytes everything is kept."
	}
	stays := fmt.Sprintf("%s with %s stay.", plural(x.Kept, "plan that is over", "plans that are over"), bytesWords(x.KeptBytes))
	if len(x.Plans) == 0 {
		return "Nothing would go. " + stays
	}
	return fmt.Sprintf("The history of %s would go: %s. %s", plural(len(x.Plans), "plan", "plans"), bytesWords(x.Bytes), stays)
}

// bytesWords writes an amount of data.
func bytesWords(n int64) string {
	switch f := float64(n); {
	case n < 1000:
		return plural(int(n), "byte", "bytes")
	case n < 1e6:
		return trimmed(f/1e3, 1) + " kB"
	case n < 1e9:
		return trimmed(f/1e6, 1) + " MB"
	}
	return trimmed(float64(n)/1e9, 1) + " GB"
}
