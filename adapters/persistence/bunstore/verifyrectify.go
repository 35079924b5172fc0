package bunstore

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain"
)

// rectifyVerified carries out a rectification in a database that may undo it, and checks that the values are stored. It
// also checks the earlier rectifications of the session: a trigger of this table may undo them.
func (s subjectStore) rectifyVerified(
	ctx context.Context, table domain.Table, key []any, values []domain.ColumnValue, text string, args []any,
) (rows int64, err error) {
	v := s.verifiedStep(domain.Step{Target: table.Name, Strategy: domain.StrategyAnonymize}, key)
	v.op, v.text, v.args, v.values = "rectify: "+table.Name, text, args, map[string]any{}
	for _, value := range values {
		v.Columns, v.values[value.Column] = append(v.Columns, value.Column), value.Value
	}
	s.rectified = slices.DeleteFunc(s.rectified, func(earlier *verifiedStep) bool {
		return earlier.Target == v.Target // which this step may write over
	})
	if rows, err = v.begin(ctx); err != nil {
		return 0, err
	}
	if err := s.fireDeferred(ctx, v.op); err != nil {
		return 0, err
	}
	s.rectified = append(s.rectified, v)
	if _, err := s.repeat(ctx, s.rectified); err != nil {
		return 0, err
	}
	return rows, s.deferAgain(ctx, v.op)
}

// holdsNothingOld reports whether a row that a trigger has added has nothing that was corrected.
func (v *verifiedStep) holdsNothingOld(cells []held) bool {
	for at, old := range v.cells {
		if slices.ContainsFunc(cells, func(h held) bool {
			return h.column == at.column && h.text.Valid && !h.written && h.text.String == old
		}) {
			return false
		}
	}
	return true
}

// corrected reports whether a row has taken the correction of each category in one of the columns. A trigger may derive
// the others from it.
func (v *verifiedStep) corrected(cells []held) bool {
	for _, cell := range cells {
		if !slices.ContainsFunc(cells, func(h held) bool { return v.category(h) == v.category(cell) && v.took(h) }) {
			return false
		}
	}
	return true
}

// correctedBefore reports whether a row had the correction of a cell already: then a trigger may have derived the cell
// from it, and derives the same again.
func (v *verifiedStep) correctedBefore(cell held, cells []held) bool {
	return v.values != nil && slices.ContainsFunc(cells, func(h held) bool {
		return v.category(h) == v.category(cell) && v.took(h)
	})
}

func (v *verifiedStep) category(h held) domain.Category {
	column, _ := v.table.Column(h.column)
	return column.Personal.Category
}

// took reports whether a cell has taken a correction. A trigger may write it in a form of its own, in upper case say.
func (v *verifiedStep) took(h held) bool {
	value := v.values[h.column]
	if value == nil {
		return !h.text.Valid
	}
	if h.written {
		return true
	}
	text, isText := value.(string)
	return isText && h.text.Valid && bare(text) != "" && bare(text) == bare(h.text.String)
}

// bare is a text without anything but letters and digits, whatever their case is.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
