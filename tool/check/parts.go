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
			slices.ContainsFunc(s.Accepted(), func(a datamap.Acceptance) bool { return matchesFinding(a, f) }) {
			return false
		}
		taken = append(taken, f)
		return true
	})
	return taken
}

// reportOutside reports a table outside the data map that refers to it. The finding is a part of a notice if the table
// refers only to the people who created or changed its rows, and a draft asks no question about it.
func (s *schema) reportOutside(code string, table datamap.CatalogTable, at place, reason, remedy string) {
	if _, asked := s.leftOut(table.Name); !asked && s.refersToMakersOnly(table) {
		s.reportMaker(code, at, reason, remedy)
		return
	}
	s.reportAsked(code, table, at, reason, remedy)
}

// reportAsked reports a table outside the data map that may belong to people. The finding is a part of questions-open
// if a draft asks about the table. If a person has answered the question, there is no finding.
func (s *schema) reportAsked(code string, table datamap.CatalogTable, at place, reason, remedy string) {
	left, asked := s.leftOut(table.Name)
	if left.Decided {
		return
	}
	s.report(code, at, reason, remedy)
	if asked {
		s.parts[part{code, at}] = questionsOpen
	}
}

// leftOut returns the question of a draft about a table that it left out.
func (s *schema) leftOut(table string) (left datamap.LeftOut, asked bool) {
	if i := slices.IndexFunc(s.left, func(t datamap.LeftOut) bool { return t.Table == table }); i >= 0 {
		return s.left[i], true
	}
	return datamap.LeftOut{}, false
}

// reportColumn is report for a finding about a column of the data map. The finding is a part of questions-open if the
// note of the column has a question. If a person has answered the question, there is no finding.
func (s *schema) reportColumn(column datamap.Column, code string, at place, reason, remedy string) {
	table, _ := s.Table(at.table)
	isAsked, isOpen := s.asksAboutColumn(table, column)
	if isAsked && !isOpen {
		return
	}
	s.report(code, at, reason, remedy)
	if isOpen {
		s.parts[part{code, at}] = questionsOpen
	}
}

// foldQuestions reports all open questions of a draft in one warning. The warning replaces the findings about which the
// draft already asks a person.
func (s *schema) foldQuestions() {
	parts := s.takeParts(questionsOpen)
	var text string
	if tables := s.askedTables(parts); len(tables) > 0 {
		text = "Nobody has answered the questions of the draft about " + tablesOutside(len(tables)) +
			" that may belong to people: " + placesOf(tables, tableWithColumns) + ". Exports and erasures ignore them. "
	}
	unannotated := slices.DeleteFunc(slices.Clone(parts), func(f datamap.Finding) bool {
		return f.Code != personalUnannotated
	})
	if len(unannotated) > 0 {
		text += "Nobody has answered the questions about columns that may hold personal data: " +
			placesOf(unannotated, wherePlaced) + ". Exports and erasures ignore them. "
	}
	if others := s.otherQuestions(unannotated); len(others) > 0 {
		text += "Nobody has answered the questions about rows and columns of the data map: " +
			placesOf(others, wherePlaced) + ". "
	}
	if text != "" {
		s.report(questionsOpen, place{table: s.SubjectTable().Name}, strings.TrimSpace(text),
			"The questions begin with DECIDE in the notes of the manifest. To take in a table, run habeas scaffold with "+
				"--update and --include. Correct the data map if the answer requires it, and write DECIDED instead of DECIDE.")
	}
}

// askedTables returns the tables that a draft left out with an open question, each with its part of questions-open. It
// leaves out a table without such a part, but with a finding of its own.
func (s *schema) askedTables(parts []datamap.Finding) (tables []datamap.Finding) {
	for _, left := range s.left {
		live, exists := s.catalog.Table(left.Table)
		isTable := func(f datamap.Finding) bool { return f.Table == live.Name }
		i := slices.IndexFunc(parts, isTable)
		switch {
		case left.Decided, !exists, i < 0 && slices.ContainsFunc(s.findings, isTable):
			continue
		case i >= 0:
			tables = append(tables, parts[i])
		default:
			tables = append(tables, datamap.Finding{Table: live.Name})
		}
		s.asked[live.Name] = true
	}
	return tables
}

// otherQuestions returns the places of the data map whose notes have an open question, without the given ones. It
// leaves out a column about which a person has accepted the finding.
func (s *schema) otherQuestions(known []datamap.Finding) (others []datamap.Finding) {
	add := func(table, column, note string) {
		isColumn := func(f datamap.Finding) bool {
			isReference := f.Code == pathMissing && s.parts[part{f.Code, place{f.Table, f.Column, f.Object}}] == questionsOpen
			return (f.Code == personalUnannotated || isReference) && f.Table == table && f.Column == column
		}
		if strings.Contains(note, datamap.Decide) && !slices.ContainsFunc(known, isColumn) &&
			!slices.ContainsFunc(s.findings, isColumn) {
			others = append(others, datamap.Finding{Table: table, Column: column})
		}
	}
	for _, table := range s.Declared() {
		add(table.Name, "", table.Note)
		for _, column := range table.Columns {
			add(table.Name, column.Name, column.Note)
		}
	}
	return others
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
