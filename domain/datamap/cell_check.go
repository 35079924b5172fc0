package datamap

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/words"
)

// checkSurrogates calls checkSurrogate for each annotated column of the table. It skips surrogates that no erasure
// writes. DataMap.Notices lists these.
func (d *draft) checkSurrogates(table Table) {
	for _, column := range table.Personal() {
		if column.Personal.Strategy != domain.StrategyNull && d.isDeletedWithRow(table, column) {
			continue
		}
		checkSurrogate(column, d.reporter(table, column.Name))
	}
}

// isDeletedWithRow reports whether every erasure that concerns the column deletes the row.
func (m DataMap) isDeletedWithRow(table Table, column Column) bool {
	owning := slices.DeleteFunc(slices.Clone(m.paths[table.Name]), func(p Path) bool { return !p.Has(column) })
	return len(owning) > 0 && !slices.ContainsFunc(owning, func(p Path) bool { return !m.RowsDeleted(table, p) })
}

// unwrittenSurrogates returns a notice for each declared surrogate of the table that no erasure writes.
func (m DataMap) unwrittenSurrogates(table Table) (notices []Notice) {
	for _, column := range table.Personal() {
		if _, ok := column.Constant(); ok && !column.SurrogateOfType && m.isDeletedWithRow(table, column) {
			notices = append(notices, Notice{
				table.Name, column.Name,
				"has a surrogate that no erasure writes, because the erasure deletes the row: remove the surrogate",
			})
		}
	}
	return notices
}

// checkSurrogate reports a Column.Surrogate that an erasure cannot write into the column.
func checkSurrogate(column Column, report func(domain.Problem)) {
	constant, ok := column.Constant()
	switch {
	case column.Personal.Strategy == domain.StrategyNull && ok:
		report(domain.Problem{
			Message: "has erasure:null and a surrogate", Found: column.Surrogate,
			Remedy: "set erasure:anonymize, or remove the surrogate",
		})
	case ok && constant == "" && column.Type != TypeText && column.Type != TypeBytes:
		report(domain.Problem{
			Message: "has the empty text as its surrogate, but cannot hold it", Found: string(column.Type),
			Remedy: "give a value of this type, or set erasure:null",
		})
	case column.hasPlaceholder() && column.Digits() < minDigits:
		report(domain.Problem{
			Message: "has a surrogate that leaves no room for " + strconv.Itoa(minDigits) + " digits in each " + Placeholder,
			Found:   column.Surrogate,
			Remedy:  "shorten it: the column holds " + strconv.Itoa(column.Length) + " characters",
		})
	case column.hasPlaceholder() || column.Length == 0:
	case utf8.RuneCountInString(constant) > column.Length:
		report(domain.Problem{
			Message: "has a surrogate that is longer than the column", Found: column.Surrogate,
			Remedy: "give at most " + strconv.Itoa(column.Length) + " characters",
		})
	}
}

// isOverwritten reports whether an erasure overwrites the column in a row that stays, without a duty to keep it.
func (c Column) isOverwritten() bool {
	return c.Personal.Strategy != domain.StrategyNull && c.Personal.Strategy != domain.StrategyRetain
}

// checkExport reports an unknown value of Export. It also reports a column that is named like a secret and does not set
// Export. Instants, such as the time of the last password reset, are not secrets.
func checkExport(column Column, report func(domain.Problem)) {
	switch said := column.Personal.Export; {
	case said == "" && column.Type != TypeTime && words.IsSecret(column.Name):
		report(domain.Problem{
			Message:  "is named like a secret, but does not set export",
			Possible: []string{"export:no", "export:yes"},
			Remedy:   "set export:no for hashes, tokens and keys, or export:yes for data that the person may read",
		})
	case said != "" && !slices.Contains(exports(), said):
		report(domain.Problem{
			Message: "has an unknown value of export", Found: string(said), Possible: texts(exports()),
		})
	}
}

// checkDeletes reports each column with domain.StrategyDelete whose row an erasure keeps.
func (d *draft) checkDeletes(table Table) {
	if slices.ContainsFunc(table.Personal(), func(c Column) bool { return !c.Personal.Strategy.Valid() }) {
		return
	}
	for _, column := range table.Personal() {
		if column.Personal.Strategy != domain.StrategyDelete {
			continue
		}
		if why := d.reasonsToKeep(table, column); len(why) > 0 {
			d.report(domain.Problem{
				Table: table.Name, Column: column.Name,
				Message: "has erasure:delete, which deletes its row, but the row stays because of " + strings.Join(why, ", "),
				Found:   string(domain.StrategyDelete),
				Possible: []string{
					string(domain.StrategyErase), string(domain.StrategyAnonymize), string(domain.StrategyNull),
				},
				Remedy: "set one of these for the cell, or " + d.deletionRemedy(table),
			})
		}
	}
}

// deletionRemedy returns the remedy for a row that an erasure keeps: the declaration that makes the erasure delete the
// rows of the table.
func (d *draft) deletionRemedy(table Table) string {
	if paths := d.paths[table.Name]; len(paths) > 1 || len(paths) == 1 && paths[0].OnErasure() != "" {
		return "set erasure:delete on the path to delete the row"
	}
	const owned, erase = `mark the table with subject:"owned" if its rows belong to the subject as a whole`,
		"set erasure:erase for the columns that keep the row"
	keeping := table.ColumnsKeepingRows()
	annotated := slices.DeleteFunc(slices.Clone(keeping), func(c Column) bool { return c.Personal == nil })
	switch len(annotated) {
	case 0:
		return owned
	case len(keeping):
		return erase
	default:
		return owned + ", and " + erase
	}
}

// reasonsToKeep returns the reasons why the row of the column stays after an erasure of the person that the column
// belongs to.
func (d *draft) reasonsToKeep(table Table, column Column) []string {
	paths := d.paths[table.Name]
	if len(paths) == 0 || len(paths) == 1 && paths[0].OnErasure() == "" {
		if table.RowsDeleted() {
			return nil
		}
		return table.columnsKeeping()
	}
	var why []string
	for _, path := range paths {
		if !path.Has(column) || d.RowsDeleted(table, path) {
			continue
		}
		reason := " (without erasure:delete)"
		if path.spared && path.Relations[0].OnErasure == domain.StrategyDelete {
			reason = " (whose erasure:delete has no effect, because the row of " + path.Relations[0].References + " stays)"
		}
		why = append(why, strings.TrimSpace("the path "+path.Via)+reason)
	}
	return why
}

// columnsKeeping returns the columns that prevent an erasure from deleting the row, each with its reason.
func (t Table) columnsKeeping() []string {
	var names []string
	for _, column := range t.ColumnsKeepingRows() {
		names = append(names, column.Name+" ("+column.reasonForKeeping()+")")
	}
	return names
}

// reasonForKeeping returns the reason why the column prevents an erasure from deleting the row.
func (c Column) reasonForKeeping() string {
	switch {
	case c.Personal == nil:
		return "not annotated"
	case c.Personal.Strategy == domain.StrategyAnonymize:
		return "anonymized"
	case c.Personal.Strategy == domain.StrategyNull:
		return "set to NULL"
	default:
		return "retained"
	}
}
