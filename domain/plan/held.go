package plan

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// StepsOfSurvivor returns the steps for the rows that one path connects to the subject, if the erasure does not delete
// these rows. A retained column that identifies or links rows is never overwritten, even if the duty to retain it has
// ended.
func StepsOfSurvivor(m datamap.DataMap, table datamap.Table, path datamap.Path) []datamap.Step {
	anonymize := datamap.Step{Target: table.Name, Strategy: domain.StrategyAnonymize, Via: path.Via}
	anonymize.ClearedColumns = m.ClearedColumns(table, path)
	retain := datamap.Step{Target: table.Name, Strategy: domain.StrategyRetain, Via: path.Via}
	for _, column := range path.Personal(table) {
		if column.Personal.Strategy != domain.StrategyRetain {
			anonymize.Columns = append(anonymize.Columns, column.Name)
			continue
		}
		retain.Columns = append(retain.Columns, column.Name)
		if column.Personal.Since != "" && !m.IsKey(table, column.Name) {
			retain.Expired = append(retain.Expired, column.Name)
		}
	}
	var steps []datamap.Step
	if len(anonymize.Columns)+len(anonymize.ClearedColumns) > 0 {
		steps = append(steps, anonymize)
	}
	if len(retain.Columns) > 0 {
		steps = append(steps, retain)
	}
	return steps
}

// Fates returns, for each path of each table, the step of an erasure that decides about the rows: it deletes them, or
// retains some of their values, or else anonymizes them. Paths on which an erasure changes and retains nothing have no
// step.
func Fates(m datamap.DataMap) (steps []datamap.Step) {
	for _, table := range m.Tables() {
		for _, path := range m.Paths(table.Name) {
			if m.RowsDeleted(table, path) {
				steps = append(steps, datamap.Step{Target: table.Name, Strategy: domain.StrategyDelete, Via: path.Via})
			} else if survivor := StepsOfSurvivor(m, table, path); len(survivor) > 0 {
				steps = append(steps, survivor[len(survivor)-1])
			}
		}
	}
	return steps
}

// Holding returns what a store holds on the path of a step of Fates. The parameter ends has the starts of the duties in
// the rows.
func Holding(m datamap.DataMap, step datamap.Step, rows int64, ends *Ends) domain.Holding {
	held := domain.Holding{
		Source: step.Target, Via: step.Via, Rows: int(min(rows, domain.MaxRowsHeld)), Fate: step.Strategy,
	}
	if step.Strategy == domain.StrategyRetain {
		held.Kept = Kept(m, step, ends.Latest(rows))
	}
	return held
}

// Kept describes the columns of a retain step. The parameter latest has the Until.Latest of its columns.
func Kept(m datamap.DataMap, step datamap.Step, latest map[string]time.Time) (kept []domain.RetainedField) {
	table, _ := m.Table(step.Target)
	for _, name := range step.Columns {
		column, _ := table.Column(name)
		field := domain.RetainedField{
			Source: step.Target, Field: name, Category: column.Personal.Category, Reason: column.Personal.Reason,
		}
		if !column.Personal.Retain.IsZero() {
			field.Until = domain.Until{
				After: column.Personal.Retain.String(), Since: column.Personal.Since, From: column.Personal.From,
				Latest: latest[name],
			}
		}
		kept = append(kept, field)
	}
	return kept
}

// Ends finds the latest end of the duties that retain the values of columns.
type Ends struct {
	Since   []string // the columns with the starts of the duties
	columns []retainedColumn
}

// retainedColumn is a column that Duties protects. The starts are indexes in Ends.Since.
type retainedColumn struct {
	name    string
	duties  []datamap.Duty
	starts  []int
	latest  time.Time
	endless bool
}

// NewEnds returns the Ends of the columns in Step.Expired.
func NewEnds(m datamap.DataMap, step datamap.Step) *Ends {
	e := &Ends{}
	table, _ := m.Table(step.Target)
	for _, name := range step.Expired {
		column := retainedColumn{name: name}
		for _, duty := range Duties(table, name) {
			start := slices.Index(e.Since, duty.Personal.Since)
			if start < 0 {
				start, e.Since = len(e.Since), append(e.Since, duty.Personal.Since)
			}
			column.duties = append(column.duties, m.Duty(*duty.Personal))
			column.starts = append(column.starts, start)
		}
		e.columns = append(e.columns, column)
	}
	return e
}

// Add adds a row with the values of Since, in a form that ReadStart reads.
func (e *Ends) Add(since []any) {
	for i := range e.columns {
		c := &e.columns[i]
		for j, duty := range c.duties {
			start, ok := ReadStart(since[c.starts[j]])
			end, ends := duty.End(start)
			if c.endless = c.endless || !ok || !ends; end.After(c.latest) {
				c.latest = end
			}
		}
	}
}

// Latest returns the latest end for each column. A column is missing if it has a value without a known end. The result
// is nil for more than 1,000 rows, of which Add need not have got all.
func (e *Ends) Latest(rows int64) map[string]time.Time {
	if rows >= domain.MaxRowsHeld {
		return nil
	}
	latest := map[string]time.Time{}
	for _, c := range e.columns {
		if !c.endless && !c.latest.IsZero() {
			latest[c.name] = c.latest
		}
	}
	return latest
}
