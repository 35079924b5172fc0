package domain

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Problem is one mistake in a data map. It contains names of tables and columns, and words of struct tags and
// manifests, but never a value of a row. It is safe to log.
type Problem struct {
	Code     Code     `json:"code"`               // ErrManifest or ErrRetention; empty means ErrManifest
	Table    string   `json:"table"`              // empty if the mistake is not in one table
	Column   string   `json:"column,omitempty"`   // the column, or the field of a model; may be empty
	Message  string   `json:"message"`            // the mistake
	Found    string   `json:"found,omitempty"`    // the wrong value
	Possible []string `json:"possible,omitempty"` // the valid values
	Remedy   string   `json:"remedy,omitempty"`   // the change that fixes it
}

// Where returns the table, or the table and the column, that has the problem.
func (p Problem) Where() string {
	if p.Column == "" {
		return p.Table
	}
	return p.Table + "." + p.Column
}

// String returns the problem in one line. The line starts with the result of Where.
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

// ManifestError returns an error that lists the problems of a data map, or nil if problems is empty. The code is
// ErrRetention if every problem has this code, otherwise ErrManifest. If there are several problems, the message has
// one line for each problem.
func ManifestError(op string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return refusal(op, problems)
}

// ManifestError returns the same error as the package function ManifestError, except for the order of the problems.
// They are in the order of the tables and columns of the data map.
func (m DataMap) ManifestError(op string, problems []Problem) error {
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

// Problems returns the problems that err lists, in the same order. It returns nil if err lists no problems.
func Problems(err error) []Problem {
	var refused *Error
	if !errors.As(err, &refused) {
		return nil
	}
	return refused.Problems
}

// sortProblems sorts problems by table and column. Problems without a table come first. For each table, the problems
// without a column come first, then the problems of its columns, then the problems of other fields, such as relations.
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

func texts[W ~string](list []W) []string {
	texts := make([]string, len(list))
	for i, word := range list {
		texts[i] = string(word)
	}
	return texts
}

// draft is a data map under construction, with the problems that the checks have found so far.
type draft struct {
	DataMap
	problems []Problem
	// incomplete is true if a reader could not read every table. A problem that may be a consequence of a missing table is
	// then not reported.
	incomplete bool
}

func (d *draft) report(problems ...Problem) { d.problems = append(d.problems, problems...) }
