package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// askForHistories asks about the tables with earlier values of rows of other tables, as versions (item_type, item_id,
// object). Such copies hold personal values of people, also of people to whom no reference of the row leads.
func (d *draft) askForHistories() {
	for _, t := range d.tables {
		if list := t.copies(); len(list) > 0 && (t.Kind == datamap.KindTable || t.Kind == datamap.KindPartitioned) {
			people := ""
			if i := slices.IndexFunc(t.Columns, t.namesActor); i >= 0 {
				people = ", and " + t.Columns[i].Name + " seems to name the person who changed them"
			}
			t.ask(list[0], "Its rows seem to hold earlier values of rows of other tables ("+strings.Join(list, ", ")+"), also "+
				"personal values, and an erasure leaves those that no relation leads to"+people+". Do they hold data of people?",
				"no: leave them as they are", eraseInHook)
		}
	}
}

// namesActor reports whether a column without a foreign key names the person who did what the row is about, such as
// whodunnit.
func (t *table) namesActor(c datamap.CatalogColumn) bool {
	return family(c.Type) != "" && !t.refers(c.Name) && (names.Acts(c.Name) || names.MeansMaker(c.Name))
}

// copies returns the columns with earlier values of rows of other tables. It returns none if no other column says to
// which row the values belong.
func (t *table) copies() []string {
	if !names.IsOfSeveral(t.CatalogTable) {
		return nil
	}
	return slices.DeleteFunc(names.RowCopies(t.CatalogTable, true), t.refers)
}
