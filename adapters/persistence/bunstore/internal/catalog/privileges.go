package catalog

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Need lists the privileges that a statement needs on a table.
type Need struct {
	table      string
	privileges []string
}

// ToRead returns the privileges for a statement that reads a table.
func ToRead(table string) Need { return Need{table, []string{"SELECT"}} }

// ToUpdate returns the privileges for a statement that changes or locks rows of a table.
func ToUpdate(table string) Need { return Need{table, []string{"SELECT", "UPDATE"}} }

// ToCarryOut returns the privileges for a step.
func ToCarryOut(step datamap.Step) Need {
	switch step.Strategy { //nolint:exhaustive // a retain step only reads
	case domain.StrategyDelete:
		return Need{step.Target, []string{"SELECT", "DELETE"}}
	case domain.StrategyAnonymize:
		return ToUpdate(step.Target)
	default:
		return ToRead(step.Target)
	}
}

// ToExport returns the needs of an export.
func (c *Cache) ToExport() []Need {
	needs := make([]Need, len(c.text.Touched))
	for i, table := range c.text.Touched {
		needs[i] = ToRead(table.Name)
	}
	return needs
}

// ToLock returns the privileges for statements that lock rows of tables.
func ToLock(tables []string) []Need {
	needs := make([]Need, len(tables))
	for i, table := range tables {
		needs[i] = ToUpdate(table)
	}
	return needs
}

// FindLacking asks the database which of the needed privileges the role of the store lacks. Call it after the database
// has refused a statement. It returns one text for each table without sufficient privileges.
func (c *Cache) FindLacking(ctx context.Context, query conn.Query, needs []Need) (why []string) {
	for _, n := range needs {
		reason := ""
		err := query(ctx, func(rows *sql.Rows) error {
			var missing sql.NullString
			err := rows.Scan(&missing)
			reason = missing.String
			return err
		}, c.text.Dialect.AccessProblem(n.table, n.privileges))
		if err == nil && reason != "" {
			why = append(why, n.table+": "+reason)
		}
	}
	return why
}

// Unexplained returns the error message for a statement that the database refused although the role has all needed
// privileges on the tables. The database must have refused the statement because of another object.
func Unexplained(needs []Need) string {
	names := make([]string, len(needs))
	for i, n := range needs {
		names[i] = n.table
	}
	return strings.Join(names, ", ") +
		": this role lacks a privilege: on some of the columns, on a table below a view, or" +
		" on something that a trigger, a rule or a policy needs"
}

// RefuseUnlocked returns an error if the database cannot lock the rows of one of the tables, for example the rows of a
// foreign table. An erasure must lock these rows.
func (c *Catalog) RefuseUnlocked(tables []string) error {
	i := slices.IndexFunc(tables, func(table string) bool { return c.tables[table].kind != "" })
	if i < 0 {
		return nil
	}
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: "lock subject", Message: tables[i] + ": is " + c.tables[tables[i]].kind +
			" or a view of one, whose rows an erasure cannot lock",
	}
}
