package cascade

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// watchStatement returns the statement that reads the state before the steps. The parameters of the statement are the subject's
// key if there are delete steps. The columns of its row are:
//
//   - a hash of the definitions that Reach has read; the parameter visited holds the ids of their tables
//   - whether foreign keys act, and whether the database counts deleted rows
//   - for each table in the parameter tables, what Deleted reads, as a JSON object of arrays by id
//   - for each table in DeletedTables, the number of rows that its delete steps cover
//   - for each setting, the number of its rows
//
// If triggers is true, the hash also covers the list of all tables.
func watchStatement(
	w *rows.Writer, steps []domain.Step, visited, tables []string, triggers bool, settings []Setting,
) string {
	columns := []string{dialectOf(w.Dialect).watching(visited, tables, triggers)}
	for _, name := range deletedTables(steps) {
		columns = append(columns, "(SELECT count(*) FROM "+syntax.QuoteTable(name)+" AS t0 WHERE "+coveredBy(w, steps, name, nil)+")")
	}
	for _, setting := range settings {
		columns = append(columns, setRows(w, steps, setting))
	}
	return "SELECT " + strings.Join(columns, ", ")
}

// coveredBy returns the condition that a delete step covers the row t0 of a table, or that a step overwrites or clears
// one of the given columns of the row. The parameters are the subject's key.
func coveredBy(w *rows.Writer, steps []domain.Step, name string, columns []string) string {
	table, _ := w.DataMap.Table(name)
	conditions := []string{"FALSE"}
	for _, step := range steps {
		changes := step.Strategy == domain.StrategyAnonymize && slices.ContainsFunc(columns, func(column string) bool {
			return slices.ContainsFunc(slices.Concat(step.Columns, step.ClearedColumns), func(changed string) bool {
				return w.Dialect.SameName(changed, column)
			})
		})
		if step.Target == name && (changes || step.Strategy == domain.StrategyDelete) {
			path, _ := w.DataMap.PathVia(name, step.Via)
			conditions = append(conditions, "("+w.RowsOf(table, path, 0)+")")
		}
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// setRows returns the expression that counts the rows of a setting.
func setRows(w *rows.Writer, steps []domain.Step, setting Setting) string {
	var set []string
	for _, chain := range setting.Chains {
		last, conditions := chain[len(chain)-1], []string{hangsOnDeleted(w, steps, chain, "t0")}
		for _, name := range last.Mapped {
			conditions = append(conditions, "NOT COALESCE("+coveredBy(w, steps, name, last.Sets)+", FALSE)")
		}
		set = append(set, strings.Join(conditions, " AND "))
	}
	text := "(SELECT count(*) FROM " + setting.Chains[0][len(setting.Chains[0])-1].Table + " AS t0 WHERE (" +
		strings.Join(set, " OR ") + ")"
	for _, chain := range setting.Gone {
		text += " AND NOT " + hangsOnDeleted(w, steps, chain, "t0")
	}
	return text + ")"
}

// hangsOnDeleted returns the condition that a row refers to a row that the steps delete, over a chain of foreign keys.
func hangsOnDeleted(w *rows.Writer, steps []domain.Step, chain []ReachedKey, child string) string {
	key, parent := chain[len(chain)-1], "p"+syntax.Placeholder(len(chain))[1:]
	var conditions []string
	for i, name := range key.Columns {
		conditions = append(conditions, child+"."+syntax.Quote(name)+" = "+parent+"."+syntax.Quote(key.Referenced[i]))
	}
	if len(chain) > 1 {
		conditions = append(conditions, hangsOnDeleted(w, steps, chain[:len(chain)-1], parent))
	} else {
		var deleted []string
		for _, name := range key.ParentMapped {
			deleted = append(deleted, "EXISTS (SELECT 1 FROM "+key.Parent+" AS t0 WHERE "+sameRow(w, key, parent)+
				" AND "+coveredBy(w, steps, name, nil)+")")
		}
		conditions = append(conditions, "("+strings.Join(append(deleted, "FALSE"), " OR ")+")")
	}
	return "EXISTS (SELECT 1 FROM " + key.Parent + " AS " + parent + " WHERE " + strings.Join(conditions, " AND ") + ")"
}

func sameRow(w *rows.Writer, key ReachedKey, parent string) string {
	var conditions []string
	for _, name := range key.Referenced {
		conditions = append(conditions, "t0."+syntax.Quote(name)+" = "+parent+"."+syntax.Quote(name))
	}
	return strings.Join(conditions, " AND ")
}
