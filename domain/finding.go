package domain

// Severity is the weight of a Finding.
type Severity string

// The severities of a Finding.
const (
	// SeverityError: an erasure would fail, or would succeed with personal data left.
	SeverityError Severity = "error"
	// SeverityWarning: a person should look at it.
	SeverityWarning Severity = "warning"
)

// Finding is one thing that a check of a data map against a database has found. It names tables, columns and
// constraints, never a value of a row, and is safe to log.
type Finding struct {
	Code     string   `json:"code"` // names the rule and never changes: "column-missing", say
	Severity Severity `json:"severity"`
	Table    string   `json:"table,omitempty"`
	Column   string   `json:"column,omitempty"`
	Reason   string   `json:"reason"` // the fact, and why it matters
	Remedy   string   `json:"remedy"` // the change that puts it right
}

// Where names the place: the table, or the table and the column.
func (f Finding) Where() string { return Problem{Table: f.Table, Column: f.Column}.Where() }

// String is the finding in one line.
func (f Finding) String() string {
	text := string(f.Severity) + " " + f.Code + ": "
	if where := f.Where(); where != "" {
		text += where + ": "
	}
	return text + f.Reason + "; " + f.Remedy
}
