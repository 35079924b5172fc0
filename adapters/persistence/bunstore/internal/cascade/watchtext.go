package cascade

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// watchText builds the statement that reads the state before the steps.
type watchText struct {
	text string

	writer    *rows.Writer
	schema    *live.Schema
	steps     []datamap.Step
	constants []stepConstants // the parameters after the subject's key
	usesKey   bool            // the statement has parameters
}

// stepConstants are parameters for a step, see rows.ResolveConstants.
type stepConstants struct {
	step      int
	constants []any
}

// build sets the text of the statement. The columns of its row are:
//
//   - a hash of the definitions that Reach has read, of the tables in Reach.Visited
//   - whether foreign keys act, and whether the database counts deleted rows
//   - for each table in the parameter tables, what stateBefore.deleted has, as a JSON object of arrays by id
//   - for each table of deletedTables, the number of rows that its delete steps cover
//   - for each setting, the number of its rows
//
// If triggers may run, the hash also covers the list of all tables.
func (t *watchText) build(reach *Reach, tables []string) {
	columns := []string{dialectOf(t.writer.Dialect).watching(reach.Visited, tables, reach.Triggers)}
	for _, name := range deletedTables(t.steps) {
		columns = append(columns, "(SELECT count(*) FROM "+syntax.QuoteTable(name)+" AS t0 WHERE "+
			t.coveredBy(name, true, nil)+")")
	}
	for _, setting := range reach.Settings {
		columns = append(columns, t.setRows(setting))
	}
	t.text = "SELECT " + strings.Join(columns, ", ")
}

// args returns the parameters of the statement.
func (t *watchText) args(steps []datamap.Step, key []any) []any {
	if !t.usesKey {
		return nil
	}
	args := slices.Clone(key)
	for _, of := range t.constants {
		args = append(args, rows.ResolveConstants(of.constants, steps[of.step].At)...)
	}
	return args
}

// coveredBy returns the condition that a delete step covers the row t0 of a table (only if deletes is true), or that a
// step overwrites or clears one of the given columns of the row.
func (t *watchText) coveredBy(name string, deletes bool, columns []string) string {
	table, _ := t.writer.DataMap.Table(name)
	conditions := []string{"FALSE"}
	for i, step := range t.steps {
		if step.Target != name {
			continue
		}
		changes := "FALSE"
		for _, column := range columns {
			switch {
			case step.Strategy != domain.StrategyAnonymize:
			case containsName(t.writer, slices.Concat(step.Columns, step.ClearedColumns), column):
				changes = "TRUE"
			case containsName(t.writer, step.Expired, column) && changes != "TRUE":
				changes += " OR " + t.expired(table, i, column)
			}
		}
		if deletes && step.Strategy == domain.StrategyDelete {
			changes = "TRUE"
		}
		if changes != "FALSE" {
			t.usesKey = true
			conditions = append(conditions, "("+t.writer.RowsOfStep("t0", table, step, 0)+" AND ("+changes+"))")
		}
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// expired returns the condition that the step overwrites a retained cell of the row t0.
func (t *watchText) expired(table datamap.Table, step int, column string) string {
	before := len(t.writer.DataMap.SubjectTable().SubjectKey)
	for _, of := range t.constants {
		before += len(of.constants)
	}
	sw := t.writer.StepWriter(table, t.schema.Types(table.Name), before)
	condition := "COALESCE(" + sw.IsOverwritten(column, t.steps[step]) + ", FALSE)"
	t.constants = append(t.constants, stepConstants{step, sw.Constants})
	return condition
}

// setRows returns the expression that counts the rows of a setting.
func (t *watchText) setRows(setting Setting) string {
	var set []string
	for _, chain := range setting.Chains {
		last, conditions := chain[len(chain)-1], []string{t.hangsOn(chain, "t0")}
		for _, name := range last.Mapped {
			conditions = append(conditions, "NOT COALESCE("+t.coveredBy(name, true, last.Sets)+", FALSE)")
		}
		set = append(set, strings.Join(conditions, " AND "))
	}
	text := "(SELECT count(*) FROM " + setting.Chains[0][len(setting.Chains[0])-1].Table + " AS t0 WHERE (" +
		strings.Join(set, " OR ") + ")"
	for _, chain := range setting.Gone {
		text += " AND NOT " + t.hangsOn(chain, "t0")
	}
	return text + ")"
}

// hangsOn returns the condition that a row refers to a row that the steps delete or change, over a chain of foreign
// keys.
func (t *watchText) hangsOn(chain []reachedKey, child string) string {
	key, parent := chain[len(chain)-1], "p"+syntax.Placeholder(len(chain))[1:]
	var conditions []string
	for i, name := range key.Columns {
		conditions = append(conditions, child+"."+syntax.Quote(name)+" = "+parent+"."+syntax.Quote(key.Referenced[i]))
	}
	if len(chain) > 1 {
		conditions = append(conditions, t.hangsOn(chain[:len(chain)-1], parent))
	} else {
		var acted []string
		for _, name := range key.ParentMapped {
			covered := t.coveredBy(name, !key.OnUpdate, nil)
			if key.OnUpdate {
				covered = t.coveredBy(name, false, key.Referenced)
			}
			acted = append(acted, "EXISTS (SELECT 1 FROM "+key.Parent+" AS t0 WHERE "+sameRow(key, parent)+
				" AND "+covered+")")
		}
		conditions = append(conditions, "("+strings.Join(append(acted, "FALSE"), " OR ")+")")
	}
	return "EXISTS (SELECT 1 FROM " + key.Parent + " AS " + parent + " WHERE " + strings.Join(conditions, " AND ") + ")"
}

func sameRow(key reachedKey, parent string) string {
	return syntax.Join(key.Referenced, " AND ", func(name string) string {
		return "t0." + syntax.Quote(name) + " = " + parent + "." + syntax.Quote(name)
	})
}
