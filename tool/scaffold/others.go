package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// ofOthers returns the columns by which the rows may name other people: the rows are deleted as parts of other rows,
// and hold names, addresses, telephone numbers or network addresses. A caller who includes the table says that the rows
// are the person's.
func (t *table) ofOthers() []string {
	if !t.rowsDeleted || t.parent().isSubject || t.included && !t.mapped {
		return nil
	}
	var list []string
	for _, c := range t.Columns {
		m, ok := t.found[c.Name]
		isPersonal := ok && !m.Secret && slices.Contains([]domain.Category{
			domain.CategoryIdentity, domain.CategoryContact, domain.CategoryTechnical,
		}, m.Category)
		isName := c.Type != datamap.TypeTime && c.Type != datamap.TypeBoolean && names.MeansPerson(c.Name)
		if (isPersonal || isName) && !t.refers(c.Name) {
			list = append(list, c.Name)
		}
	}
	return list
}

// askForOthers asks whether an export may show the parts of a person's rows that may name other people.
func (t *table) askForOthers() {
	if list := t.ofOthers(); len(list) > 0 && !t.mapped {
		t.ask("", "Its rows may name other people ("+strings.Join(list, ", ")+"). They are deleted with the rows of "+
			t.parent().Name+". May an export show them to the person?", "no", "yes: remove export")
	}
}
