package scaffold

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// include marks the tables that the caller adds to the data map. It returns ErrInvalid with the reason for a table that
// cannot be in a data map.
func (d *draft) include(list []string) error {
	var fields []domain.FieldError
	for _, name := range list {
		t := d.table(name)
		refuse := func(message string) {
			fields = append(fields, domain.FieldError{
				Field: "include", Code: domain.FieldUnknown, Message: name + " " + message,
			})
		}
		switch {
		case t == nil:
			refuse("is not a table of the catalog")
		case !t.canBeMapped():
			refuse("has no primary key and no unique key, so an erasure cannot find its rows")
		case t.distance == unreachable:
			refuse("has no relation that leads to " + d.subject.Name + ", so the data map needs a relation first")
		default:
			t.included = true
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return domain.Invalid("scaffold", fields)
}

// includeMapped marks the tables of an existing data map.
func (d *draft) includeMapped(m datamap.DataMap) {
	if m.IsZero() {
		return
	}
	for _, table := range m.Tables() {
		if t := d.table(table.Name); t != nil && t.distance != unreachable {
			t.included, t.mapped, t.deletes = true, true, deletesRows(m, table.Name)
		}
	}
}
