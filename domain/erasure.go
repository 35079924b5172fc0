package domain

import "time"

// ErasureResult says what an erasure (Art. 17 GDPR) did in the application's own tables, in rows per table, and which
// external systems are still to be told.
type ErasureResult struct {
	SubjectID        SubjectID        `json:"subject_id"`
	CompletedAt      time.Time        `json:"completed_at"`
	Deleted          map[string]int64 `json:"deleted"`
	Anonymized       map[string]int64 `json:"anonymized"`
	Retained         map[string]int64 `json:"retained"`
	EnqueuedExternal []string         `json:"enqueued_external"` // resolver names, one per outbox entry
}
