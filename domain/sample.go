package domain

import (
	"fmt"
	"slices"
	"time"
)

// SampleQuery selects rows for the preview of an erasure.
type SampleQuery struct {
	Step    Step     // of Plan.LocalAt
	Columns []string // the columns to read
	Limit   int      // the maximum number of rows
	// Keys are the primary keys of rows. If Keys is not nil, the query selects these rows of the step's table instead of
	// the rows that the step affects.
	Keys [][]PrivateValue
}

// SampledRow is a row of a subject in a preview.
type SampledRow struct {
	Key    []PrivateValue // the primary key
	Values []PrivateValue // in the order of SampleQuery.Columns
}

// StepSample is some rows that a step of an erasure affects, before and after the erasure.
type StepSample struct {
	Step    RehearsedStep
	Path    Path // from the rows to the subject; without relations for the subject's own row
	Columns []string
	Before  []SampledRow
	After   []*SampledRow // for each row of Before; nil if the erasure deletes it
}

// PrivateValue is a value of a subject's row for the eyes of an operator at a terminal. It hides itself from each
// encoding, each log and each format, so that no result, log or HTTP body can hold it.
type PrivateValue struct {
	text string
	null bool
}

// NewPrivateValue returns a value by its text.
func NewPrivateValue(text string) PrivateValue { return PrivateValue{text: text} }

// NullValue returns the value NULL.
func NullValue() PrivateValue { return PrivateValue{null: true} }

const hidden = "(hidden)"

// Reveal returns the text of the value, and whether it is NULL. Only stores and the code that writes to a terminal call
// Reveal.
func (v PrivateValue) Reveal() (text string, null bool) { return v.text, v.null }

// String hides the value.
func (PrivateValue) String() string { return hidden }

// Format hides the value from each verb of package fmt.
func (PrivateValue) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText hides the value from JSON, from logs and from other encodings.
func (PrivateValue) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// SampleColumns returns the columns that a preview of a step shows: the columns that the step overwrites or keeps, with
// the columns that begin a retention duty. If the step deletes the rows, these are the annotated columns, or all
// columns that are not in the primary key if none is annotated.
func (m DataMap) SampleColumns(step Step) []string {
	table, _ := m.Table(step.Target)
	var names []string
	add := func(more ...string) {
		for _, name := range more {
			if !slices.Contains(names, name) && !slices.Contains(table.PrimaryKey, name) {
				names = append(names, name)
			}
		}
	}
	if step.Strategy != StrategyDelete {
		add(slices.Concat(step.Columns, step.ClearedColumns, step.Expired)...)
		for _, name := range slices.Clone(names) {
			if column, _ := table.Column(name); column.Personal != nil && column.Personal.Since != "" {
				add(column.Personal.Since)
			}
		}
		return names
	}
	for _, column := range table.Personal() {
		add(column.Name)
	}
	if len(names) == 0 {
		for _, column := range table.Columns {
			add(column.Name)
		}
	}
	return names
}

// KeptUntil returns the end of the retention duty of a cell that the step keeps, if the duty has an end. The parameter
// since is the value of the column in Annotation.Since.
func (c Column) KeptUntil(since PrivateValue) (end time.Time, ok bool) {
	if c.Personal == nil || c.Personal.Retain.IsZero() || len(since.text) < len(time.DateOnly) {
		return time.Time{}, false
	}
	start, err := time.Parse(time.DateOnly, since.text[:len(time.DateOnly)])
	return c.Personal.Retain.After(start), err == nil
}
