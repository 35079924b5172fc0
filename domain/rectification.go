package domain

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// RectificationResult says what a rectification (Art. 16 GDPR) did in the application's own tables, in rows per table,
// which external systems are still to be told, and which ones will not be.
type RectificationResult struct {
	SubjectID        SubjectID        `json:"subject_id"`
	CompletedAt      time.Time        `json:"completed_at"`
	Rectified        map[string]int64 `json:"rectified"`
	EnqueuedExternal []string         `json:"enqueued_external"` // resolver names, one per outbox entry
	SkippedResolvers []string         `json:"skipped_resolvers"` // those that cannot rectify, or have no ref
}

// Clone returns a copy that shares no memory with r.
func (r RectificationResult) Clone() RectificationResult {
	r.Rectified, r.EnqueuedExternal = maps.Clone(r.Rectified), slices.Clone(r.EnqueuedExternal)
	r.SkippedResolvers = slices.Clone(r.SkippedResolvers)
	return r
}

// RectificationStep is what a rectification writes into one table: the same into all rows that a path leads from to the
// subject, or into one of them.
type RectificationStep struct {
	Table  string
	Row    string        // the one row, as ExportRecord.Row names it; "" for all rows of the path
	Via    string        // the name of the path; empty where the table has one
	Values []ColumnValue // in the order of the table's columns; at least one
}

// ColumnValue is the right value for a column, as one Go type for each type of column: string for TypeText and
// TypeUUID, int64 for the integers, bool for TypeBoolean, time.Time in UTC and whole microseconds for TypeTime, a
// non-nil []byte for TypeBytes, JSON for TypeJSON; for TypeNumber int64, a finite float64, or Number.
type ColumnValue struct {
	Column string
	Value  any
}

// UnmarshalJSON decodes corrections as encoding/json does, except for numbers: each number is a json.Number, at any
// depth, so that no digits are lost.
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
