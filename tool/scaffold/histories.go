package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// askForHistories asks about the tables with earlier values of rows of other tables, as versions (item_type, item_id,
// object). Such copies hold personal values of people, also of people to whom no reference of the row leads.
func (d *draft) askForHistories() {
	for _, t := range d.tables {
		if list := t.copies(); len(list) > 0 && (t.Kind == datamap.KindTable || t.Kind == datamap.KindPartitioned) {
			t.ask(list[0], "Its rows seem to hold earlier values of rows of other tables ("+strings.Join(list, ", ")+"), also "+
				"personal values, and an erasure leaves those that no relation leads to. Do they hold data of people?",
				"no: leave them as they are", eraseInHook)
		}
	}
}

// copies returns the columns with earlier values of rows of other tables. It returns none if no other column says to
// which row the values belong. In a table that is named for a history, each document may hold such values.
func (t *table) copies() []string {
	if !t.namesRow() {
		return nil
	}
	isHistory := names.Is(t.Name, names.Trails) || names.Is(t.Name, names.Histories)
	var list []string
	for _, c := range t.Columns {
		const shortText = 500
		isLong := (c.Type == datamap.TypeText || c.Type == datamap.TypeBytes) && (c.Length == 0 || c.Length > shortText)
		isDocument := c.Type == datamap.TypeJSON || strings.Contains(c.Declared, "hstore")
		if (isDocument && isHistory || (isDocument || isLong) && isCopy(c.Name)) && !t.refers(c.Name) && !t.IsChoice(c) {
			list = append(list, c.Name)
		}
	}
	return list
}

// namesRow reports whether columns name a table and a row of it: see kindOf. The column with the table may also be
// named table_name, beside record_id or row_id.
func (t *table) namesRow() bool {
	namesTable := slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return slices.Contains(ofTables, flat(c.Name))
	})
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := names.Stem(c.Name)
		isRow := slices.Contains([]string{"record", "row", "entity", "object", "model", "item", "instance"}, flat(stem))
		return isReference && (t.hasType(c.Name) || namesTable && isRow)
	})
}

// isCopy reports whether the name of a column means the values of a row before or after a change, such as
// object_changes and old_values.
func isCopy(column string) bool {
	parts := words.Lower(column)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return len(parts) == 1 && slices.Contains(ofCopies, last) ||
		slices.Contains(ofTimes, parts[0]) && slices.Contains(ofRows, last) || slices.Contains(ofChanges, last)
}

var (
	ofTables  = strings.Fields("tablename tbl table modelname model entity entityname")
	ofCopies  = strings.Fields("object before after old new")
	ofTimes   = strings.Fields("old new before after previous prev original")
	ofRows    = strings.Fields("row data values value record object attributes fields state")
	ofChanges = strings.Fields("changes changeset changed diff delta snapshot patch")
)
