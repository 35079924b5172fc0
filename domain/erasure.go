package domain

import (
	"maps"
	"slices"
	"time"
)

// Applied is the result of the steps that ports.SubjectStore.Apply has carried out.
type Applied struct {
	Rows     []int64          // the number of affected rows, for each step
	Cascaded map[string]int64 // see ErasureResult.Cascaded
	// Latest has the Until.Latest of the retained columns, by the index of a retain step and by column. A column without a
	// known end is missing.
	Latest map[int]map[string]time.Time
}

// ErasureResult is the result of an erasure (Art. 17 GDPR). It has the number of affected rows for each table of the
// application's own database, and the external systems whose erasure is still due. A row that several paths (chains of
// relations) connect to the subject counts once for each path.
type ErasureResult struct {
	SubjectID   SubjectID        `json:"subject_id"`
	Request     string           `json:"request,omitempty"` // the number in the register, if there is one
	CompletedAt time.Time        `json:"completed_at"`
	Deleted     map[string]int64 `json:"deleted"`
	Anonymized  map[string]int64 `json:"anonymized"`
	Retained    map[string]int64 `json:"retained"`
	// Cascaded has the number of rows that the database deleted or changed besides the steps of the erasure, by table. A
	// foreign key (ON DELETE CASCADE) or a trigger has deleted rows of a table that is not in the data map. Or a foreign
	// key (ON DELETE SET NULL or SET DEFAULT, or ON UPDATE) has set its columns. Or a trigger has changed rows of a table
	// of the data map. Cascaded is empty if there are no such rows.
	Cascaded map[string]int64 `json:"cascaded,omitempty"`
	// EnqueuedExternal are the names of the resolvers whose external systems still have to erase. A name occurs once for
	// each ref of the subject. It occurs once more if the subject's rows hold keys of the external system (see
	// datamap.Annotation.Ref).
	EnqueuedExternal []string `json:"enqueued_external"`
	// RetainedFields are the columns that the erasure had to keep, in tables with retained rows. They make the erasure a
	// partial refusal, so Remedies is set with them. Both are empty if nothing is retained.
	RetainedFields []RetainedField `json:"retained_fields,omitempty"`
	Remedies       Remedies        `json:"remedies,omitzero"`
}

// RetainedField is a column that an erasure keeps because of a legal duty.
type RetainedField struct {
	Source   string   `json:"source"` // the table
	Field    string   `json:"field"`  // the column
	Category Category `json:"category"`
	Reason   string   `json:"reason"`         // the duty
	Until    Until    `json:"until,omitzero"` // zero for a duty without end
}

// Until says when a retention duty ends. The period After, such as 10y, counts from the value in the column Since, or
// from the end of its calendar year if From is year_end.
//
// Latest is the end of the last duty that keeps a value of the column, in the rows that were retained. A column that
// holds the start of other duties is kept as long as they last. Latest is zero if one of the values has no known end,
// if the column is a key, or if more than 1,000 rows of a path were retained.
type Until struct {
	After  string    `json:"after"`
	Since  string    `json:"since"`
	From   string    `json:"from,omitempty"`
	Latest time.Time `json:"latest,omitzero"`
}

// Ended reports whether the duties of all values are known to have ended at an instant. An erasure then overwrites the
// values.
func (u Until) Ended(at time.Time) bool { return !u.Latest.IsZero() && !u.Latest.After(at) }

// Clone returns a copy that shares no memory with r.
func (r ErasureResult) Clone() ErasureResult {
	r.Deleted, r.Anonymized, r.Retained = maps.Clone(r.Deleted), maps.Clone(r.Anonymized), maps.Clone(r.Retained)
	r.Cascaded, r.EnqueuedExternal = maps.Clone(r.Cascaded), slices.Clone(r.EnqueuedExternal)
	r.RetainedFields = slices.Clone(r.RetainedFields)
	return r
}
