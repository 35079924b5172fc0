package check

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Result is the complete result of a check.
type Result struct {
	Findings []datamap.Finding `json:"findings"` // in order, without the accepted ones
	Accepted []AcceptedFinding `json:"accepted"` // in the same order
}

// AcceptedFinding is a finding that an acceptance ends.
type AcceptedFinding struct {
	datamap.Finding
	Acceptance datamap.Acceptance `json:"acceptance"`
}

// Errors returns a domain.ErrManifest error that lists the findings of datamap.SeverityError, or nil if no finding has
// this severity. An application that must not start with such findings returns this error at start-up.
// domain.Problems(err) returns the listed findings as values.
func Errors(findings []datamap.Finding) error {
	var problems []domain.Problem
	for _, finding := range findings {
		if finding.Severity == datamap.SeverityError {
			problems = append(problems, domain.Problem{
				Table: finding.Table, Column: finding.Column, Remedy: finding.Remedy,
				Message: finding.Code + ": " + strings.TrimSuffix(finding.Reason, "."),
			})
		}
	}
	return domain.ManifestError("check", problems)
}
