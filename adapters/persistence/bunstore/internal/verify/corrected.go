package verify

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain"
)

// holdsNothingOld reports whether a row that a trigger has added contains no value that was corrected.
func (s *Step) holdsNothingOld(cells []held) bool {
	for at, old := range s.cells {
		if slices.ContainsFunc(cells, func(h held) bool {
			return h.column == at.column && h.text.Valid && !h.written && h.text.String == old
		}) {
			return false
		}
	}
	return true
}

// corrected reports whether a row contains each correction in at least one of its columns. A trigger may derive the
// other columns from that column.
func (s *Step) corrected(cells []held) bool {
	for _, cell := range cells {
		if !slices.ContainsFunc(cells, func(h held) bool { return s.sameCorrection(h, cell) && s.took(h) }) {
			return false
		}
	}
	return true
}

// correctedBefore reports whether a row already contained the correction of a cell. In that case, a trigger may have
// derived the cell from it, and derives the same value again.
func (s *Step) correctedBefore(cell held, cells []held) bool {
	return s.values != nil && slices.ContainsFunc(cells, func(h held) bool {
		return s.sameCorrection(h, cell) && s.took(h)
	})
}

// sameCorrection reports whether two cells get the same correction: the same value for the same category.
func (s *Step) sameCorrection(a, b held) bool {
	return s.category(a) == s.category(b) && reflect.DeepEqual(s.values[a.column], s.values[b.column])
}

func (s *Step) category(h held) domain.Category {
	column, _ := s.table.Column(h.column)
	return column.Personal.Category
}

// took reports whether a cell contains its correction. A trigger may write it in another form, for example in upper
// case.
func (s *Step) took(h held) bool {
	value := s.values[h.column]
	if value == nil {
		return !h.text.Valid
	}
	if h.written {
		return true
	}
	text, isText := value.(string)
	return isText && h.text.Valid && bare(text) != "" && bare(text) == bare(h.text.String)
}

// bare returns the letters and digits of a text, in lower case.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
