package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Tx is one moment of the database, or one change to it. It is valid only
// inside the function that it was given to.
type Tx struct {
	conn    *conn
	ctx     context.Context
	now     plan.Stamp
	seq     *int64 // nil in readers
	changes []plan.Change
	told    bool  // webhooks hear of it
	notes   []any // rows of events and of changes, one after the other; stored by flush
	records []any
}

// Now returns the moment of the transaction.
func (t *Tx) Now() plan.Stamp { return t.now }

// nextSeq gives out the next number of the one sequence of changes and events.
func (t *Tx) nextSeq() int64 {
	*t.seq++
	return *t.seq
}

// do runs a statement whose effect nobody counts; for those that each change of a
// node needs.
func (t *Tx) do(doing, statement string, args ...any) error {
	if err := t.conn.do(statement, args...); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (t *Tx) exec(doing, query string, args ...any) (int64, error) {
	n, err := t.conn.exec(query, args)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	return n, nil
}

func (t *Tx) get(doing string, dest any, query string, args ...any) error {
	if err := t.conn.GetContext(t.ctx, dest, query, args...); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (t *Tx) list(doing string, dest any, query string, args ...any) error {
	if err := t.conn.SelectContext(t.ctx, dest, query, args...); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func isNone(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// jsonOf encodes a list for a JSON column, or for json_each; never null.
func jsonOf[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	b, err := json.Marshal(list)
	if err != nil {
		return "[]" // lists of strings and numbers always encode
	}
	return string(b)
}
