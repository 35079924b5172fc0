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

// Decide is the word with which a question to a person begins in a note of a draft. Decided stands there instead when
// the person has answered the question, such as that a table stays out of the data map.
const (
	Decide  = "DECIDE: "
	Decided = "DECIDED: "
)

// LeftOut is a table that a draft left out of a data map, with a question to a person.
type LeftOut struct {
	Table   string
	Decided bool     // the person has answered
	Columns []string // the columns about which the question was; nil if they are not known
	Note    string   // the note with the question, if it is known
}

// WithLeftOut returns the data map with tables that a draft left out. A check of the data map reports the open
// questions together. It does not report that the data map lacks a table about which a person has decided.
func (m DataMap) WithLeftOut(tables ...LeftOut) DataMap {
	m.leftOut = slices.Concat(m.leftOut, tables)
	return m
}

// LeftOut returns the tables of WithLeftOut.
func (m DataMap) LeftOut() []LeftOut { return m.leftOut }

// WithReviewed returns the data map with the names of the tables that the database had when the draft of the data map
// was made. A check of the data map reports newer tables that may hold personal data. Without names, it reports none.
func (m DataMap) WithReviewed(tables ...string) DataMap {
	m.reviewed = slices.Concat(m.reviewed, tables)
	return m
}

// Reviewed returns the names of WithReviewed.
func (m DataMap) Reviewed() []string { return m.reviewed }
