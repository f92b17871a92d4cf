package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// cells is one row, taken apart from left to right. It does without reflection,
// which costs more than SQLite itself where thousands of wide rows are read.
type cells struct {
	row []any
	at  int
}

func newCells(columns int) (c *cells, dest []any) {
	c = &cells{row: make([]any, columns)}
	dest = make([]any, columns)
	for i := range dest {
		dest[i] = &c.row[i]
	}
	return c, dest
}

func (c *cells) next() any {
	v := c.row[c.at]
	c.at++
	return v
}

func (c *cells) int() int64 {
	n, _ := c.next().(int64)
	return n
}

func (c *cells) real() float64 {
	f, _ := c.next().(float64)
	return f
}

func (c *cells) text() string {
	s, _ := c.next().(string)
	return s
}

func (c *cells) yes() bool         { return c.int() != 0 }
func (c *cells) stamp() plan.Stamp { return plan.Stamp(c.real()) }

// maybe returns a pointer to the next value, nil for NULL.
func maybe[T any](c *cells) *T {
	if v, ok := c.next().(T); ok {
		return &v
	}
	return nil
}

// node takes the columns of nodeColumns, in their order.
func (c *cells) node(n *plan.Node) error {
	c.at = 0
	n.PlanID, n.ID = plan.PlanID(c.int()), plan.NodeID(c.int())
	n.Title, n.Description, n.Kind = c.text(), c.text(), plan.NodeKind(c.text())
	n.State, n.Phase = plan.State(c.text()), plan.Phase(c.text())
	n.Profile, n.Subplan, n.Blockers = plan.ProfileID(c.int()), plan.PlanID(c.int()), int(c.int())
	n.TaskType, n.Isolation, n.CheckCommand = c.text(), c.text(), c.text()
	n.MaxAttempts, n.EstimateMinutes = int(c.int()), c.real()
	criteria := c.text()
	n.Result, n.Error, n.ReworkBrief = maybe[string](c), maybe[string](c), maybe[string](c)
	n.AgentKind, n.AgentName, n.AgentDone = c.text(), c.text(), c.yes()
	n.SessionID, n.RunID = c.text(), plan.RunID(c.text())
	n.TokensIn, n.TokensOut, n.CostUSD = maybe[int64](c), maybe[int64](c), maybe[float64](c)
	n.Attempts, n.Interruptions, n.NotBefore = int(c.int()), int(c.int()), c.stamp()
	n.SkippedBy, n.SkippedCause, n.SkipNote = c.text(), plan.NodeID(c.int()), c.text()
	undeclared := c.text()
	n.UndeclaredMore, n.UndeclaredShared = int(c.int()), c.yes()
	n.CreatedAt, n.PhaseSince, n.StartedAt, n.FinishedAt = c.stamp(), c.stamp(), c.stamp(), c.stamp()
	if err := listOf(criteria, &n.Criteria); err != nil {
		return fmt.Errorf("read the criteria of step %s: %w", n.Ref(), err)
	}
	if err := listOf(undeclared, &n.Undeclared); err != nil {
		return fmt.Errorf("read the undeclared files of step %s: %w", n.Ref(), err)
	}
	return nil
}

func listOf(text string, into *[]string) error {
	if text == "" || text == "[]" {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}

// bundle is what belongs to one plan of a tree, in one row: reading a row costs
// as much as taking dozens of values out of a text.
type bundle struct {
	PlanID plan.PlanID `db:"plan_id"`
	Text   string      `db:"text"`
}

// pairs calls f with each pair of numbers of a bundle.
func (b *bundle) pairs(f func(a, b plan.NodeID)) error {
	var pair [2]int64
	i := 0
	for word := range strings.SplitSeq(b.Text, " ") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return fmt.Errorf("read plan %d: %w", b.PlanID, err)
		}
		if pair[i&1] = n; i&1 == 1 {
			f(plan.NodeID(pair[0]), plan.NodeID(pair[1]))
		}
		i++
	}
	return nil
}

// files calls f with each declared file of a bundle: node, key and path, with NUL
// after each, which no path has.
func (b *bundle) files(f func(plan.NodeID, plan.File)) error {
	for rest := b.Text; rest != ""; {
		var node string
		var file plan.File
		node, rest, _ = strings.Cut(rest, "\x00")
		file.Key, rest, _ = strings.Cut(rest, "\x00")
		file.Path, rest, _ = strings.Cut(rest, "\x00")
		n, err := strconv.ParseInt(node, 10, 64)
		if err != nil {
			return fmt.Errorf("read the files of plan %d: %w", b.PlanID, err)
		}
		f(plan.NodeID(n), file)
	}
	return nil
}
