package datamap

import "github.com/habeas-data/habeas/domain"

// Severity says whether a Finding is an error, a warning or a notice.
type Severity string

// The severities of a Finding.
const (
	// SeverityError: an erasure would fail, or would succeed although personal data remains.
	SeverityError Severity = "error"
	// SeverityWarning: a person should review the finding.
	SeverityWarning Severity = "warning"
	// SeverityNotice: no check can confirm what the data map declares, or whether the place needs a change. It never fails
	// a check.
	SeverityNotice Severity = "notice"
)

// Finding is one problem. It is the result of a check of a data map against a database, or a part of a Status. It
// contains names of tables, columns, constraints, triggers and external systems, and never a value of a row. It is safe
// to log.
type Finding struct {
	Code     string   `json:"code"` // names the rule and never changes, such as "column-missing"
	Severity Severity `json:"severity"`
	Table    string   `json:"table,omitempty"`
	Column   string   `json:"column,omitempty"`
	Object   string   `json:"object,omitempty"` // the constraint, the index, the trigger or the view, if it has a name
	Reason   string   `json:"reason"`           // the fact and its consequence, in one or two sentences
	Remedy   string   `json:"remedy"`           // the change that fixes it, in one sentence
}

// Where returns the table, or the table and the column, that the finding is about.
func (f Finding) Where() string { return domain.Problem{Table: f.Table, Column: f.Column}.Where() }

// String returns the finding in one line.
func (f Finding) String() string {
	text := string(f.Severity) + " " + f.Code + ": "
	if where := f.Where(); where != "" {
		text += where + ": "
	}
	return text + f.Reason + " " + f.Remedy
}
