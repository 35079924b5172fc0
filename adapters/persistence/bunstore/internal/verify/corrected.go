package verify

import (
	"context"
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
			return h.column == at.column && h.text.Valid && !h.written && slices.Contains(old, h.text.String)
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
	corrected := s.corrected(cells)
	for _, cell := range cells {
		if !s.correctedIn(corrected, cell) {
			return false
		}
	}
	return true
}

// correctedIn reports whether the new value of a cell is in one of the corrected cells of its row. If the row was like
// that before the rectification, an old text in the cell is not an error, because a trigger may derive the same text
// from the new value.
func (s *Step) correctedIn(corrected []heldCell, cell heldCell) bool {
	return slices.ContainsFunc(corrected, func(h heldCell) bool { return s.sameCorrection(h, cell) })
}

// corrected returns the cells that hold their new values, see isCorrected. An erasure has none.
func (s *Step) corrected(cells []heldCell) (corrected []heldCell) {
	for _, h := range cells {
		if s.values != nil && s.isCorrected(h) {
			corrected = append(corrected, h)
		}
	}
	return corrected
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

// isUndone reports whether a trigger undoes the rectification in a cell of s.doubtful. Such a cell holds its old text
// after the step, and only case or punctuation distinguishes this text from the new one. There are two possible
// reasons:
//
//   - A trigger restores the old text. The correction has then failed.
//   - A trigger gives every text the same form, such as lower case. The new text in this form is the old text.
//
// To tell them apart, isUndone writes another text and then the new text again, and undoes both. A trigger of the
// second kind does not depend on the text that the cell held before. If the database refuses the other text, isUndone
// returns true.
func (s *Step) isUndone(ctx context.Context) (bool, error) {
	if s.undone != nil {
		return *s.undone, nil
	}
	undone := false
	refused, err := s.db.Try(ctx, s.Op, false, func() error {
		path, _ := s.writer.DataMap.PathVia(s.Target, s.Via)
		text, args := s.writer.Correct(s.live, s.table, path, s.row, s.otherValues(), s.key)
		if _, err := s.db.Write(ctx, s.Op, text, args...); err != nil {
			return err
		}
		kept, err := s.countOld(ctx)
		if undone = kept > 0; err != nil || undone {
			return err
		}
		if _, err := s.db.Write(ctx, s.Op, s.statement, s.args...); err != nil {
			return err
		}
		kept, err = s.countOld(ctx)
		undone = kept < len(s.doubtful)
		return err
	})
	if err != nil {
		return false, err
	}
	undone = undone || refused
	s.undone = &undone
	return undone, nil
}

// countOld returns the number of doubtful cells that hold their old text.
func (s *Step) countOld(ctx context.Context) (old int, err error) {
	rows := map[string]rowKey{}
	for at, key := range s.doubtful {
		rows[at.row] = key
	}
	for _, key := range rows {
		text, args := s.withKeys([]rowKey{key})
		err = s.readCells(ctx, text, args, func(key rowKey, content []heldCell, _ []otherCell) {
			for _, h := range content {
				at := cell{key.id(), h.column}
				if _, ok := s.doubtful[at]; ok && h.text.Valid && h.text.String == s.similar[at] {
					old++
				}
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return old, nil
}

// otherValues returns the values of the rectification. In the columns of doubtful cells, a letter or a digit of each
// value is another one.
func (s *Step) otherValues() (values []domain.ColumnValue) {
	for _, name := range s.Columns {
		value := s.values[name]
		for at := range s.doubtful {
			if text, ok := value.(string); ok && at.column == name {
				value = another(text)
				break
			}
		}
		values = append(values, domain.ColumnValue{Column: name, Value: value})
	}
	return values
}

// another returns the text with another last letter or digit.
func another(text string) string {
	runes := []rune(text)
	for i, r := range slices.Backward(runes) {
		switch {
		case unicode.IsDigit(r) && r != '0':
			runes[i] = '0'
		case unicode.IsDigit(r):
			runes[i] = '1'
		case unicode.IsLetter(r) && unicode.ToLower(r) != 'a':
			runes[i] = 'a'
		case unicode.IsLetter(r):
			runes[i] = 'b'
		default:
			continue
		}
		return string(runes)
	}
	return text
}
