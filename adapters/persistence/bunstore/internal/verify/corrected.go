package verify

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain"
)

// holdsNothingOld reports whether a new row, which a trigger has added, contains none of the values that the
// rectification has replaced.
func (s *Step) holdsNothingOld(cells []heldCell) bool {
	for at, old := range s.cells {
		if slices.ContainsFunc(cells, func(h heldCell) bool {
			return h.column == at.column && h.text.Valid && !h.written && h.text.String == old
		}) {
			return false
		}
	}
	return true
}

// holdsCorrections reports whether each new value of the rectification is in at least one column of the row. If several
// columns of the same category get the same value, one of them is enough, because a trigger may derive the others from
// it.
func (s *Step) holdsCorrections(cells []heldCell) bool {
	for _, cell := range cells {
		if !slices.ContainsFunc(cells, func(h heldCell) bool { return s.sameCorrection(h, cell) && s.isCorrected(h) }) {
			return false
		}
	}
	return true
}

// correctedBefore reports whether a row already held the new value of a cell before the rectification, in this cell or
// in another one. If so, an old text in the cell is not an error, because a trigger may derive the same text from the
// new value.
func (s *Step) correctedBefore(cell heldCell, cells []heldCell) bool {
	return s.values != nil && slices.ContainsFunc(cells, func(h heldCell) bool {
		return s.sameCorrection(h, cell) && s.isCorrected(h)
	})
}

// sameCorrection reports whether the rectification writes the same value to two cells of the same category.
func (s *Step) sameCorrection(a, b heldCell) bool {
	return s.category(a) == s.category(b) && reflect.DeepEqual(s.values[a.column], s.values[b.column])
}

func (s *Step) category(h heldCell) domain.Category {
	column, _ := s.table.Column(h.column)
	return column.Personal.Category
}

// isCorrected reports whether a cell holds its new value. It also returns true if a trigger wrote the new value in
// another form, such as upper case.
func (s *Step) isCorrected(h heldCell) bool {
	value := s.values[h.column]
	if value == nil {
		return !h.text.Valid
	}
	if h.written {
		return true
	}
	text, isText := value.(string)
	return isText && h.text.Valid && normalized(text) != "" && normalized(text) == normalized(h.text.String)
}

// normalized returns the letters and digits of a text in lower case, for comparisons that ignore case and punctuation.
func normalized(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
