package datamap_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// faultyTables returns tables with two mistakes each. The first table is not the subject's table.
func faultyTables() []datamap.Table {
	orders, subject, notes := child("orders", "users"), users(), child("notes")
	orders.Columns = append(orders.Columns,
		datamap.Column{Name: "total", Type: "money", Personal: &datamap.Annotation{Category: "cash", Strategy: "shred"}})
	subject.Columns[1].Personal.Basis = "because"
	subject.Columns = append(subject.Columns, datamap.Column{Name: "age", Type: datamap.TypeInteger, Length: -1})
	notes.PrimaryKey = nil
	return []datamap.Table{orders, subject, notes}
}

func TestAllMistakesAreReportedInTheOrderOfTheTables(t *testing.T) {
	_, err := datamap.NewDataMap(faultyTables()...)
	wantCode(t, err, domain.ErrManifest)
	var got []string
	for _, problem := range domain.Problems(err) {
		got = append(got, problem.Where()+" "+problem.Found)
		if len(problem.Possible) == 0 && problem.Remedy == "" {
			t.Errorf("%s: no possible value and no remedy", problem)
		}
		if !strings.Contains(err.Error(), "\n"+problem.String()) {
			t.Errorf("%q has no line for %s", err, problem)
		}
	}
	want := []string{
		"orders.total money", "orders.total cash", "orders.total shred",
		"users.email because", "users.age -1", "notes ", "notes ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAProblemListsThePossibleWords(t *testing.T) {
	for column, want := range map[*datamap.Annotation]string{
		{Category: "cash"}: `orders.total: has no known category; found "cash"; possible: contact, identity, financial, ` +
			"behavioral, technical, location, communication, special",
		{Category: "financial", Strategy: "retain", Reason: "x", Retain: datamap.Period{Years: 1}, Since: "paid_at"}: "" +
			`orders.total: counts its retention period from a column that the table does not have; found "paid_at"; ` +
			"possible: issued_at",
	} {
		_, err := datamap.NewDataMap(annotatedTables(*column)...)
		if err == nil || err.Error() != "habeas: data map: "+want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestAnAmbiguousPathIsReportedWithThePossiblePaths(t *testing.T) {
	messages := child("messages", "users")
	messages.Columns = append(messages.Columns, column("sender", datamap.TypeBigInt))
	messages.Relations = append(messages.Relations, belongsTo("users", "sender"))
	_, err := datamap.NewDataMap(users(), messages, child("parts", "messages"))
	problems := domain.Problems(err)
	if len(problems) != 1 || problems[0].Table != "messages" || problems[0].Remedy == "" ||
		!slices.Equal(problems[0].Possible, []string{"users_id -> users", "sender -> users"}) {
		t.Errorf("got %+v", problems)
	}
}

func TestEveryCycleIsReportedOnce(t *testing.T) {
	_, err := datamap.NewDataMap(users(),
		child("a", "b"), child("b", "a"), child("x", "y"), child("y", "z"), child("z", "x"), child("below", "a"))
	var got []string
	for _, problem := range domain.Problems(err) {
		got = append(got, problem.Table+": "+problem.Found)
	}
	if want := []string{"a: a, b", "x: x, y, z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAMistakeOfAReaderIsReportedInTheOrderOfTheTables(t *testing.T) {
	tables := faultyTables()
	found := []domain.Problem{
		{Table: "notes", Column: "Owner", Message: "is a relation"}, {Table: "users", Column: "id", Message: "is odd"},
	}
	_, err := datamap.ReadDataMap("models", tables, found)
	var got []string
	for _, problem := range domain.Problems(err) {
		got = append(got, problem.Where())
	}
	want := []string{
		"orders.total", "orders.total", "orders.total", "users.id", "users.email", "users.age", "notes", "notes.Owner",
	}
	if !slices.Equal(got, want) { // without the missing path of notes, which its wrong relation causes
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestConsequencesOfAnUnreadableTableAreNotReported(t *testing.T) {
	found := []domain.Problem{{Table: "users", Message: "cannot be read"}}
	_, err := datamap.ReadDataMap("models", []datamap.Table{{Name: "users"}, child("orders", "users")}, found)
	if problems := domain.Problems(err); len(problems) != 1 || problems[0].Message != "cannot be read" {
		t.Errorf("got %+v", problems)
	}
}

func TestTheCodeIsErrRetentionOnlyIfAllProblemsHaveIt(t *testing.T) {
	duty := domain.Problem{Code: domain.ErrRetention, Table: "a", Message: "is kept"}
	other := domain.Problem{Table: "b", Message: "is wrong"}
	if err := domain.ManifestError("plan", []domain.Problem{duty, duty}); !errors.Is(err, domain.ErrRetention) {
		t.Errorf("got %v", err)
	}
	err := domain.ManifestError("plan", []domain.Problem{duty, other})
	if !errors.Is(err, domain.ErrManifest) || err.Error() != "habeas: plan: 2 mistakes:\na: is kept\nb: is wrong" {
		t.Errorf("got %v", err)
	}
	if domain.ManifestError("plan", nil) != nil {
		t.Error("got an error for no problem")
	}
}

func TestTheTablesAreKnownInTheOrderOfDeclaration(t *testing.T) {
	m := mustMap(t, child("zebras", "users"), child("apples", "users"), users(), child("maps", "zebras"))
	if got := names(m.Declared()); !slices.Equal(got, []string{"zebras", "apples", "users", "maps"}) {
		t.Errorf("got %v", got)
	}
}
