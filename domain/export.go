package domain

import (
	"time"
	"unicode/utf8"
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

// ExportRecord is one field of one row. The fields that are nil are null in JSON: every record has all of them. Records
// may share what their pointers refer to, which must not be changed. Method Valid has the limits of each field.
type ExportRecord struct {
	Source          string      `json:"source"` // the table, or the resolver
	Field           string      `json:"field"`
	Row             string      `json:"row"` // identifies the row within its source
	Category        Category    `json:"category"`
	Value           any         `json:"value"` // nil, string, bool, integer, finite float64, time.Time, []byte, Number, JSON
	LegalBasis      *LegalBasis `json:"legal_basis"`
	Purpose         *string     `json:"purpose"`
	RetentionReason *string     `json:"retention_reason"`
	ExpiresAt       *time.Time  `json:"expires_at"` // when the duty to keep the value ends, where the data map says
}

// Number is a decimal number in its JSON form, kept as text so that no digit is lost.
type Number string

// MarshalJSON writes the number as it is. What is no finite number (PostgreSQL knows NaN and Infinity) is a string.
func (n Number) MarshalJSON() ([]byte, error) {
	if isJSONNumber(string(n)) {
		return []byte(n), nil
	}
	quoted := []byte{'"'}
	for _, r := range string(n) { // what is no UTF-8 becomes U+FFFD, as encoding/json has it
		switch {
		case r == '"' || r == '\\':
			quoted = append(quoted, '\\', byte(r))
		case r < ' ':
			quoted = append(quoted, '\\', 'u', '0', '0', "01"[r>>4], "0123456789abcdef"[r&0xf])
		default:
			quoted = utf8.AppendRune(quoted, r)
		}
	}
	return append(quoted, '"'), nil
}

// JSON is a value that the application stores as JSON; it is exported as it is, and must be valid.
type JSON string

// MarshalJSON writes the stored document.
func (j JSON) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// isJSONNumber reports whether s is a number by the grammar of RFC 8259, section 6.
func isJSONNumber(s string) bool {
	digits := func() bool {
		start := s
		for s != "" && '0' <= s[0] && s[0] <= '9' {
			s = s[1:]
		}
		return len(s) < len(start)
	}
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	leadingZero := s != "" && s[0] == '0'
	before := len(s)
	if !digits() || leadingZero && before-len(s) > 1 {
		return false
	}
	if s != "" && s[0] == '.' {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}
