package domain

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// MarkErased marks the records of one row whose values an erasure has overwritten, and removes their surrogates. A
// store calls it for a subject that was erased before. The records are those of the ExportedColumns of the table. The
// paths in along connect the row to the subject.
//
// A cell counts as overwritten if it holds a value that an erasure writes, and an erasure has overwritten its row. An
// erasure has overwritten a row if the row holds a surrogate that no application writes, or holds only surrogates. For
// example, 0 in a row that was added after the erasure is an ordinary number.
//
// If an erasure deletes rows along a path, or sets a reference of the path to NULL, existing rows on this path are
// newer than the erasure. MarkErased ignores such a path, because no cell was overwritten along it.
func (m DataMap) MarkErased(table Table, along []Path, records []ExportRecord) {
	along = slices.DeleteFunc(slices.Clone(along), func(p Path) bool { return !m.leadsOn(table, p) })
	columns := make([]Column, len(records))
	for i, record := range records {
		columns[i], _ = table.Column(record.Field)
		if columns[i].Personal == nil { // a key
			return
		}
	}
	held, telling, others := make([]bool, len(columns)), false, false
	for i, column := range columns {
		if !slices.ContainsFunc(along, func(p Path) bool { return p.Has(column) }) {
			continue
		}
		var unique bool
		held[i], unique = column.holdsSurrogate(records[i].Value)
		if column.Personal.Strategy == StrategyRetain {
			held[i] = held[i] && unique && column.Personal.Since != ""
			continue
		}
		telling = telling || held[i] && unique
		others = others || !held[i]
	}
	for i := range records {
		retained := columns[i].Personal.Strategy == StrategyRetain
		if held[i] && (telling || retained || !others) {
			records[i].Value, records[i].Erased = nil, true
		}
	}
}

// leadsOn reports whether a row on the path is still connected to the subject after the subject has been erased.
func (m DataMap) leadsOn(table Table, path Path) bool {
	return !m.RowsDeleted(table, path) && !slices.ContainsFunc(path.Relations, func(r Relation) bool {
		return r.OnErasure == StrategyNull
	})
}

// anonymousText matches the surrogates of text columns. See ports.SubjectStore. anonymousDigits matches the surrogates
// of short text columns, which consist of digits only.
var (
	anonymousText   = regexp.MustCompile(`^anon-[0-9a-f]{12,32}$`)
	anonymousDigits = regexp.MustCompile(`^[0-9a-f]+$`)
)

// holdsSurrogate reports whether an exported value is a value that an erasure writes into the column. telling is true
// if an application hardly ever writes such a value.
func (c Column) holdsSurrogate(value any) (holds, telling bool) {
	if c.Personal != nil && c.Personal.Strategy == StrategyNull {
		return value == nil, false
	}
	if _, constant := c.Constant(); constant {
		return c.holdsConstant(value), c.Digits() > 0
	}
	switch value := value.(type) {
	case string:
		if c.Type == TypeUUID {
			return IsUUID(value) && value[14] == '4', false
		}
		return c.isAnonymous(value), c.Unique()
	case int64:
		return value == 0, false
	case float64:
		return value == 0, false
	case Number:
		n, err := strconv.ParseFloat(string(value), 64)
		return err == nil && n == 0, false
	case bool:
		return !value, false
	case time.Time:
		return value.Equal(time.Unix(0, 0)), false
	case []byte:
		return len(value) == 0, false
	case JSON:
		return slices.Contains([]string{"{}", "[]"}, string(bytes.TrimSpace([]byte(value)))), false
	default:
		return false, false
	}
}

// isAnonymous reports whether a text is a surrogate of a text column that has no constant.
func (c Column) isAnonymous(text string) bool {
	const longest, prefix, least = 37, len("anon-"), 12
	length := longest
	if c.Length > 0 {
		length = min(length, c.Length)
	}
	if len(text) != length {
		return false
	}
	if length < prefix+least {
		return anonymousDigits.MatchString(text)
	}
	return anonymousText.MatchString(text)
}

// holdsConstant reports whether a value equals the constant that overwrites the column. It ignores differences of the
// written form.
func (c Column) holdsConstant(value any) bool {
	text, _ := c.Constant()
	switch value := value.(type) {
	case string:
		return value == text || c.IsFilled(value)
	case []byte:
		return string(value) == text
	case int64, float64, Number:
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
	case JSON:
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
	case Number:
		n, err := strconv.ParseFloat(string(value), 64)
		return n, err == nil
	default:
		return 0, false
	}
}

// ExportedColumns returns the columns of a table that an export shows for the subject's rows. These are the columns
// that Table.Exported returns. A table without annotated columns has the columns of its primary key instead, with the
// category technical, if its rows belong to the subject as a whole or connect rows of other tables to the subject.
func (m DataMap) ExportedColumns(table Table) []Column {
	if len(table.Personal()) > 0 || !m.holdsRows(table) {
		return table.Exported()
	}
	columns := make([]Column, 0, len(table.PrimaryKey))
	for _, name := range table.PrimaryKey {
		if column, ok := table.Column(name); ok {
			column.Personal = &Annotation{Category: CategoryTechnical}
			columns = append(columns, column)
		}
	}
	return columns
}

// holdsRows reports whether an export shows the keys of a table without annotated columns. It returns false for the
// subject's own table unless it is Owned, because its key is the subject id, which the bundle already has.
func (m DataMap) holdsRows(table Table) bool {
	return table.Owned || table.Name != m.SubjectTable().Name && slices.ContainsFunc(m.Tables(), func(child Table) bool {
		return (len(child.Personal()) > 0 || child.Owned) && slices.ContainsFunc(m.Paths(child.Name), func(p Path) bool {
			return slices.ContainsFunc(p.Relations, func(r Relation) bool { return r.References == table.Name })
		})
	})
}
