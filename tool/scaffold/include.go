package scaffold

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// include marks the tables that the caller adds to the data map. It returns ErrInvalid with the reason for a table that
// cannot be in a data map.
func (d *draft) include(list []string) error {
	return refuse(list, func(name string) string {
		switch t := d.table(name); {
		case t == nil:
			return "is not a table of the catalog"
		case !t.canBeMapped():
			return "has no primary key and no unique key, so an erasure cannot find its rows"
		case t.distance == unreachable:
			return "has no relation that leads to " + d.subject.Name + ", so the data map needs a relation first"
		default:
			t.included = true
			return ""
		}
	})
}

// checkIncluded returns ErrInvalid with the reason for each table that the caller includes, but that an erasure would
// not change.
func (d *draft) checkIncluded(list []string) error {
	return refuse(list, func(name string) string {
		if t := d.table(name); !t.chosen && !t.mapped {
			return "would not change, because none of its columns looks personal: " + t.reason
		}
		return ""
	})
}

// refuse returns ErrInvalid if a table of the list has a reason for which it cannot be included. The reason is a clause
// without its subject.
func refuse(list []string, why func(table string) string) error {
	var fields []domain.FieldError
	for _, name := range list {
		if reason := why(name); reason != "" {
			fields = append(fields, domain.FieldError{
				Field: "include", Code: domain.FieldUnknown, Message: name + " " + reason,
			})
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
