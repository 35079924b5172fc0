package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
)

// tableWrite is a table outside the data map to which triggers write. It is one finding, however many triggers there
// are.
type tableWrite struct {
	code           string
	at             place // of the first trigger
	to             string
	reason, remedy string   // the reason without its beginning
	further        []string // the other triggers
}

// addWrite adds a trigger that writes to a table outside the data map. Triggers of several tables are one finding,
// unless they surely copy values.
func (s *schema) addWrite(code string, at place, to, reason, remedy string) {
	i := slices.IndexFunc(s.written, func(w *tableWrite) bool {
		return w.code == code && w.to == to && (w.at.table == at.table || code == triggerWrites)
	})
	if i < 0 {
		s.written = append(s.written, &tableWrite{code: code, at: at, to: to, reason: reason, remedy: remedy})
		return
	}
	name := at.object
	if first := s.written[i].at; first.table != at.table {
		name += " of " + at.table
	} else if first == at {
		return
	}
	if !slices.Contains(s.written[i].further, name) {
		s.written[i].further = append(s.written[i].further, name)
	}
}

func (w *tableWrite) report(s *schema) {
	begin := "The trigger " + w.at.object + " writes to "
	if len(w.further) > 0 {
		begin = "The triggers " + strings.Join(append([]string{w.at.object}, w.further...), ", ") + " write to "
	}
	at := w.at
	if s.hasFinding(w.code, at) { // the trigger writes to another table, too
		at.column = w.to
	}
	s.report(w.code, at, begin+w.to+", "+w.reason, w.remedy)
}

// hasFinding reports whether there is already a finding with the code and the place.
func (s *schema) hasFinding(code string, at place) bool {
	return slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
		return f.Code == code && at == place{f.Table, f.Column, f.Object}
	})
}

// inserted returns the annotated columns that a trigger surely copies into new rows of a table outside the data map. It
// returns nil if a trigger may change or delete these rows later, or if the database deletes them in an erasure.
func (s *schema) inserted(table datamap.Table, inserting trigger, target datamap.CatalogTable) []string {
	live := s.live[table.Name]
	if s.isRenewed(live, target) || slices.ContainsFunc(target.ForeignKeys, func(f datamap.CatalogForeignKey) bool {
		parent, mapped := s.mappedTable(f.References)
		return mapped && f.OnDelete == datamap.ActionCascade && s.deletesRows(parent.Name)
	}) {
		return nil
	}
	return s.columnsIn(inserting.Inserts, table, target)
}

// kept returns the annotated columns whose old values a trigger surely writes into rows of a table outside the data map
// when an erasure changes or deletes a row.
func (s *schema) kept(table datamap.Table, keeping trigger, target datamap.CatalogTable) []string {
	if !s.fires(table.Name, keeping.CatalogTrigger) {
		return nil
	}
	return s.columnsIn(keeping.Keeps, table, target)
}

// checkKept reports the columns without an annotation, in rows of the data map that stay, into which a trigger of
// another table surely writes old values when an erasure overwrites them.
func (s *schema) checkKept(table datamap.Table, keeping trigger, target datamap.Table) {
	live, kept := s.live[target.Name], map[string][]string{}
	if target.Name == table.Name || s.deletesRows(target.Name) {
		return
	}
	for _, column := range s.writtenColumns(table.Name) {
		for _, into := range triggers.Keeps(s.live[table.Name], keeping.CatalogTrigger, column.live.Name) {
			if named, ok := s.catalog.Table(into.Table); ok && named.Name == live.Name && !column.expired {
				kept[into.Column] = append(kept[into.Column], column.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		column, known := live.Mapped(target, name)
		_, exists := live.Column(name)
		if !exists || column.Personal != nil || column.NotPersonal || inForeignKey(live, name) {
			continue
		}
		s.reportColumn(column, triggerCopies, place{table: target.Name, column: name, object: keeping.Name},
			"The trigger "+keeping.Name+" of "+table.Name+" writes old values of "+list(kept[name])+" into the column, which "+
				"has no annotation. Its rows stay, so these values survive an erasure.",
			annotateRemedy(known)+", or remove these values from the trigger.")
	}
}

// columnsIn returns the annotated columns of a table that the values which a trigger writes into the target contain.
func (s *schema) columnsIn(
	values []triggers.Insert, table datamap.Table, target datamap.CatalogTable,
) (columns []string) {
	live := s.live[table.Name]
	for _, column := range table.Personal() {
		if slices.ContainsFunc(values, func(value triggers.Insert) bool {
			into, ok := s.catalog.Table(value.Table)
			return ok && into.Name == target.Name &&
				(slices.Contains(value.Reads, "*") || hasName(live, value.Reads, column.Name))
		}) {
			columns = append(columns, column.Name)
		}
	}
	return columns
}

// isRenewed reports whether a trigger of a table may change or delete rows of the target, and so keep them current.
func (s *schema) isRenewed(live, target datamap.CatalogTable) bool {
	return slices.ContainsFunc(s.triggers[live.Name], func(t trigger) bool {
		return slices.Contains(t.Deletes, target.Name) || slices.ContainsFunc(t.Changes, func(name string) bool {
			changed, ok := s.catalog.Table(name)
			return ok && changed.Name == target.Name
		})
	})
}

// mayHold reports whether a column of the target can hold a personal value of the table: a text, a document, or a value
// of the type of an annotated column. Keys and the columns of foreign keys cannot.
func (s *schema) mayHold(table datamap.Table, target datamap.CatalogTable) bool {
	live := s.live[table.Name]
	return slices.ContainsFunc(target.Columns, func(c datamap.CatalogColumn) bool {
		if inForeignKey(target, c.Name) || hasName(target, target.PrimaryKey, c.Name) || target.IsChoice(c) {
			return false
		}
		switch family(c.Type) { //nolint:exhaustive // the other types can hold only values of their own kind
		case datamap.TypeText, datamap.TypeJSON, datamap.TypeBytes, datamap.TypeArray, "":
			return true
		case datamap.TypeBoolean, datamap.TypeUUID:
			return false
		}
		return slices.ContainsFunc(table.Personal(), func(p datamap.Column) bool {
			held, _ := live.Column(p.Name)
			return held.Type != "" && !differ(held.Type, c.Type)
		})
	})
}
