package domain

import (
	"maps"
	"slices"
	"time"
)

// RectificationResult is the result of a rectification (Art. 16 GDPR). It has the number of corrected rows for each
// table of the application's own database, the external systems whose rectification is still due, and the external
// systems that are skipped.
type RectificationResult struct {
	SubjectID        SubjectID        `json:"subject_id"`
	CompletedAt      time.Time        `json:"completed_at"`
	Rectified        map[string]int64 `json:"rectified"`
	EnqueuedExternal []string         `json:"enqueued_external"` // resolver names; one for each outbox entry
	// SkippedResolvers are the names of the registered resolvers that get no outbox entry.
	SkippedResolvers []string `json:"skipped_resolvers"`
}

// Clone returns a copy that shares no memory with r.
func (r RectificationResult) Clone() RectificationResult {
	r.Rectified, r.EnqueuedExternal = maps.Clone(r.Rectified), slices.Clone(r.EnqueuedExternal)
	r.SkippedResolvers = slices.Clone(r.SkippedResolvers)
	return r
}

// RectificationStep is the part of a rectification for one path of a table. It writes the same values into all rows
// that the path (the chain of relations) connects to the subject, or into one of these rows.
type RectificationStep struct {
	Table  string
	Row    string        // the row, as ExportRecord.Row names it; "" for all rows of the path
	Via    string        // the name of the path; empty if the table has one path
	Values []ColumnValue // in the order of the table's columns; at least one
}

// ColumnValue is the corrected value of a column. The Go type depends on the type of the column:
//
//   - datamap.TypeText and datamap.TypeUUID: string
//   - datamap.TypeSmallInt, datamap.TypeInteger and datamap.TypeBigInt: int64
//   - datamap.TypeNumber: int64, a finite float64, or Number
//   - datamap.TypeBoolean: bool
//   - datamap.TypeTime: time.Time in UTC and whole microseconds
//   - datamap.TypeBytes: a []byte that is not nil
//   - datamap.TypeJSON: JSON
type ColumnValue struct {
	Column string
	Value  any
}
