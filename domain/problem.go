package domain

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Problem is one mistake in a data map. It names tables, columns and the words of struct tags and manifests, never a
// value of a row, and is safe to log.
type Problem struct {
	Code     Code     `json:"code"`               // ErrManifest or ErrRetention; empty means ErrManifest
	Table    string   `json:"table"`              // empty for a mistake of the data map as a whole
	Column   string   `json:"column,omitempty"`   // the column, or the field of a model; empty for the table as a whole
	Message  string   `json:"message"`            // the mistake
	Found    string   `json:"found,omitempty"`    // the word at fault, as it was found
	Possible []string `json:"possible,omitempty"` // the words that may stand there
	Remedy   string   `json:"remedy,omitempty"`   // the change that puts it right
}

// Where names the place: the table, or the table and the column.
func (p Problem) Where() string {
	if p.Column == "" {
		return p.Table
	}
	return p.Table + "." + p.Column
}

// String is the problem in one line that starts with the place.
func (p Problem) String() string {
	text := p.Message
	if where := p.Where(); where != "" {
		text = where + ": " + text
	}
	if p.Found != "" {
		text += "; found " + strconv.Quote(p.Found)
	}
	if len(p.Possible) > 0 {
		text += "; possible: " + strings.Join(p.Possible, ", ")
	}
	if p.Remedy != "" {
		text += "; " + p.Remedy
	}
	return text
}

// Refused returns the error for the problems of a data map, or nil if there are none. Its code is ErrRetention if this
// is the code of every problem, else ErrManifest. Its message has one line for each of several problems.
func Refused(op string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return refusal(op, problems)
}

// Refused returns the error for the problems of the data map, in the order of its tables and columns, or nil if there
// are none.
func (m DataMap) Refused(op string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	problems = slices.Clone(problems)
	sortProblems(m.Declared(), problems)
	refused := refusal(op, problems)
	refused.draft = &m
	return refused
}

func refusal(op string, problems []Problem) *Error {
	problems = slices.Clone(problems)
	refused := &Error{Code: ErrRetention, Op: op, Problems: problems}
	lines := make([]string, len(problems))
	for i := range problems {
		problems[i].Code = cmp.Or(problems[i].Code, ErrManifest)
		if problems[i].Code != ErrRetention {
			refused.Code = ErrManifest
		}
		lines[i] = problems[i].String()
	}
	refused.Message = lines[0]
	if len(lines) > 1 {
		refused.Message = strconv.Itoa(len(lines)) + " mistakes:\n" + strings.Join(lines, "\n")
	}
	return refused
}

// Problems returns the problems that an error lists, in their order; none for an error of another kind.
func Problems(err error) []Problem {
	var refused *Error
	if !errors.As(err, &refused) {
		return nil
	}
	return refused.Problems
}

// sortProblems orders problems as the tables and their columns are ordered: first those of the data map as a whole, and
// for each table those of the table, of its columns, and of other fields.
func sortProblems(tables []Table, problems []Problem) {
	place := func(p Problem) (table, column int) {
		if p.Table == "" {
			return -1, -1
		}
		table = slices.IndexFunc(tables, func(t Table) bool { return t.Name == p.Table })
		if table < 0 {
			return len(tables), 0
		}
		if p.Column == "" {
			return table, -1
		}
		columns := tables[table].Columns
		column = slices.IndexFunc(columns, func(c Column) bool { return c.Name == p.Column })
		if column < 0 {
			column = len(columns)
		}
		return table, column
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		tableA, columnA := place(a)
		tableB, columnB := place(b)
		return cmp.Or(cmp.Compare(tableA, tableB), cmp.Compare(columnA, columnB))
	})
}

// words are the texts of some words of the vocabulary.
func words[W ~string](list []W) []string {
	texts := make([]string, len(list))
	for i, word := range list {
		texts[i] = string(word)
	}
	return texts
}

// draft is a data map on its way, with the problems found so far.
type draft struct {
	DataMap
	problems []Problem
	// incomplete says that a reader could not read every table: faults that may follow from a missing table are left out.
	incomplete bool
}

func (d *draft) report(problems ...Problem) { d.problems = append(d.problems, problems...) }
