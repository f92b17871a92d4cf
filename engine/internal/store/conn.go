package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/jmoiron/sqlx"
	sqlite "github.com/mattn/go-sqlite3"
)

// conn is a connection of a pool, held by one transaction. The statements that
// every change of a node needs go straight to the driver, since what database/sql
// does around a statement (a goroutine, locks, two dozen allocations) costs as
// much as the statement. All others go through sqlx.
type conn struct {
	*sqlx.Conn
	raw    *sqlite.SQLiteConn
	values []driver.NamedValue // of the statement that is begun; the next one has them anew
}

// take takes a connection out of a pool; Close gives it back.
func take(ctx context.Context, pool *sqlx.DB) (*conn, error) {
	c, err := pool.Connx(ctx)
	if err != nil {
		return nil, err
	}
	taken := &conn{Conn: c}
	err = c.Raw(func(raw any) (err error) {
		// The driver's connection stays ours until Close, since nobody else has c.
		taken.raw = raw.(*sqlite.SQLiteConn)
		return nil
	})
	if err != nil {
		c.Close()
		return nil, err
	}
	return taken, nil
}

// do runs a statement. It is asked as a query: the driver hands over all parameters
// of one at once and each of others by itself, and keeps none prepared that has none.
func (c *conn) do(statement string, args ...any) error {
	values, err := c.valuesOf(args)
	if err != nil {
		return err
	}
	rows, err := c.raw.QueryContext(context.Background(), statement, values)
	if err != nil {
		return err
	}
	return rows.Close()
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(statement string, args []any) (int64, error) {
	values, err := c.valuesOf(args)
	if err != nil {
		return 0, err
	}
	res, err := c.raw.ExecContext(context.Background(), statement, values)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query calls f with each row. The row is valid until f returns. ctx is looked at
// between rows.
func (c *conn) query(ctx context.Context, query string, args []any, f func(row []driver.Value) error) error {
	values, err := c.valuesOf(args)
	if err != nil {
		return err
	}
	rows, err := c.raw.QueryContext(context.Background(), query, values)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

// valuesOf turns arguments into the few types that the driver knows. They are valid
// until the next statement: the driver copies them as it begins one.
func (c *conn) valuesOf(args []any) ([]driver.NamedValue, error) {
	c.values = c.values[:0]
	for i, a := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(a)
		if err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
		c.values = append(c.values, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return c.values, nil
}
