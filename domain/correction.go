package domain

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Correction is one corrected value (Art. 16 GDPR). Table and Column identify the value in the application's own
// database. Category identifies the value for external systems. If Table is empty, the correction applies to the column
// of the data map that has this Category.
type Correction struct {
	// Table and Column name an annotated column of the data map. They equal Source and Field of the ExportRecord of the
	// value. Set both fields, or leave both empty.
	Table  string `json:"table,omitempty"`
	Column string `json:"column,omitempty"`
	// Row names one of the subject's rows of the table. It equals Row of the ExportRecord. Row requires a Table. If Row is
	// empty, the value is written into all rows of the subject in the table.
	Row string `json:"row,omitempty"`

	// Category names the value for external systems, which do not know the tables. A correction without a Category is not
	// sent to external systems. If Table and Category are set, Category must be the category of the column.
	Category Category `json:"category,omitempty"`
	// AllColumns applies a correction without a Table to all columns of its Category, except for columns that are left out
	// of exports and columns with datamap.Annotation.Ref. If AllColumns is false and the category has several such
	// columns, the correction is refused as ambiguous.
	AllColumns bool `json:"all_columns,omitempty"`

	// Value has one of the types that rectification.Planner.Plan lists.
	Value any `json:"value"`
}

// UnmarshalJSON decodes a correction as encoding/json does, except for Value. Value is decoded without rounding: a
// number becomes a json.Number, and an object or an array becomes a JSON.
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

// decodeExactly decodes a JSON text without rounding. It returns a json.Number for a number, a domain.JSON for an
// object or an array, and nil for an empty text.
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

// List returns one Correction for each category, in the order of the categories. The parameter allColumns is the
// AllColumns of each Correction.
func (c Corrections) List(allColumns bool) []Correction {
	var list []Correction
	for _, category := range slices.Sorted(maps.Keys(c)) {
		list = append(list, Correction{Category: category, AllColumns: allColumns, Value: c[category]})
	}
	return list
}

// Corrections are the corrected values of a rectification (Art. 16 GDPR), by category.
type Corrections map[Category]any

// UnmarshalJSON decodes corrections as encoding/json does, except for numbers. Each number at any depth is decoded as a
// json.Number, so that no digit is lost.
func (c *Corrections) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded map[Category]any
	if err := decoder.Decode(&decoded); err != nil {
		return err
	}
	*c = decoded
	return nil
}
