package domain

import (
	"encoding/json"
	"time"
)

// ExportSchemaVersion is the version of the structure of ExportBundle. It changes if readers of bundles have to change.
const ExportSchemaVersion = 1

// ExportBundle is the copy of the personal data that Art. 15(3) GDPR requires. It is structured and machine-readable,
// as Art. 20 GDPR requires. It includes retained fields, because a duty to keep data does not restrict the right of
// access.
type ExportBundle struct {
	SubjectID         SubjectID      `json:"subject_id"`
	GeneratedAt       time.Time      `json:"generated_at"` // before the rows were read
	SchemaVersion     int            `json:"schema_version"`
	Records           []ExportRecord `json:"records"`
	IncompleteSources []string       `json:"incomplete_sources"` // resolvers whose records are missing
}

// ExportRecord is one field of one row. A record in JSON has all fields except Erased, and nil fields are null. Records
// may share the values of their pointers, which must not be modified. Method Valid describes the limits of each field.
//
// A row of the subject in a table without annotated columns has a record for each column of its primary key, with the
// category technical. See DataMap.ExportedColumns.
type ExportRecord struct {
	Source string `json:"source"` // the table, or the resolver
	Field  string `json:"field"`
	// Row identifies the row within its source. For a table, it is the primary key. If the primary key has a column with
	// ExportNo, Row is the number of the row in the order of the export instead, starting at 1.
	Row      string   `json:"row"`
	Category Category `json:"category"`
	// Value is nil, a string, bool, integer, finite float64, time.Time, []byte, Number or JSON.
	Value           any         `json:"value"`
	LegalBasis      *LegalBasis `json:"legal_basis"`
	Purpose         *string     `json:"purpose"`
	RetentionReason *string     `json:"retention_reason"`
	ExpiresAt       *time.Time  `json:"expires_at"` // the end of the duty to keep the value, if known
	// Erased is true if an erasure has overwritten the value. Value is then nil.
	Erased bool `json:"erased,omitempty"`
}

// UnmarshalJSON decodes a record as encoding/json does, except for its value. The value loses no digit: a number is
// decoded as a Number, and an object or an array as a JSON. Encoding the record again gives the same record.
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
