package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sqlite "github.com/mattn/go-sqlite3"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// oldTables are the tables of the Python program: the columns that each had from
// the first version on, and those that were added later, in that order.
var oldTables = map[string]struct{ first, added string }{
	"plans": {"id title description parent_plan_id parent_node_id executor started cwd next_node_id created_at",
		"default_agent_profile_id max_parallel review_agent_profile_id test_instructions isolate_steps"},
	"nodes": {"plan_id node_id title description status agent_kind agent_name session_id agent_done result error started_at finished_at created_at",
		"agent_profile_id tokens_in tokens_out rework_brief kind undeclared_files undeclared_more undeclared_shared"},
	"edges":  {"plan_id src dst", ""},
	"events": {"id plan_id node_id ts kind data", ""},
	"agent_profiles": {"id name harness model base_url api_key_env api_key params tools permission_mode system_append max_parallel description created_at updated_at",
		"capability test_level"},
	"node_files":        {"plan_id node_id path key", ""},
	"node_results_from": {"plan_id node_id from_node_id", ""},
	"node_diffs":        {"plan_id node_id path diff", ""},
	"reviews":           {"plan_id node_id verdict summary findings agent_name tokens_in tokens_out created_at", ""},
}

// check makes sure that the copy is whole, and of the Python program in a version
// that is known.
func (o *Original) check(ctx context.Context) error {
	var id, version int64
	if err := o.db.GetContext(ctx, &id, "PRAGMA application_id"); err != nil {
		return o.unreadable(err)
	}
	if id == applicationID { // so far only its log may say it
		return oursAlready(o.path)
	}
	if err := o.readColumns(ctx); err != nil {
		return o.unreadable(err)
	}
	if err := o.db.GetContext(ctx, &version, "PRAGMA user_version"); err != nil {
		return o.unreadable(err)
	}
	if err := o.known(id, version); err != nil {
		return err
	}
	var found string
	if err := o.db.GetContext(ctx, &found, "PRAGMA quick_check(1)"); err != nil {
		return o.unreadable(err)
	}
	if found != "ok" {
		return plan.Errorf(plan.Invalid, "%s is damaged: %s", o.path, found)
	}
	return nil
}

// unreadable says of an error of SQLite what is wrong with the file.
func (o *Original) unreadable(err error) error {
	var e sqlite.Error
	if errors.As(err, &e) && (e.Code == sqlite.ErrNotADB || e.Code == sqlite.ErrCorrupt) {
		return plan.Errorf(plan.Invalid, "%s is damaged, or no database: %s", o.path, e.Error())
	}
	return fmt.Errorf("read %s: %w", o.path, err)
}

const allColumns = `SELECT m.name AS "table", c.name AS "column" FROM sqlite_master m JOIN pragma_table_info(m.name) c
	WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.cid`

func (o *Original) readColumns(ctx context.Context) error {
	var rows []struct{ Table, Column string }
	if err := o.db.SelectContext(ctx, &rows, allColumns); err != nil {
		return err
	}
	o.columns = map[string][]string{}
	for _, r := range rows {
		o.columns[r.Table] = append(o.columns[r.Table], r.Column)
	}
	return nil
}

// known compares the tables with those of the versions that are known.
func (o *Original) known(id, version int64) error {
	if id != 0 || o.columns["plans"] == nil || o.columns["agent_profiles"] == nil {
		return plan.Errorf(plan.Invalid, "%s is a database of another program, not of the Python program clearbox", o.path)
	}
	var missing, unknown []string
	for table, want := range oldTables {
		for _, c := range strings.Fields(want.first) {
			if !slices.Contains(o.columns[table], c) {
				missing = append(missing, table+"."+c)
			}
		}
	}
	for table, have := range o.columns {
		want := oldTables[table]
		all := strings.Fields(want.first + " " + want.added)
		for _, c := range have {
			if !slices.Contains(all, c) {
				unknown = append(unknown, table+"."+c)
			}
		}
	}
	slices.Sort(missing)
	slices.Sort(unknown)
	switch {
	case len(missing) > 0:
		return plan.Errorf(plan.Invalid, "%s is not of the Python program clearbox, or of an old trial version: it lacks %s",
			o.path, strings.Join(missing, ", "))
	case len(unknown) > 0 || version != 0:
		return plan.Errorf(plan.Invalid, "%s is of a newer version of the Python program clearbox than this one knows (0.1 to 0.4): "+
			"nothing was imported, since what it has further would be lost%s", o.path, listed(unknown))
	}
	return nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// version names the versions of the Python program that wrote such tables.
func (o *Original) version() string {
	has := func(table, column string) bool { return slices.Contains(o.columns[table], column) }
	switch {
	case has("plans", "isolate_steps"):
		return "0.4"
	case has("plans", "test_instructions"):
		return "0.3"
	case has("nodes", "kind"):
		return "0.2"
	}
	return "0.1"
}
