package domain

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Correction is one right value (Art. 16 GDPR). Table and Column say where the application's own database has it, and
// Category under which name external systems get it. A correction without a Table is for the column of its Category.
type Correction struct {
	// Table and Column name an annotated column of the data map, as ExportRecord.Source and Field do. Either both are
	// given, or none.
	Table  string `json:"table,omitempty"`
	Column string `json:"column,omitempty"`
	// Row names one of the subject's rows of the table, as ExportRecord.Row does. It needs a Table. If it is empty, the
	// value is written into all rows that the subject has in the table.
	Row string `json:"row,omitempty"`

	// Category names the value for external systems, which know no tables. A correction without a Category is not sent
	// to any. With a Table, it must be the category of the column.
	Category Category `json:"category,omitempty"`
	// AllColumns says that all columns of Category are meant. A correction without a Table is refused as ambiguous if its
	// category has several columns, unless AllColumns is set.
	AllColumns bool `json:"all_columns,omitempty"`

	// Value is of a type that rectification.Planner.Plan names.
	Value any `json:"value"`
}

// UnmarshalJSON decodes a correction as encoding/json does, except for its value, which loses no digit: a number is a
// json.Number, and an object or an array is a JSON.
func (c *Correction) UnmarshalJSON(text []byte) error {
	type plain Correction
	var decoded struct {
		plain
		Value json.RawMessage `json:"value"`
	}
	decoded.plain = plain(*c)
	if err := json.Unmarshal(text, &decoded); err != nil {
		return err
	}
	value, err := decodeExactly(decoded.Value)
	if err != nil {
		return err
	}
	*c = Correction(decoded.plain)
	c.Value = value
	return nil
}

// decodeExactly decodes JSON without a loss: numbers are json.Number, and objects and arrays are JSON. No text stands
// for null.
func decodeExactly(text json.RawMessage) (any, error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] == '{' || trimmed[0] == '[' {
		if len(trimmed) == 0 {
			return nil, nil
		}
		return JSON(trimmed), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// List returns the corrections in the order of their categories. With allColumns, each is for all columns of its
// category.
func (c Corrections) List(allColumns bool) []Correction {
	var list []Correction
	for _, category := range slices.Sorted(maps.Keys(c)) {
		list = append(list, Correction{Category: category, AllColumns: allColumns, Value: c[category]})
	}
	return list
}
