package domain

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Correction is one corrected value (Art. 16 GDPR). Table and Column identify the value in the application's own
// database. Category identifies the value for external systems. A correction without a Table applies to the column of
// its Category.
type Correction struct {
	// Table and Column name an annotated column of the data map, as ExportRecord.Source and Field do. Set both fields, or
	// leave both empty.
	Table  string `json:"table,omitempty"`
	Column string `json:"column,omitempty"`
	// Row names one of the subject's rows of the table, as ExportRecord.Row does. It requires a Table. If Row is empty,
	// the value is written into all rows of the subject in the table.
	Row string `json:"row,omitempty"`

	// Category names the value for external systems, which do not know the tables. A correction without a Category is not
	// sent to external systems. With a Table, Category must be the category of the column.
	Category Category `json:"category,omitempty"`
	// AllColumns applies the correction to all columns of Category. Without AllColumns, a correction without a Table is
	// refused as ambiguous if its category has several columns.
	AllColumns bool `json:"all_columns,omitempty"`

	// Value has one of the types that rectification.Planner.Plan lists.
	Value any `json:"value"`
}

// UnmarshalJSON decodes a correction as encoding/json does, except for its value. The value loses no digit: a number is
// decoded as a json.Number, and an object or an array as a JSON.
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

// decodeExactly decodes JSON without a loss. Numbers are decoded as json.Number, and objects and arrays as JSON. An
// empty text is decoded as null.
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

// List returns the corrections in the order of their categories. allColumns is the AllColumns of each correction.
func (c Corrections) List(allColumns bool) []Correction {
	var list []Correction
	for _, category := range slices.Sorted(maps.Keys(c)) {
		list = append(list, Correction{Category: category, AllColumns: allColumns, Value: c[category]})
	}
	return list
}
