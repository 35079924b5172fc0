// Package constraint lets the database evaluate its own CHECK constraints on examples of rows.
package constraint

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// limit is the time limit of a statement that evaluates a constraint.
const limit = time.Second

// dialect has the statements of PostgreSQL or SQLite.
type dialect interface {
	// condition returns the condition of the constraint as the database has it. It returns "" if the table does not have
	// the constraint.
	condition(ctx context.Context, tx *conn.Tx, table string, check datamap.CatalogCheck) (string, error)

	// columns returns the columns of the table.
	columns(ctx context.Context, tx *conn.Tx, table string, check datamap.CatalogCheck) ([]column, error)

	// limitTime limits the time of the further statements of the transaction.
	limitTime(ctx context.Context, tx *conn.Tx) error

	// sameName reports whether two names mean the same column.
	sameName(a, b string) bool

	// mistakes reports whether the database accepts the condition on a row without the column, although the condition may
	// name the column.
	mistakes(condition, column string) bool
}

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

// column is a column of a table.
type column struct {
	name   string
	of     string // the column whose value it has; usually itself
	parsed func(placeholder string, value any) (expression string, parameter any)
}

// Satisfies implements ports.CatalogReader. It evaluates all rows in one statement. If the database refuses the
// statement, it evaluates the rows one by one.
func Satisfies(
	ctx context.Context, pool *conn.Pool, d syntax.Dialect, table string, check datamap.CatalogCheck,
	rows []map[string]any,
) (verdicts []datamap.Verdict, err error) {
	decided := false
	err = conn.Retry(ctx, func() (err error) {
		verdicts, decided, err = evaluate(ctx, pool, dialectOf(d), table, check, rows)
		return conn.Wrap(ctx, "catalog", err)
	})
	if err != nil {
		return nil, err
	}
	if decided || len(rows) <= 1 {
		return verdicts, nil
	}
	for i := range rows {
		one, err := Satisfies(ctx, pool, d, table, check, rows[i:i+1])
		if err != nil {
			return nil, err
		}
		verdicts[i] = one[0]
	}
	return verdicts, nil
}

// evaluate evaluates the constraint in a transaction that only reads. If the database refuses the statement, decided is
// false, and no verdict is decided.
func evaluate(
	ctx context.Context, pool *conn.Pool, d dialect, table string, check datamap.CatalogCheck, rows []map[string]any,
) (verdicts []datamap.Verdict, decided bool, err error) {
	verdicts = make([]datamap.Verdict, len(rows))
	for i := range verdicts {
		verdicts[i] = datamap.VerdictUndecided
	}
	tx, err := pool.Snapshot(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	condition, err := d.condition(ctx, tx, table, check)
	if err != nil || condition == "" || len(rows) == 0 {
		return verdicts, true, err
	}
	columns, err := d.columns(ctx, tx, table, check)
	if err != nil {
		return nil, false, err
	}
	if err := d.limitTime(ctx, tx); err != nil {
		return nil, false, err
	}
	limited, cancel := context.WithTimeout(ctx, 2*limit) // for SQLite, which has no time limit of its own
	defer cancel()
	text, parameters, ok := statement(d, table, condition, columns, rows)
	if !ok {
		return verdicts, false, nil
	}
	found := make([]datamap.Verdict, 0, len(rows))
	err = tx.QueryAsWritten(limited, func(rows *sql.Rows) error {
		var holds bool
		err := rows.Scan(&holds)
		found = append(found, map[bool]datamap.Verdict{true: datamap.VerdictHolds, false: datamap.VerdictFails}[holds])
		return err
	}, text, parameters...)
	switch {
	case err == nil:
		return found, true, nil
	case ctx.Err() == nil && (limited.Err() != nil || isRefused(ctx, err)):
		return verdicts, false, nil
	default:
		return nil, false, err
	}
}

// isRefused reports whether the database has refused a statement because of the statement itself.
func isRefused(ctx context.Context, err error) bool {
	const writes, reachedLimit = "25006", "57014" // SQLSTATEs of statements in a transaction that only reads, for a second
	switch conn.SQLState(err) {
	case writes, reachedLimit:
		return true
	default:
		return !conn.Retryable(err) && !errors.Is(conn.Wrap(ctx, "catalog", err), domain.ErrUnavailable)
	}
}

// statement returns the statement that evaluates the condition on each row, in the order of the rows. It gives the rows
// the columns of the table for which they have values. It returns false if the rows have different columns, or if the
// database would not refuse a row that lacks a column of the condition.
func statement(
	d dialect, table, condition string, columns []column, rows []map[string]any,
) (text string, parameters []any, ok bool) {
	const number = `"habeas number"`
	examples := make([]string, len(rows))
	for i, row := range rows {
		list := []string{strconv.Itoa(i) + " AS " + number}
		for _, c := range columns {
			value, known := valueOf(d, row, c.of)
			switch {
			case known:
				expression, parameter := c.parsed("$"+strconv.Itoa(len(parameters)+1), value)
				list, parameters = append(list, expression+" AS "+syntax.Quote(c.name)), append(parameters, parameter)
			case d.mistakes(condition, c.name):
				return "", nil, false
			}
			if _, first := valueOf(d, rows[0], c.of); first != known {
				return "", nil, false
			}
		}
		examples[i] = "SELECT " + strings.Join(list, ", ")
	}
	_, alias, qualified := strings.Cut(table, ".")
	if !qualified {
		alias = table
	}
	return "SELECT (" + condition + ") IS NOT FALSE FROM (" + strings.Join(examples, " UNION ALL ") + ") AS " +
		syntax.Quote(alias) + " ORDER BY " + number, parameters, true
}

func valueOf(d dialect, row map[string]any, column string) (value any, ok bool) {
	for name, value := range row {
		if d.sameName(name, column) {
			return value, true
		}
	}
	return nil, false
}

// Count runs a statement that counts rows in a transaction that only reads. A statement that the database refuses, or
// that takes longer than the deadline of the context, counts nothing.
func Count(ctx context.Context, pool *conn.Pool, text string) (count datamap.RowCount, err error) {
	tx, err := pool.Snapshot(ctx)
	if err == nil {
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
		err = tx.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&count.Rows, &count.Found) }, text)
	}
	switch {
	case err == nil:
		count.Counted = true
		return count, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded), ctx.Err() == nil && isRefused(ctx, err):
		return datamap.RowCount{}, nil
	default:
		return datamap.RowCount{}, conn.Wrap(ctx, "count rows", err)
	}
}
