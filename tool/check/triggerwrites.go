package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
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
