package domain

import (
	"encoding/json"
	"time"
)

// ExportSchemaVersion is the version of the ExportBundle's shape. It changes when a reader of bundles must change.
const ExportSchemaVersion = 1

// ExportBundle is the copy of the personal data that Art. 15(3) GDPR asks for, structured and machine-readable as
// Art. 20 does. Retained fields are part of it: a duty to keep data is no reason not to show it.
type ExportBundle struct {
	SubjectID         SubjectID      `json:"subject_id"`
	GeneratedAt       time.Time      `json:"generated_at"` // when the rows began to be read
	SchemaVersion     int            `json:"schema_version"`
	Records           []ExportRecord `json:"records"`
	IncompleteSources []string       `json:"incomplete_sources"` // resolvers that did not answer
}

// ExportRecord is one field of one row. The fields that are nil are null in JSON: every record has all of them but
// Erased. Records may share what their pointers refer to, which must not be changed. Method Valid has the limits of
// each field.
//
// A row of the subject in a table without annotated columns has a record for each column of its primary key, of the
// category technical.
type ExportRecord struct {
	Source string `json:"source"` // the table, or the resolver
	Field  string `json:"field"`
	// Row identifies the row within its source. Of a table, it is the primary key. If the primary key has a column that
	// says ExportNo, it is instead the number of the row in the order of the export, from 1 on.
	Row      string   `json:"row"`
	Category Category `json:"category"`
	// Value is nil, a string, bool, integer, finite float64, time.Time, []byte, Number or JSON.
	Value           any         `json:"value"`
	LegalBasis      *LegalBasis `json:"legal_basis"`
	Purpose         *string     `json:"purpose"`
	RetentionReason *string     `json:"retention_reason"`
	ExpiresAt       *time.Time  `json:"expires_at"` // when the duty to keep the value ends, where the data map says
	// Erased says that an erasure has overwritten the value, which is then nil.
	Erased bool `json:"erased,omitempty"`
}

// UnmarshalJSON decodes a record as encoding/json does, except for its value, which loses no digit: a number is a
// Number, and an object or an array is a JSON. Encoded again, the record is the same.
func (r *ExportRecord) UnmarshalJSON(text []byte) error {
	type plain ExportRecord
	decoded := struct {
		*plain
		Value json.RawMessage `json:"value"`
	}{plain: (*plain)(&ExportRecord{})}
	if err := json.Unmarshal(text, &decoded); err != nil {
		return err
	}
	value, err := decodeExactly(decoded.Value)
	if err != nil {
		return err
	}
	if number, ok := value.(json.Number); ok {
		value = Number(number)
	}
	*r = ExportRecord(*decoded.plain)
	r.Value = value
	return nil
}
