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

// MarkErased marks those records of one row that an erasure has overwritten, and takes their surrogates off. The
// records are those of Exported columns of the table, of a subject that was erased before. A store calls it.
//
// A cell was overwritten if it holds what an erasure writes into it, in a row that an erasure has overwritten: one that
// holds a surrogate that no application writes, or nothing but surrogates. A number that is 0 in a row that was added
// after the erasure is a number.
func (t Table) MarkErased(records []ExportRecord) {
	columns := make([]Column, len(records))
	for i, record := range records {
		columns[i], _ = t.Column(record.Field)
		if columns[i].Personal == nil { // a key
			return
		}
	}
	if t.RowsGo() { // its rows were deleted: this one is new
		return
	}
	held, telling, others := make([]bool, len(columns)), false, false
	for i, column := range columns {
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

// anonymousText are the texts that an erasure writes into columns of any length; see ports.SubjectStore. Short ones are
// digits alone.
var (
	anonymousText   = regexp.MustCompile(`^anon-[0-9a-f]{12,32}$`)
	anonymousDigits = regexp.MustCompile(`^[0-9a-f]+$`)
)

// holdsSurrogate reports whether a value, as it is exported, is what an erasure writes into the column, and whether
// hardly anything else would.
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

// isAnonymous reports whether a text is a surrogate of a text column without a constant.
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

// holdsConstant reports whether a value is the constant that overwrites the column, in whatever form it was written.
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

// ExportedColumns returns the columns that an export has of the subject's rows of a table: those that Exported returns,
// or else those of the primary key, if no column is annotated and the rows are wholly the subject's or lead others to
// the subject. The columns of such a key are of the category technical.
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

// holdsRows reports whether the rows of a table without annotated columns are the subject's. The key of the subject's
// own row is the subject's id, which the bundle has.
func (m DataMap) holdsRows(table Table) bool {
	return table.Owned || table.Name != m.SubjectTable().Name && slices.ContainsFunc(m.Tables(), func(child Table) bool {
		return (len(child.Personal()) > 0 || child.Owned) && slices.ContainsFunc(m.Paths(child.Name), func(p Path) bool {
			return slices.ContainsFunc(p.Relations, func(r Relation) bool { return r.References == table.Name })
		})
	})
}
