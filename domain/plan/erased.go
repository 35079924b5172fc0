package plan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// MarkErased marks the values of one row that an earlier erasure has overwritten. It sets Erased in the record of such
// a value and removes the value, which is a surrogate. A store calls MarkErased for a subject that was erased before.
// Pass a record for each of the ExportedColumns of the table, and the paths that connect the row to the subject.
//
// A value counts as overwritten if both conditions are met:
//
//   - The value is one that an erasure writes into the column.
//   - The row holds a surrogate that no application writes itself, or it holds surrogates in all cells that an erasure
//     overwrites. A single 0 is not sufficient, because a row that was added after the erasure may hold it, too.
//
// A cell that is NULL is no evidence, because an erasure leaves NULL as it is. Only NULL in a column that the erasure
// sets to NULL is marked, if the other cells of the row are evidence.
//
// A retained value counts as overwritten only if this value itself is a surrogate that no application writes.
//
// MarkErased ignores a path if an erasure deletes the rows on the path, or sets a reference of the path to NULL. The
// erasure has removed all earlier rows from such a path, so the row is newer than the erasure.
func MarkErased(m datamap.DataMap, table datamap.Table, paths []datamap.Path, records []domain.ExportRecord) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p datamap.Path) bool { return !staysConnected(m, table, p) })
	markErased(table, paths, records, true)
}

// markErased marks the overwritten values in the columns of the paths. If isErased is false, it is unknown whether the
// people at the end of the paths were erased. In this case, values count as overwritten only if one of them is a
// surrogate that no application writes itself.
func markErased(table datamap.Table, paths []datamap.Path, records []domain.ExportRecord, isErased bool) {
	columns := make([]datamap.Column, len(records))
	for i, record := range records {
		columns[i], _ = table.Column(record.Field)
		if columns[i].Personal == nil { // the record is a key column of a table without annotated columns
			return
		}
	}
	held, distinctive, others, isEvidence := make([]bool, len(columns)), false, !isErased, false
	for i, column := range columns {
		if records[i].Erased || !slices.ContainsFunc(paths, func(p datamap.Path) bool { return p.Has(column) }) {
			continue
		}
		var unique bool
		if held[i], unique = holdsSurrogate(column, records[i].Value); records[i].Value == nil {
			continue
		}
		if column.Personal.Strategy == domain.StrategyRetain {
			held[i] = held[i] && unique && column.Personal.Since != ""
			continue
		}
		distinctive, isEvidence = distinctive || held[i] && unique, true
		others = others || !held[i]
	}
	for i := range records {
		retained := columns[i].Personal.Strategy == domain.StrategyRetain
		if held[i] && (distinctive || retained || !others && isEvidence) {
			records[i].Value, records[i].Erased = nil, true
		}
	}
}

// SharesColumns reports whether a column of the table belongs to several paths. The erasure of one person then
// overwrites a value that the export of another person contains.
func SharesColumns(m datamap.DataMap, table datamap.Table) bool {
	return slices.ContainsFunc(table.Personal(), func(c datamap.Column) bool {
		paths := slices.DeleteFunc(slices.Clone(m.Paths(table.Name)), func(p datamap.Path) bool { return !p.Has(c) })
		return len(paths) > 1
	})
}

// MarkSharedErased marks the values of one row that the erasure of another person has overwritten. The subject of the
// export does not need to be erased. A store calls it for each row of a table for which SharesColumns returns true. The
// parameter own holds the paths that connect the row to the subject. The parameter erased holds the paths that connect
// the row to people who were erased.
//
// A value counts as overwritten by the rules of MarkErased for a path in erased. Other paths may have lost their
// reference to an erased person. Their values count as overwritten only if the row holds a surrogate, in a column of
// the path, that no application writes itself.
func MarkSharedErased(
	m datamap.DataMap, table datamap.Table, own, erased []datamap.Path, records []domain.ExportRecord,
) {
	for _, path := range m.Paths(table.Name) {
		is := func(p datamap.Path) bool { return p.Via == path.Via }
		switch {
		case slices.ContainsFunc(own, is) || m.RowsDeleted(table, path):
		case slices.ContainsFunc(erased, is):
			MarkErased(m, table, []datamap.Path{path}, records)
		default:
			markErased(table, []datamap.Path{path}, records, false)
		}
	}
}

// staysConnected reports whether a row still exists after an erasure of the subject, and the path still connects the
// row to the subject.
func staysConnected(m datamap.DataMap, table datamap.Table, path datamap.Path) bool {
	return !m.RowsDeleted(table, path) && !slices.ContainsFunc(append(m.RemainingPaths(path), path),
		func(p datamap.Path) bool { return p.OnErasure() == domain.StrategyNull })
}

// randomDigits matches the random digits of a surrogate.
var randomDigits = regexp.MustCompile(`^[0-9a-f]+$`)

// holdsSurrogate reports whether an exported value is a value that an erasure writes into the column. distinctive is
// true if an application hardly ever writes such a value itself. For example, "anon-" with random digits is
// distinctive, and 0 is not.
func holdsSurrogate(c datamap.Column, value any) (holds, distinctive bool) {
	if c.IsNulled() {
		return value == nil, false
	}
	if start, ok := ReadStart(value); ok && c.Type == datamap.TypeTime {
		value = start.At // also that of a text without a zone
	}
	if _, constant := c.Constant(); constant {
		return holdsConstant(c, value), c.Digits() > 0
	}
	switch value := value.(type) {
	case string:
		if c.Type == datamap.TypeUUID {
			return datamap.IsUUID(value) && value[14] == '4', false
		}
		return isAnonymous(c, value), c.Unique()
	case int64, float64, domain.Number:
		n, ok := asFloat(value)
		return ok && n == 0, false
	case bool:
		return !value, false
	case time.Time:
		return value.Equal(time.Unix(0, 0)), false
	case []byte:
		return len(value) == 0, false
	case domain.JSON:
		return slices.Contains([]string{"{}", "[]"}, string(bytes.TrimSpace([]byte(value)))), false
	default:
		return false, false
	}
}

// isAnonymous reports whether a text has the form of the default surrogate of the text column.
func isAnonymous(c datamap.Column, text string) bool {
	prefix, digits := c.Default()
	random, ok := strings.CutPrefix(text, prefix)
	return ok && len(random) == digits && randomDigits.MatchString(random)
}

// holdsConstant reports whether a value equals Column.Surrogate, the constant that an erasure writes into the column. A
// Placeholder in the constant matches any c.Digits() hexadecimal digits. holdsConstant compares values, not texts: the
// numbers 1 and 1.0 are equal.
func holdsConstant(c datamap.Column, value any) bool {
	text, _ := c.Constant()
	switch value := value.(type) {
	case string:
		return value == text || IsFilled(c, value)
	case []byte:
		return string(value) == text
	case int64, float64, domain.Number:
		written, err := strconv.ParseFloat(text, 64)
		held, ok := asFloat(value)
		return err == nil && ok && held == written
	case bool:
		written, err := strconv.ParseBool(text)
		return err == nil && value == written
	case time.Time:
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if written, err := time.Parse(layout, text); err == nil {
				return value.Equal(written)
			}
		}
		return false
	case domain.JSON:
		var held, written any
		return json.Unmarshal([]byte(value), &held) == nil && json.Unmarshal([]byte(text), &written) == nil &&
			reflect.DeepEqual(held, written)
	default:
		return false
	}
}

func asFloat(value any) (float64, bool) {
	switch value := value.(type) {
	case int64:
		return float64(value), true
	case float64:
		return value, true
	case domain.Number:
		n, err := strconv.ParseFloat(string(value), 64)
		return n, err == nil
	default:
		return 0, false
	}
}

// IsLeftOver reports whether a value of the column is data that an erasure should have overwritten. The value has the
// form in which an export shows it. NULL and the empty text are never left over, because they contain no data.
//
// A value that an erasure could have written is not left over. Such values are 0, false, the start of 1970, an empty
// document or array, the text that Column.Surrogate declares, and any UUID of version 4. In a text column of fewer than
// 17 characters, such a value is any text of hexadecimal digits that has the length of the column.
func IsLeftOver(c datamap.Column, value any) bool {
	return value != "" && !Overwritten(c, value)
}
