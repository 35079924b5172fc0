package domain

import "time"

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

// ExportRecord is one field of one row. The fields that are nil are null in JSON: every record has all of them. Records
// may share what their pointers refer to, which must not be changed. Method Valid has the limits of each field.
type ExportRecord struct {
	Source   string   `json:"source"` // the table, or the resolver
	Field    string   `json:"field"`
	Row      string   `json:"row"` // identifies the row within its source
	Category Category `json:"category"`
	// Value is nil, a string, bool, integer, finite float64, time.Time, []byte, Number or JSON.
	Value           any         `json:"value"`
	LegalBasis      *LegalBasis `json:"legal_basis"`
	Purpose         *string     `json:"purpose"`
	RetentionReason *string     `json:"retention_reason"`
	ExpiresAt       *time.Time  `json:"expires_at"` // when the duty to keep the value ends, where the data map says
}
