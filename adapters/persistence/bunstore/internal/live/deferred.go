package live

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// ConstraintTrigger is a trigger of the application that may fire at the commit.
type ConstraintTrigger struct {
	table, name string
	constraint  string // the quoted name for SET CONSTRAINTS
	alone       bool   // SET CONSTRAINTS with that name affects only triggers

	Deferred bool // the trigger is declared INITIALLY DEFERRED: it fires at the commit
}

// SetConstraints returns the statement that sets the triggers to mode, which is IMMEDIATE or DEFERRED.
func SetConstraints(triggers []ConstraintTrigger, mode string) string {
	names := make([]string, len(triggers))
	for i, trigger := range triggers {
		names[i] = trigger.constraint
	}
	slices.Sort(names) // triggers of several tables may have the same name
	return "SET CONSTRAINTS " + strings.Join(slices.Compact(names), ", ") + " " + mode
}

// ReadConstraintTriggers reads the deferrable triggers that may write to tables of the data map: the triggers of these
// tables, and the triggers of other tables whose code writes to any table or cannot be read. It returns
// domain.ErrConfiguration if SET CONSTRAINTS with the name of a trigger would fail, or would affect more than triggers
// of its kind: a constraint of another kind has the name, or a constraint trigger that is not deferrable or begins in
// the other mode.
func (c *Cache) ReadConstraintTriggers(
	ctx context.Context, query conn.Query, op string,
) (all []ConstraintTrigger, err error) {
	err = query(ctx, func(rows *sql.Rows) error {
		var t ConstraintTrigger
		var schema, constraint string
		var mapped bool
		var code sql.NullString
		err := rows.Scan(&t.table, &t.name, &schema, &constraint, &t.Deferred, &t.alone, &mapped, &code)
		t.constraint = syntax.Quote(schema) + "." + syntax.Quote(constraint)
		if err == nil && (mapped || c.mayWrite(code.String)) {
			all = append(all, t)
		}
		return err
	}, c.own.constraintTriggers(c.touched))
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if !t.alone {
			return nil, &domain.Error{
				Code: domain.ErrConfiguration, Op: op, Message: t.table + ": the trigger " + t.name + " may fire at the commit " +
					"of the application, and cannot fire earlier, because another constraint has the same name. Rename one of them",
			}
		}
	}
	return all, nil
}

// mayWrite reports whether the code of a trigger may write to a table. The parameter is a JSON array of routines.
func (c *Cache) mayWrite(code string) bool {
	var called []routine
	if json.Unmarshal([]byte(code), &called) != nil {
		return true
	}
	quotes := c.own.quotes()
	return slices.ContainsFunc(called, func(r routine) bool {
		r.readWrites(quotes)
		text := sqltext.TokensOf(r.Text, quotes)
		return len(r.writes) > 0 || r.unread ||
			slices.ContainsFunc([]string{"delete", "insert", "update", "merge", "call", "copy"}, text.Has)
	})
}

// ForeignKey identifies a foreign key of SQLite. Foreign keys have no name in SQLite.
type ForeignKey struct {
	table, references string
	number            int // the number of the foreign key in its table
}

// Refusal returns the error message for a violated foreign key.
func (k ForeignKey) Refusal() string {
	return "the database would refuse the commit because of a foreign key" +
		" (table " + k.table + ", references " + k.references + ")"
}

// ReadBrokenKeys counts the rows that violate a deferred foreign key, separately for each key. On PostgreSQL, which has
// a statement that checks deferred constraints, the result is empty.
func (c *Cache) ReadBrokenKeys(ctx context.Context, query conn.Query) (map[ForeignKey]int64, error) {
	schemas, err := Schemas(ctx, query, c.d)
	if err != nil {
		return nil, err
	}
	broken := map[ForeignKey]int64{}
	for _, schema := range schemas {
		err := query(ctx, func(rows *sql.Rows) error {
			var key ForeignKey
			var n int64
			err := rows.Scan(&key.table, &key.references, &key.number, &n)
			broken[key] += n
			return err
		}, c.own.brokenForeignKeys(schema))
		if err != nil {
			return nil, err
		}
	}
	return broken, nil
}
