package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// oldPlan is a row of plans, and what the import works out of it.
type oldPlan struct {
	ID           int64
	Title        string
	Description  string
	ParentPlan   *int64 `db:"parent_plan_id"`
	ParentNode   *int64 `db:"parent_node_id"`
	Executor     *string
	Started      int64
	Cwd          *string
	NextNode     int64      `db:"next_node_id"`
	CreatedAt    plan.Stamp `db:"created_at"`
	Agent        *int64     `db:"default_agent_profile_id"`
	MaxParallel  *int64     `db:"max_parallel"`
	Reviewer     *int64     `db:"review_agent_profile_id"`
	Instructions *string    `db:"test_instructions"`
	Isolate      *int64     `db:"isolate_steps"`

	id     plan.PlanID // here
	parent plan.Ref    // here; zero for a top-level one

	// Of a top-level one, with all that is nested in it.
	nested, steps int
	begun, ended  plan.Stamp // its first step, its last
	folder        string
}

// oldNode is a row of nodes.
type oldNode struct {
	PlanID           int64 `db:"plan_id"`
	NodeID           int64 `db:"node_id"`
	Title            string
	Description      string
	Status           plan.State
	AgentKind        *string `db:"agent_kind"`
	AgentName        *string `db:"agent_name"`
	SessionID        *string `db:"session_id"`
	AgentDone        int64   `db:"agent_done"`
	Result           *string
	Error            *string
	StartedAt        *plan.Stamp `db:"started_at"`
	FinishedAt       *plan.Stamp `db:"finished_at"`
	CreatedAt        plan.Stamp  `db:"created_at"`
	Agent            *int64      `db:"agent_profile_id"`
	TokensIn         *int64      `db:"tokens_in"`
	TokensOut        *int64      `db:"tokens_out"`
	Brief            *string     `db:"rework_brief"`
	Kind             *string
	Undeclared       *string `db:"undeclared_files"`
	UndeclaredMore   *int64  `db:"undeclared_more"`
	UndeclaredShared *int64  `db:"undeclared_shared"`

	now plan.Node // what it is here
}

type oldEdge struct {
	PlanID int64 `db:"plan_id"`
	Src    int64
	Dst    int64
}

type oldEvent struct {
	ID     int64
	PlanID int64 `db:"plan_id"`
	NodeID int64 `db:"node_id"`
	TS     plan.Stamp
	Kind   string
	Data   string
}

type oldProfile struct {
	ID             int64
	Name           string
	Harness        string
	Model          *string
	BaseURL        *string `db:"base_url"`
	KeyEnv         *string `db:"api_key_env"`
	Key            *string `db:"api_key"`
	Params         string
	Tools          string
	PermissionMode *string    `db:"permission_mode"`
	SystemAppend   *string    `db:"system_append"`
	MaxParallel    *int64     `db:"max_parallel"`
	Description    string     `db:"description"`
	CreatedAt      plan.Stamp `db:"created_at"`
	UpdatedAt      plan.Stamp `db:"updated_at"`
	Capability     *string
	TestLevel      *string `db:"test_level"`
}

type oldFile struct {
	PlanID int64 `db:"plan_id"`
	NodeID int64 `db:"node_id"`
	Path   string
	Key    string
}

type oldRequest struct {
	PlanID int64 `db:"plan_id"`
	NodeID int64 `db:"node_id"`
	From   int64 `db:"from_node_id"`
}

type oldDiff struct {
	PlanID int64 `db:"plan_id"`
	NodeID int64 `db:"node_id"`
	Path   string
	Diff   string
}

type oldReview struct {
	PlanID    int64  `db:"plan_id"`
	NodeID    *int64 `db:"node_id"`
	Verdict   string
	Summary   string
	Findings  *string
	AgentName *string    `db:"agent_name"`
	TokensIn  *int64     `db:"tokens_in"`
	TokensOut *int64     `db:"tokens_out"`
	CreatedAt plan.Stamp `db:"created_at"`
}

// table returns what to select from to read a table: columns that an older
// version had not yet are null.
func (o *Original) table(name, order string) string {
	known := oldTables[name]
	var list []string
	for _, c := range strings.Fields(known.first + " " + known.added) {
		if !slices.Contains(o.columns[name], c) {
			c = "NULL AS " + c
		}
		list = append(list, c)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + name + " ORDER BY " + order
}

func (o *Original) count(ctx context.Context, query string) (n int, err error) {
	err = o.db.GetContext(ctx, &n, "SELECT COUNT(*) FROM ("+query+")")
	if err != nil {
		err = o.unreadable(err)
	}
	return n, err
}

// rowsOf calls fn with each row of a query, one at a time. fn has to look now and
// then whether anybody still waits: with a context that can end, the driver would
// start a goroutine for each row.
func rowsOf[T any](ctx context.Context, o *Original, query string, fn func(*T) error) error {
	rows, err := o.db.QueryxContext(context.WithoutCancel(ctx), query)
	if err != nil {
		return o.unreadable(err)
	}
	defer rows.Close()
	for rows.Next() {
		row := new(T)
		if err := rows.StructScan(row); err != nil {
			return plan.Errorf(plan.Invalid, "%s is damaged: %s", o.path, scanFault(err))
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return o.unreadable(err)
	}
	return nil
}

// scanFault says which column holds something else than it should, without the
// value, which may be a key.
func scanFault(err error) string {
	if _, rest, ok := strings.Cut(err.Error(), `name "`); ok {
		if name, _, ok := strings.Cut(rest, `"`); ok {
			return fmt.Sprintf("its column %s holds what does not belong there", name)
		}
	}
	return "a column holds what does not belong there"
}

// cleaned makes of a text what may be stored and shown: valid UTF-8 without NUL.
func cleaned(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func cleanedOr(s *string) *string {
	if s == nil {
		return nil
	}
	c := cleaned(*s)
	return &c
}

// textOf returns a text, "" for none.
func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return cleaned(*s)
}

// oldMoment returns a stamp, 0 for none.
func oldMoment(s *plan.Stamp) plan.Stamp {
	if s == nil {
		return 0
	}
	return *s
}

// oldNumber returns a number that must not be negative, 0 for none.
func oldNumber(n *int64) int64 {
	if n == nil {
		return 0
	}
	return max(*n, 0)
}
