package domain

import (
	"encoding/json"
	"time"
)

// ExportSchemaVersion is the version of the structure of ExportBundle. It increases with each change that breaks
// readers of bundles.
const ExportSchemaVersion = 1

// ExportBundle is the copy of the personal data that Art. 15(3) GDPR requires. It is structured and machine-readable,
// as Art. 20 GDPR requires. It includes retained values, because a legal duty to keep a value does not restrict the
// right of access.
type ExportBundle struct {
	SubjectID         SubjectID      `json:"subject_id"`
	Request           string         `json:"request,omitempty"` // the number in the register, if there is one
	GeneratedAt       time.Time      `json:"generated_at"`      // an instant before the rows were read
	SchemaVersion     int            `json:"schema_version"`
	Records           []ExportRecord `json:"records"`
	IncompleteSources []string       `json:"incomplete_sources"` // resolvers of which records are missing
}

// ExportRecord is one field of one row. In JSON, Erased is left out if it is false, and every other field is always
// present. A nil field is null. Pointer fields of several records may point to the same value, so callers must not
// modify this value. The method Valid describes the limits of each field.
//
// If an exported table has no annotated columns, a row of the subject has one record for each column of its primary
// key, with the category technical. See datamap.DataMap.ExportedColumns.
type ExportRecord struct {
	Source string `json:"source"` // the table, or the resolver
	Field  string `json:"field"`
	// Row identifies the row within its source. For a table, it is the primary key. If the annotation of a column of the
	// primary key has datamap.ExportNo, Row is the number of the row among the subject's rows of the table, starting at 1.
	// If a primary key is NULL or empty, a store may set Row to another text. A correction cannot name such a row.
	Row      string   `json:"row"`
	Category Category `json:"category"`
	// Value is nil, a string, bool, integer, finite float64, time.Time, []byte, Number or JSON. A date, or a time without
	// a zone, is a string.
	Value           any         `json:"value"`
	LegalBasis      *LegalBasis `json:"legal_basis"`
	Purpose         *string     `json:"purpose"`
	RetentionReason *string     `json:"retention_reason"`
	ExpiresAt       *time.Time  `json:"expires_at"` // the end of the duty to keep the value, if known
	// Erased is true if an erasure has overwritten the value. Value is then nil.
	Erased bool `json:"erased,omitempty"`
}

// UnmarshalJSON decodes a record as encoding/json does, except for Value. Value is decoded without rounding: a number
// becomes a Number, and an object or an array becomes a JSON. Therefore, a decoded record can be encoded again without
// a change.
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
