package live

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// RefuseSubject returns an error if an operation on the subject could touch rows of another subject or miss rows. It
// combines RefuseConverted and RefuseHidden. RefuseSubject also returns the name of the table.
func (c *Schema) RefuseSubject(id domain.SubjectID, op string) (table string, err error) {
	if table, err := c.RefuseConverted(id, op); err != nil {
		return table, err
	}
	return c.RefuseHidden(op)
}

// RefuseConverted returns an error if the id has a text that a numeric column of SQLite would convert to the number of
// another text, such as 07. A row with the number 7 may belong to the subject 07 or to the subject 7. The error names
// the numeric column, and the column of the key to which it refers. RefuseConverted also returns the name of the table.
func (c *Schema) RefuseConverted(id domain.SubjectID, op string) (table string, err error) {
	elements, why := id.Elements(), ""
	for _, touched := range c.cache.touched {
		for _, column := range c.mapped[touched.Name].numeric {
			// A column that refers to the key explains more than the key's own column.
			if !isKept(elements[column.element]) && (why == "" || table == c.cache.dataMap.SubjectTable().Name) {
				table, why = touched.Name, column.why
			}
		}
	}
	if why == "" {
		return "", nil
	}
	return table, &domain.Error{
		Code: domain.ErrConfiguration, Op: op, Err: domain.ErrSubject,
		Message: why + ": SQLite converts this id to a number" +
			" that other texts have, too, so that it may miss rows of the subject, or find rows of another subject. Use ids" +
			" that are whole numbers without leading zeros, or give the columns a text type",
	}
}

// HasNoRow reports whether no row of the subject's table can have the id: a numeric column of SQLite never holds this
// text.
func (c *Schema) HasNoRow(id domain.SubjectID) bool {
	subject := c.mapped[c.cache.dataMap.SubjectTable().Name]
	return slices.ContainsFunc(subject.numeric, func(column numericColumn) bool {
		return column.own && !isKept(id.Elements()[column.element])
	})
}

// RefuseHidden returns an error if statements on a table of the data map may miss rows of the subject or find rows of
// another subject. The reasons are a conversion of keys by SQLite, row-level security, and views that leave rows out.
// RefuseHidden also returns the name of the first such table.
func (c *Schema) RefuseHidden(op string) (table string, err error) {
	if table, err := c.refuseTemporary(op); err != nil {
		return table, err
	}
	for _, table := range c.cache.touched {
		if why := c.mapped[table.Name].mixes; why != "" {
			return table.Name, &domain.Error{
				Code: domain.ErrConfiguration, Op: op, Message: why + ": SQLite converts values of these types, so that it" +
					" may miss rows of the subject, or find rows of another subject. Give a key and the columns that refer to it the" +
					" same type, but not REAL",
			}
		}
	}
	if c.cache.trustRowFilters {
		return "", nil
	}
	for _, table := range c.cache.touched {
		if why := c.mapped[table.Name].hides; why != "" {
			message := "the database may hide rows of the subject: " + why +
				". If it shows all of them to this role, set TrustRowFilters"
			if why == notPlain {
				message = notPlain + ". Map the table, or declare the view trusted"
			}
			return table.Name, &domain.Error{Code: domain.ErrConfiguration, Op: op, Message: table.Name + ": " + message}
		}
	}
	return "", nil
}

// refuseTemporary returns an error if a temporary table hides a table of the data map or of habeas, because statements
// would read and write the temporary table. It also returns the name of the table of the data map.
func (c *Schema) refuseTemporary(op string) (table string, err error) {
	name := c.inFront
	for _, touched := range c.cache.touched {
		if c.mapped[touched.Name].temp {
			table, name = touched.Name, touched.Name
			break
		}
	}
	if name == "" {
		return "", nil
	}
	return table, syntax.RefuseInFront(op, name)
}

// RefuseUnseen returns an error if a step overwrites columns, and a trigger or a generated column could keep the old
// value in a column that the store does not see: a column that a view does not show, or that only an inheriting table
// has.
func (c *Schema) RefuseUnseen(step datamap.Step) error {
	table, _ := c.cache.dataMap.Table(step.Target)
	live := c.mapped[table.Name]
	if step.Strategy != domain.StrategyAnonymize || table.Trusted || c.cache.trustRowFilters || !live.copies ||
		len(live.hidden) == 0 {
		return nil
	}
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: "erase", Message: table.Name + "." + live.hidden[0] + ": the column belongs" +
			" to another table, below the view or inheriting from the table. A trigger or a generated column may keep an" +
			" erased value in it. Map that table, or declare the view trusted",
	}
}

// RefuseUnknown returns an error if a step deletes rows of a table with a column that is missing from the data map. The
// step would delete data that the data map does not describe.
func (c *Schema) RefuseUnknown(step datamap.Step) error {
	unknown := c.mapped[step.Target].unknown
	if len(unknown) == 0 || !c.cache.dataMap.NeedsAllColumns(step) {
		return nil
	}
	return &domain.Error{
		Code: domain.ErrManifest, Op: "erase", Message: step.Target + "." + unknown[0] + ": is not in the data map, " +
			"and would be deleted with its row. Add the column, or declare the table owned",
	}
}

// RefuseNull returns an error if a step sets NOT NULL columns to NULL. The error lists all such columns.
func (c *Schema) RefuseNull(step datamap.Step) error {
	table, _ := c.cache.dataMap.Table(step.Target)
	if step.Strategy != domain.StrategyAnonymize {
		return nil
	}
	var problems []domain.Problem
	for _, name := range slices.Concat(step.Columns, step.ClearedColumns) {
		column, _ := table.Column(name)
		nulled := column.IsNulled() || slices.Contains(step.ClearedColumns, name)
		if nulled && c.IsNeverNull(table.Name, name) {
			possible := []string{string(domain.StrategyErase), string(domain.StrategyAnonymize)}
			if slices.Contains(step.ClearedColumns, name) {
				possible = []string{string(domain.StrategyDelete)}
			}
			problems = append(problems, domain.Problem{
				Table: table.Name, Column: name, Message: "is to be set to NULL, and is NOT NULL in the database",
				Found:    string(domain.StrategyNull),
				Possible: possible,
			})
		}
	}
	return domain.ManifestError("erase", problems)
}

// LeadsOn reports whether the steps may delete or change rows that they do not name, because of foreign keys or
// triggers.
func (c *Schema) LeadsOn(steps []datamap.Step) bool {
	return slices.ContainsFunc(steps, func(step datamap.Step) bool {
		live := c.mapped[step.Target]
		return step.Strategy != domain.StrategyRetain && len(live.triggers) > 0 || c.passesOn(step) ||
			(step.Strategy == domain.StrategyDelete || step.Strategy == domain.StrategyAnonymize && live.splits) && live.leads
	})
}

// Acts reports whether active code of the database, or the action of a foreign key ON UPDATE, may keep, restore or
// change values behind the steps, in any table of the data map. The steps must then run one by one and be verified.
func (c *Schema) Acts(steps []datamap.Step) bool {
	return c.keepsAny || slices.ContainsFunc(steps, c.passesOn)
}

// passesOn reports whether a step may change a column to which a foreign key with an action ON UPDATE refers. Generated
// columns and triggers before the update may change every column, and a view may give a column another name.
func (c *Schema) passesOn(step datamap.Step) bool {
	live := c.mapped[step.Target]
	if step.Strategy != domain.StrategyAnonymize || len(live.passedOn) == 0 {
		return false
	}
	written := slices.Concat(step.Columns, step.ClearedColumns, step.Expired)
	return live.copies || live.moves || slices.ContainsFunc(written, func(name string) bool {
		return slices.ContainsFunc(live.passedOn, func(passed string) bool { return c.cache.d.SameName(passed, name) })
	})
}

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
	needs := make([]Need, len(c.touched))
	for i, table := range c.touched {
		needs[i] = ToRead(table.Name)
	}
	return needs
}

// NeedsOf returns the need of each table, which is ToRead or ToUpdate.
func NeedsOf(tables []string, need func(table string) Need) []Need {
	needs := make([]Need, len(tables))
	for i, table := range tables {
		needs[i] = need(table)
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
		}, c.own.accessProblem(n.table, n.privileges))
		if err == nil && reason != "" {
			why = append(why, n.table+": "+reason)
		}
	}
	return why
}

// Unexplained returns the error message for a statement that the database refused although the role has all needed
// privileges on the tables. The database must have refused the statement because of another object.
func Unexplained(needs []Need) string {
	return syntax.Join(needs, ", ", func(n Need) string { return n.table }) +
		": this role lacks a privilege: on some of the columns, on a table below a view, or" +
		" on something that a trigger, a rule or a policy needs"
}
