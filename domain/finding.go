package domain

import "strings"

// Severity is the weight of a Finding.
type Severity string

// The severities of a Finding.
const (
	// SeverityError: an erasure would fail, or would succeed with personal data left.
	SeverityError Severity = "error"
	// SeverityWarning: a person should look at it.
	SeverityWarning Severity = "warning"
)

// Finding is one thing that a check of a data map against a database has found, or that the Status shows. It names
// tables, columns, constraints, triggers and external systems, never a value of a row, and is safe to log.
type Finding struct {
	Code     string   `json:"code"` // names the rule and never changes: "column-missing", say
	Severity Severity `json:"severity"`
	Table    string   `json:"table,omitempty"`
	Column   string   `json:"column,omitempty"`
	Object   string   `json:"object,omitempty"` // the constraint, the index, the trigger or the view, if it has a name
	Reason   string   `json:"reason"`           // the fact, and why it matters: one or two sentences
	Remedy   string   `json:"remedy"`           // the change that puts it right: a sentence
}

// Where names the place: the table, or the table and the column.
func (f Finding) Where() string { return Problem{Table: f.Table, Column: f.Column}.Where() }

// String is the finding in one line.
func (f Finding) String() string {
	text := string(f.Severity) + " " + f.Code + ": "
	if where := f.Where(); where != "" {
		text += where + ": "
	}
	return text + f.Reason + " " + f.Remedy
}

// Errors returns an error of the code ErrManifest that lists the findings of SeverityError, or nil if there are none.
// An application that must not start with them returns it from its start-up. Problems returns them as values.
func Errors(findings []Finding) error {
	var problems []Problem
	for _, finding := range findings {
		if finding.Severity == SeverityError {
			problems = append(problems, Problem{
				Table: finding.Table, Column: finding.Column, Remedy: finding.Remedy,
				Message: finding.Code + ": " + strings.TrimSuffix(finding.Reason, "."),
			})
		}
	}
	return Refused("check", problems)
}
