package rectification_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
)

var planner rectification.Planner

// mustMap builds the data map that a test is about.
func mustMap(tb testing.TB, tables ...domain.Table) domain.DataMap {
	tb.Helper()
	m, err := domain.NewDataMap(tables...)
	if err != nil {
		tb.Fatalf("NewDataMap: %v", err)
	}
	return m
}

// wantCode fails unless err has the code, by errors.Is and by errors.As.
func wantCode(tb testing.TB, err error, code domain.Code) {
	tb.Helper()
	var coded *domain.Error
	if !errors.Is(err, code) || !errors.As(err, &coded) || coded.Code != code {
		tb.Fatalf("got %v, want an error of the code %q", err, code)
	}
}

// wantJSON fails unless value encodes to the golden text, member by member in that order.
func wantJSON(tb testing.TB, value any, golden string) {
	tb.Helper()
	got, err := json.Marshal(value)
	if err != nil {
		tb.Fatalf("json.Marshal: %v", err)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(golden)); err != nil {
		tb.Fatalf("the golden text is no JSON: %v", err)
	}
	if string(got) != want.String() {
		tb.Errorf("\n got %s\nwant %s", got, want.String())
	}
}

// column is one without personal data.
func column(name string, columnType domain.ColumnType) domain.Column {
	return domain.Column{Name: name, Type: columnType}
}

// contact is a text column with contact data.
func contact(name string, strategy domain.Strategy) domain.Column {
	return domain.Column{Name: name, Type: domain.TypeText, Personal: &domain.Annotation{
		Category: domain.CategoryContact, Strategy: strategy,
	}}
}

// users is a subject's table with an integer key.
func users() domain.Table {
	return domain.Table{
		Name:       "users",
		PrimaryKey: []string{"id"},
		SubjectKey: []string{"id"},
		Columns:    []domain.Column{column("id", domain.TypeBigInt), contact("email", domain.StrategyAnonymize)},
	}
}

// child is a table that refers to the id of each parent by a column named after it.
func child(name string, parents ...string) domain.Table {
	table := domain.Table{
		Name:       name,
		PrimaryKey: []string{"id"},
		Columns:    []domain.Column{column("id", domain.TypeBigInt)},
	}
	for _, parent := range parents {
		table.Columns = append(table.Columns, column(parent+"_id", domain.TypeBigInt))
		table.Relations = append(table.Relations, belongsTo(parent, parent+"_id"))
	}
	return table
}

// belongsTo is a relation to the id of the parent.
func belongsTo(parent, foreignKey string) domain.Relation {
	return domain.Relation{Columns: []string{foreignKey}, References: parent, ReferencedColumns: []string{"id"}}
}
