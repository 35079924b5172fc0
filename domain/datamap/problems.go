package datamap

import (
	"cmp"
	"errors"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// ManifestError returns the same error as the function domain.ManifestError, except for the order of the problems. They
// are in the order of the tables and columns of the data map.
func (m DataMap) ManifestError(op string, problems []domain.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return m.refuse(op, m.Declared(), problems)
}

// refuse returns an error that lists the problems in the order of the tables. Its cause is an *invalidError.
func (m DataMap) refuse(op string, tables []Table, problems []domain.Problem) error {
	problems = slices.Clone(problems)
	sortProblems(tables, problems)
	err := domain.ManifestError(op, problems)
	var refused *domain.Error
	if errors.As(err, &refused) {
		refused.Err = &invalidError{m}
	}
	return err
}

// invalidError is the cause of an error that lists the problems of a data map. It has the data map.
type invalidError struct{ m DataMap }

// Error implements error.
func (*invalidError) Error() string { return "the data map has mistakes" }

// AddProblems returns err with the problems that find returns. It calls find with the invalid data map that err, an
// error of NewDataMap, ReadDataMap or DataMap.ManifestError, describes. All problems are in the order of the tables and
// columns of the data map. AddProblems returns err unchanged if err has no such data map, if the data map has no
// subject's table, or if its relations form a cycle.
func AddProblems(err error, find func(DataMap) []domain.Problem) error {
	var refused *domain.Error
	var invalid *invalidError
	if !errors.As(err, &refused) || !errors.As(err, &invalid) {
		return err
	}
	m := invalid.m
	if len(m.tables) == 0 || len(m.tables[0].SubjectKey) == 0 || len(m.cycles()) > 0 {
		return err
	}
	further := find(m)
	if len(further) == 0 {
		return err
	}
	return m.refuse(refused.Op, m.Declared(), slices.Concat(refused.Problems, further))
}

// sortProblems sorts problems by table and column. Problems without a table come first. For each table, the problems
// without a column come first, then the problems of its columns, then the problems of other fields, such as relations.
func sortProblems(tables []Table, problems []domain.Problem) {
	place := func(p domain.Problem) (table, column int) {
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
	slices.SortStableFunc(problems, func(a, b domain.Problem) int {
		tableA, columnA := place(a)
		tableB, columnB := place(b)
		return cmp.Or(cmp.Compare(tableA, tableB), cmp.Compare(columnA, columnB))
	})
}

func texts[W ~string](list []W) []string {
	result := make([]string, len(list))
	for i, word := range list {
		result[i] = string(word)
	}
	return result
}

// draft is a data map under construction, with the problems that the checks have found so far.
type draft struct {
	DataMap
	problems []domain.Problem
	// incomplete is true if a reader could not read every table. A problem that may be a consequence of a missing table is
	// then not reported.
	incomplete bool
}

func (d *draft) report(problems ...domain.Problem) { d.problems = append(d.problems, problems...) }

// reporter returns a function that reports problems of a column, or of another field of the table.
func (d *draft) reporter(table Table, field string) func(domain.Problem) {
	return func(p domain.Problem) {
		p.Table, p.Column = table.Name, field
		d.report(p)
	}
}
