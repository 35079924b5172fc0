package datamap

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Acceptance is the decision of a person that one finding of a check (see package check) is no problem until a day, or
// is solved later. It ends the finding. It has no effect on any operation: what an operation refuses stays refused.
//
// Rule, Table, Column and Object must be equal to those of the finding. There is no wildcard.
type Acceptance struct {
	Rule   string `json:"rule"`             // Finding.Code
	Table  string `json:"table,omitempty"`  // empty if the finding has no table
	Column string `json:"column,omitempty"` // empty if the finding has no column
	// Object may be empty if only one finding has the rule, the table and the column, or if the finding has no object.
	Object string `json:"object,omitempty"`
	Reason string `json:"reason"` // required
	Until  string `json:"until"`  // the last day, such as 2027-03-31; it ends at midnight UTC
}

// sameFinding reports whether two acceptances name the same finding.
func (a Acceptance) sameFinding(other Acceptance) bool {
	other.Reason, other.Until = a.Reason, a.Until
	return a == other
}

// CheckAcceptances returns a problem for each mistake in the acceptances. It does not know the rules.
func CheckAcceptances(all []Acceptance) (problems []domain.Problem) {
	for i, a := range all {
		report := func(message, found, remedy string) {
			problems = append(problems, domain.Problem{
				Message: "accepted[" + strconv.Itoa(i) + "]: " + message, Found: found, Remedy: remedy,
			})
		}
		if a.Rule == "" {
			report("has no rule", "", "name the code of the finding")
		}
		if a.Table == "" && a.Column != "" {
			report("has a column but no table", a.Column, "name the table")
		}
		if strings.TrimSpace(a.Reason) == "" {
			report("has no reason", "", "say why the finding is accepted")
		}
		if _, err := time.Parse(time.DateOnly, a.Until); err != nil {
			report("until is not a day", a.Until, "write the last day of the acceptance, such as 2027-03-31")
		}
		if a.Rule != "" && slices.ContainsFunc(all[:i], a.sameFinding) {
			report("accepts the same finding as an earlier one", "", "remove one of them")
		}
	}
	return problems
}

// WithAccepted returns the data map with further accepted findings. A check of the data map ends these findings.
func (m DataMap) WithAccepted(accepted ...Acceptance) DataMap {
	m.accepted = slices.Concat(m.accepted, accepted)
	return m
}

// Accepted returns the accepted findings of WithAccepted.
func (m DataMap) Accepted() []Acceptance { return m.accepted }
