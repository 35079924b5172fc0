package catalog

import (
	"maps"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
)

// RefuseHidden returns an error if statements on a table of the data map may miss rows of the subject or find rows of
// another subject. The reasons are a conversion of keys by SQLite, row-level security, and views that leave rows out.
// RefuseHidden also returns the name of the first such table.
func (c *Catalog) RefuseHidden(id domain.SubjectID, op string) (table string, err error) {
	long := slices.ContainsFunc(id.Elements(), longNumber)
	for _, table := range c.cache.text.Touched {
		why := c.tables[table.Name].mixes
		if why == "" && long {
			why = c.tables[table.Name].narrow
		}
		if why != "" {
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
	for _, table := range c.cache.text.Touched {
		if why := c.tables[table.Name].hides; why != "" {
			return table.Name, &domain.Error{
				Code: domain.ErrConfiguration, Op: op, Message: table.Name + ": the database may hide rows of the subject: " +
					why + ". If it shows all of them to this role, set TrustRowFilters",
			}
		}
	}
	return "", nil
}

// RefuseUnknown returns an error if a step deletes rows of a table with a column that is missing from the data map. The
// step would delete data that the data map does not describe.
func (c *Catalog) RefuseUnknown(step domain.Step) error {
	table, _ := c.cache.text.DataMap.Table(step.Target)
	path, _ := c.cache.text.DataMap.PathVia(step.Target, step.Via)
	if step.Strategy != domain.StrategyDelete || table.Owned || path.OnErasure() == domain.StrategyDelete {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.tables[table.Name].types)) {
		if !slices.ContainsFunc(table.Columns, func(column domain.Column) bool {
			return c.cache.text.Dialect.SameName(column.Name, name)
		}) {
			return &domain.Error{
				Code: domain.ErrManifest, Op: "erase", Message: table.Name + "." + name + ": is not in the data map, " +
					"and would be deleted with its row. Add the column, or declare the table owned",
			}
		}
	}
	return nil
}

// RefuseNull returns an error if a step sets NOT NULL columns to NULL. The error lists all such columns.
func (c *Catalog) RefuseNull(step domain.Step) error {
	table, _ := c.cache.text.DataMap.Table(step.Target)
	if step.Strategy != domain.StrategyAnonymize {
		return nil
	}
	var problems []domain.Problem
	for _, name := range slices.Concat(step.Columns, step.Clears) {
		column, _ := table.Column(name)
		nulled := sqltext.IsNulled(column) || slices.Contains(step.Clears, name)
		if nulled && slices.ContainsFunc(c.tables[table.Name].notNull, func(required string) bool {
			return c.cache.text.Dialect.SameName(name, required)
		}) {
			possible := []string{string(domain.StrategyErase), string(domain.StrategyAnonymize)}
			if slices.Contains(step.Clears, name) {
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
