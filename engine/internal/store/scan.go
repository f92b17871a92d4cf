package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// cells is one row, taken apart from left to right. It does without reflection,
// which costs more than SQLite itself where thousands of wide rows are read.
type cells struct {
	row []driver.Value
	at  int
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

func (c *cells) bytes() []byte {
	b, _ := c.next().([]byte)
	return b
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

// rows calls f with each row of a query.
func (t *Tx) rows(doing, query string, args []any, f func(*cells) error) error {
	err := t.conn.query(t.ctx, query, args, func(row []driver.Value) error {
		return f(&cells{row: row})
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// row calls f with the one row of a query, and reports whether there is one.
func (t *Tx) row(doing, query string, args []any, f func(*cells) error) (found bool, err error) {
	err = t.rows(doing, query, args, func(c *cells) error {
		found = true
		return f(c)
	})
	return found, err
}

// some runs a statement that returns a row for each that it changes, and reports
// whether there was one.
func (t *Tx) some(doing, statement string, args ...any) (bool, error) {
	return t.row(doing, statement, args, func(*cells) error { return nil })
}

// numbers returns the one column of a query.
func numbers[T ~int | ~int64](t *Tx, doing, query string, args ...any) (list []T, err error) {
	err = t.rows(doing, query, args, func(c *cells) error {
		list = append(list, T(c.int()))
		return nil
	})
	return list, err
}

// node takes the columns of nodeColumns, in their order.
func (c *cells) node(n *plan.Node) error {
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
	n.AttemptsBefore, n.StalledAt = int(c.int()), c.stamp()
	if err := listOf(criteria, &n.Criteria); err != nil {
		return fmt.Errorf("read the criteria of step %s: %w", n.Ref(), err)
	}
	if err := listOf(undeclared, &n.Undeclared); err != nil {
		return fmt.Errorf("read the undeclared files of step %s: %w", n.Ref(), err)
	}
	return nil
}

// plan takes the columns of planColumns, in their order.
func (c *cells) plan(p *plan.Plan) {
	p.ID, p.Root = plan.PlanID(c.int()), plan.PlanID(c.int())
	p.ParentPlan, p.ParentNode = plan.PlanID(c.int()), plan.NodeID(c.int())
	p.Title, p.Description, p.WorkDir = c.text(), c.text(), c.text()
	p.DefaultProfile, p.ReviewProfile = plan.ProfileID(c.int()), plan.ProfileID(c.int())
	p.Executor, p.Started = plan.Executor(c.text()), c.yes()
	p.StartedAt, p.FirstStart, p.FinishedAt = c.stamp(), c.stamp(), c.stamp()
	p.Approval, p.Revision, p.NextNode, p.CreatedAt = plan.Approval(c.text()), c.int(), plan.NodeID(c.int()), c.stamp()
	p.MaxParallel, p.TestInstructions, p.Isolation, p.OnFailure = int(c.int()), c.text(), c.text(), c.text()
	p.ReviewPolicy, p.MaxAttempts, p.MaxTokens, p.MaxCostUSD = c.text(), int(c.int()), c.int(), c.real()
	p.CheckCommand, p.Deliver, p.StallAfter = c.text(), c.text(), c.int()
	p.Tokens, p.Spent.CostUSD, p.Uncosted = c.int(), c.real(), int(c.int())
}

// run takes the columns of runColumns, in their order.
func (c *cells) run(r *plan.Run) error {
	r.ID, r.PlanID, r.NodeID = plan.RunID(c.text()), plan.PlanID(c.int()), plan.NodeID(c.int())
	r.Number, r.Kind, r.Outcome, r.Cause = int(c.int()), plan.RunKind(c.text()), plan.Outcome(c.text()), c.text()
	r.Profile, r.AgentName, r.Harness = plan.ProfileID(c.int()), c.text(), c.text()
	r.Model, r.Capability, r.SessionID = c.text(), c.text(), c.text()
	r.TokenHash, r.TokenRole = c.bytes(), plan.Role(c.text())
	r.Isolation, r.Worktree, r.BaseTree, r.EndTree = c.text(), c.text(), c.text(), c.text()
	r.Attach, r.Acked = c.bytes(), c.int()
	r.TokensIn, r.TokensOut, r.CostUSD = maybe[int64](c), maybe[int64](c), maybe[float64](c)
	r.NumTurns, r.Result, r.Stopping = int(c.int()), maybe[string](c), c.yes()
	r.StartedAt, r.FinishedAt = c.stamp(), c.stamp()
	r.BaseTook, r.EndTook = c.real(), c.real()
	if err := r.LeftOut.Scan(c.text()); err != nil {
		return err
	}
	r.StartCause, r.MaxTokens = c.text(), c.int()
	return nil
}

// lists takes the files of a node and its requests for results, in one text each.
func (c *cells) lists(n *plan.Node) error {
	for rest := c.text(); rest != ""; {
		var file plan.File
		file.Key, rest, _ = strings.Cut(rest, "\x00")
		file.Path, rest, _ = strings.Cut(rest, "\x00")
		n.Files = append(n.Files, file)
	}
	switch from := c.next().(type) { // one number alone is no text
	case int64:
		n.ResultsFrom = []plan.NodeID{plan.NodeID(from)}
	case string:
		for word := range strings.SplitSeq(from, " ") {
			id, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return fmt.Errorf("read the requests of step %s: %w", n.Ref(), err)
			}
			n.ResultsFrom = append(n.ResultsFrom, plan.NodeID(id))
		}
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
