package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain/datamap"
)

// asksAbout reports whether the questions about a table outside the data map are about a column of it. They are if they
// name the column, or no column at all.
func asksAbout(left datamap.LeftOut, table datamap.CatalogTable, column string) bool {
	var named []string
	for _, q := range questionsIn(left.Note) {
		for _, c := range table.Columns {
			if q.names(c.Name) {
				named = append(named, c.Name)
			}
		}
	}
	return len(named) == 0 || slices.Contains(named, column)
}

// asksAboutDocument reports whether a draft asks about a document of a table outside the data map, and whether the
// question is open. The question is in the note of the subject's table, or in that of the table.
func (s *schema) asksAboutDocument(at place) (asked, open bool) {
	left, _ := s.leftOut(at.table)
	for _, q := range questionsIn(left.Note) {
		if q.names(at.column) {
			return true, !q.decided
		}
	}
	for _, q := range questionsIn(s.SubjectTable().Note) {
		if q.names(at.table + "." + at.column) {
			return true, !q.decided
		}
	}
	return false, false
}

// asksAboutColumn reports whether a note of the table has a question about a column, and whether such a question is
// open. The note of another column may have the question, and so may the note of the subject's table: see
// question.columns.
func (s *schema) asksAboutColumn(table datamap.Table, column datamap.Column) (asked, open bool) {
	for _, other := range table.Columns {
		for _, q := range questionsIn(other.Note) {
			if other.Name == column.Name || slices.Contains(q.columns, column.Name) {
				asked, open = true, open || !q.decided
			}
		}
	}
	for _, q := range questionsIn(s.SubjectTable().Note) {
		if slices.Contains(q.columns, table.Name+"."+column.Name) {
			asked, open = true, open || !q.decided
		}
	}
	return asked, open
}

// question is a question in a note, with its options and its answer.
type question struct {
	decided bool
	columns []string // the columns that the question is about, if these are several
	options []string // the answers to choose from
	words   []string // the names in it, which may have a point, such as the name of a column after that of its table
}

// names reports whether the question names a column.
func (q question) names(name string) bool { return slices.Contains(q.words, name) }

var markers = regexp.MustCompile(datamap.Decided + "|" + datamap.Decide)

// questionsIn returns the questions in a note.
func questionsIn(note string) (all []question) {
	at := markers.FindAllStringIndex(note, -1)
	for i, marker := range at {
		end := len(note)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		text := note[marker[1]:end]
		q := question{decided: note[marker[0]:marker[1]] == datamap.Decided, words: wordsOf(text)}
		q.columns, q.options = columnsIn(text), optionsIn(text)
		all = append(all, q)
	}
	return all
}

// optionsIn returns the options of a question such as ... (user_id | owner_id; chosen: user_id).
func optionsIn(text string) []string {
	before, _, ok := strings.Cut(text, "; chosen: ")
	if !ok {
		return nil
	}
	return strings.Split(before[strings.LastIndexByte(before, '(')+1:], " | ")
}

// columnsIn returns the names at the begin of a question, such as Columns a, b: .
func columnsIn(text string) []string {
	rest, ok := strings.CutPrefix(text, "Columns ")
	list, _, ends := strings.Cut(rest, ": ")
	if !ok || !ends {
		return nil
	}
	return strings.Split(list, ", ")
}

// wordsOf returns the words of a question. It leaves out the table to which relations lead, because a column may have
// the same name.
func wordsOf(text string) (words []string) {
	fields := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.'
	})
	for i, word := range fields {
		if i < 2 || fields[i-1] != "to" || !strings.HasPrefix(fields[i-2], "lead") {
			words = append(words, strings.Trim(word, "."))
		}
	}
	return words
}
