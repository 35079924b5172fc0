package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// part is a finding that Run does not list on its own, but reports in one finding with others of its kind.
type part struct {
	code string
	at   place
}

// takeParts removes the parts of the finding with the given code from the findings, and returns them. A part that an
// acceptance names stays a finding on its own, so that it can be accepted apart from the others, and comes back after
// the end of the acceptance.
func (s *schema) takeParts(of string) (taken []datamap.Finding) {
	s.findings = slices.DeleteFunc(s.findings, func(f datamap.Finding) bool {
		if s.parts[part{f.Code, place{f.Table, f.Column, f.Object}}] != of ||
			slices.ContainsFunc(s.Accepted(), func(a datamap.Acceptance) bool { return a.Matches(f) }) {
			return false
		}
		taken = append(taken, f)
		return true
	})
	return taken
}

// reportOutside reports a table outside the data map that refers to it. The finding is a part of a notice if the table
// refers only to the people who created or changed its rows.
func (s *schema) reportOutside(code string, table datamap.CatalogTable, at place, reason, remedy string) {
	if s.refersToMakersOnly(table) {
		s.reportMaker(code, at, reason, remedy)
		return
	}
	s.reportAsked(code, table, at, reason, remedy)
}

// reportAsked reports a table outside the data map that may belong to people. The finding is a part of questions-open
// if a draft asks about the table. If a person has answered the question, there is no finding.
func (s *schema) reportAsked(code string, table datamap.CatalogTable, at place, reason, remedy string) {
	i := slices.IndexFunc(s.LeftOut(), func(t datamap.LeftOut) bool { return t.Table == table.Name })
	if i >= 0 && s.LeftOut()[i].Decided {
		return
	}
	s.report(code, at, reason, remedy)
	if i >= 0 {
		s.parts[part{code, at}] = questionsOpen
	}
}

// reportColumn is report for a finding about a column of the data map. The finding is a part of questions-open if the
// note of the column has a question.
func (s *schema) reportColumn(column datamap.Column, code string, at place, reason, remedy string) {
	s.report(code, at, reason, remedy)
	if strings.Contains(column.Note, datamap.Decide) {
		s.parts[part{code, at}] = questionsOpen
	}
}

// foldQuestions replaces the findings about which a draft already asks a person by one warning.
func (s *schema) foldQuestions() {
	var tables, columns []datamap.Finding
	for _, f := range s.takeParts(questionsOpen) {
		if f.Code == personalUnannotated {
			columns = append(columns, f)
		} else {
			tables = append(tables, f)
			s.asked[f.Table] = true
		}
	}
	text := ""
	if len(tables) > 0 {
		text = "Nobody has answered the questions of the draft about " + tablesOutside(len(tables)) +
			" that may belong to people: " + placesOf(tables, tableWithColumns) + ". "
	}
	if len(columns) > 0 {
		text += "Nobody has answered the questions about columns that may hold personal data: " +
			placesOf(columns, datamap.Finding.Where) + ". "
	}
	if text != "" {
		s.report(questionsOpen, place{table: s.SubjectTable().Name}, text+"Exports and erasures ignore them.",
			"The questions begin with DECIDE in the notes of the manifest. To take in a table, run habeas scaffold with "+
				"--update and --include. If a table stays out, write DECIDED instead of DECIDE. Annotate a column, or declare "+
				"that it holds no personal data.")
	}
}

// tableWithColumns returns a table and the columns of a finding, such as users (email, phone).
func tableWithColumns(f datamap.Finding) string {
	if f.Column == "" {
		return f.Table
	}
	return f.Table + " (" + f.Column + ")"
}

func tablesOutside(n int) string {
	if n == 1 {
		return "1 table outside of the data map"
	}
	return strconv.Itoa(n) + " tables outside of the data map"
}
