package rectification_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/rectification"
)

// personal returns a column with data of the category.
func personal(name string, columnType datamap.ColumnType, category domain.Category) datamap.Column {
	return datamap.Column{Name: name, Type: columnType, Personal: &datamap.Annotation{Category: category}}
}

// holding returns a data map whose subject's table has a key and these columns.
func holding(tb testing.TB, columns ...datamap.Column) datamap.DataMap {
	tb.Helper()
	return mustMap(tb, datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: append([]datamap.Column{column("id", datamap.TypeBigInt)}, columns...),
	})
}

// wantFaults fails the test unless err is ErrInvalid with exactly the expected field errors. An expected field error
// has the form "field code".
func wantFaults(tb testing.TB, err error, want ...string) {
	tb.Helper()
	wantCode(tb, err, domain.ErrInvalid)
	var invalid *domain.Error
	errors.As(err, &invalid)
	var got []string
	for _, fault := range invalid.Fields {
		got = append(got, fault.Field+" "+fault.Code)
		if fault.Message == "" {
			tb.Errorf("%s: no message", fault.Field)
		}
	}
	if !reflect.DeepEqual(got, want) {
		tb.Errorf("got %q, want %q", got, want)
	}
}

func TestACorrectionGoesToEveryColumnOfItsCategoryInOrder(t *testing.T) {
	retained := datamap.Column{Name: "recipient", Type: datamap.TypeText, Personal: &datamap.Annotation{
		Category: domain.CategoryContact, Strategy: domain.StrategyRetain, Reason: "§147 AO",
	}}
	invoices, orders := child("invoices", "users"), child("orders", "users")
	invoices.Columns = append(invoices.Columns, personal("vat", datamap.TypeInteger, domain.CategoryFinancial), retained)
	orders.Columns = append(orders.Columns, personal("note", datamap.TypeText, domain.CategoryCommunication))
	dataMap := mustMap(t, orders, invoices, users()) // the plan orders the subject's table first

	given := domain.Corrections{domain.CategoryContact: "zoe@example.org", domain.CategoryFinancial: 7}
	plan, err := planner.Plan(dataMap, given.List(true), false)
	if err != nil {
		t.Fatal(err)
	}
	want := []domain.RectificationStep{
		{Table: "users", Values: []domain.ColumnValue{{Column: "email", Value: "zoe@example.org"}}},
		{Table: "invoices", Values: []domain.ColumnValue{
			{Column: "vat", Value: int64(7)}, {Column: "recipient", Value: "zoe@example.org"},
		}},
	}
	if !reflect.DeepEqual(plan.Steps, want) {
		t.Errorf("got %+v, want %+v", plan.Steps, want)
	}
	if got := plan.Categories(); !reflect.DeepEqual(got, []domain.Category{"contact", "financial"}) {
		t.Errorf("categories %v", got)
	}
	sent := domain.Corrections{domain.CategoryContact: "zoe@example.org", domain.CategoryFinancial: int64(7)}
	if !reflect.DeepEqual(plan.Corrections, sent) {
		t.Errorf("got %v to send, want %v", plan.Corrections, sent)
	}
	if len(given) != 2 || given[domain.CategoryFinancial] != 7 {
		t.Errorf("the caller's corrections were changed: %v", given)
	}
}

func TestAnEmptyListOfCorrectionsIsRefused(t *testing.T) {
	for _, none := range []domain.Corrections{nil, {}} {
		_, err := planner.Plan(mustMap(t, users()), none.List(true), true)
		wantFaults(t, err, "corrections required")
	}
}

func TestEveryInvalidCategoryIsNamedOnceAndInOrder(t *testing.T) {
	dataMap := holding(t,
		personal("name", datamap.TypeText, domain.CategoryIdentity),
		personal("born", datamap.TypeTime, domain.CategoryIdentity),
		personal("alias", datamap.TypeText, domain.CategoryIdentity),
		personal("vegan", datamap.TypeBoolean, domain.CategorySpecial),
		personal("email", datamap.TypeText, domain.CategoryContact))
	plan, err := planner.Plan(dataMap, domain.Corrections{
		domain.CategoryIdentity: "secret", domain.CategorySpecial: "secret", domain.CategoryContact: "zoe@example.org",
		domain.CategoryTechnical: nil, domain.CategoryLocation: "secret", "hobbies": "secret", "secret: jane@example.org": 1,
		domain.Category(strings.Repeat("x", 33)): 1,
	}.List(true), false)
	wantFaults(t, err,
		"hobbies unknown", "identity type", "location unknown", "corrections unknown", "special type", "technical required",
		"corrections unknown")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error holds what was given: %v", err)
	}
	if !reflect.DeepEqual(plan, rectification.Plan{}) {
		t.Errorf("there is a plan all the same: %+v", plan)
	}
}

func TestACategoryWithoutAColumnIsForExternalSystemsOnly(t *testing.T) {
	corrections := domain.Corrections{domain.CategoryLocation: "Berlin"}
	_, err := planner.Plan(mustMap(t, users()), corrections.List(true), false)
	wantFaults(t, err, "location unknown")
	plan, err := planner.Plan(mustMap(t, users()), corrections.List(true), true)
	if err != nil || len(plan.Steps) > 0 || !reflect.DeepEqual(plan.Corrections, corrections) {
		t.Errorf("got %+v, %v", plan, err)
	}
	for name, value := range map[string]any{"a channel": make(chan int), "a map": map[string]any{}, "bad text": "\xff"} {
		corrections := domain.Corrections{domain.CategoryLocation: value}.List(true)
		if _, err := planner.Plan(mustMap(t, users()), corrections, true); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// If a person could correct a key, the person could take over the rows of another person.
func TestColumnsThatIdentifyOrLinkRowsAreNotCorrected(t *testing.T) {
	contactKey := func(name string) datamap.Column { return personal(name, datamap.TypeText, domain.CategoryContact) }
	emailRelation := datamap.Relation{
		Columns: []string{"email"}, References: "users",
		ReferencedColumns: []string{"email"},
	}
	for name, tables := range map[string][]datamap.Table{
		"a primary key": {{
			Name: "users", PrimaryKey: []string{"email"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{column("id", datamap.TypeBigInt), contactKey("email")},
		}},
		"a subject key": {{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"email"},
			Columns: []datamap.Column{column("id", datamap.TypeBigInt), contactKey("email")},
		}},
		"a relation": {
			{
				Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
				Columns: []datamap.Column{column("id", datamap.TypeBigInt), column("email", datamap.TypeText)},
			},
			{
				Name: "letters", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{emailRelation},
				Columns: []datamap.Column{column("id", datamap.TypeBigInt), contactKey("email")},
			},
		},
		"what a relation refers to": {
			users(),
			{
				Name: "letters", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{emailRelation},
				Columns: []datamap.Column{column("id", datamap.TypeBigInt), column("email", datamap.TypeText)},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			corrections := domain.Corrections{domain.CategoryContact: "zoe@example.org"}.List(true)
			_, err := planner.Plan(mustMap(t, tables...), corrections, true)
			wantFaults(t, err, "contact unknown")
		})
	}
}

func TestAKeyOfAnotherTableWithTheSameNameDoesNotMatter(t *testing.T) {
	people := datamap.Table{
		Name: "people", PrimaryKey: []string{"number"}, SubjectKey: []string{"number"},
		Columns: []datamap.Column{column("number", datamap.TypeText), contact("email", domain.StrategyAnonymize)},
	}
	letters := datamap.Table{
		Name: "letters", PrimaryKey: []string{"id"},
		Relations: []datamap.Relation{
			{Columns: []string{"email"}, References: "people", ReferencedColumns: []string{"number"}},
		},
		Columns: []datamap.Column{
			column("id", datamap.TypeBigInt), column("email", datamap.TypeText), contact("number", domain.StrategyAnonymize),
		},
	}
	corrections := domain.Corrections{domain.CategoryContact: "030 123456"}.List(true)
	plan, err := planner.Plan(mustMap(t, people, letters), corrections, false)
	value := func(name string) []domain.ColumnValue {
		return []domain.ColumnValue{{Column: name, Value: "030 123456"}}
	}
	want := []domain.RectificationStep{
		{Table: "people", Values: value("email")}, {Table: "letters", Values: value("number")},
	}
	if err != nil || !reflect.DeepEqual(plan.Steps, want) {
		t.Errorf("got %+v, %v", plan.Steps, err)
	}
}

func TestACorrectionOfACategorySkipsColumnsThatExportsDoNotShow(t *testing.T) {
	hash := personal("password_hash", datamap.TypeText, domain.CategoryTechnical)
	hash.Personal.Export = datamap.ExportNo
	dataMap := holding(t, hash, personal("locale", datamap.TypeText, domain.CategoryTechnical))
	for _, all := range []bool{false, true} {
		plan, err := planner.Plan(dataMap, domain.Corrections{domain.CategoryTechnical: "de"}.List(all), false)
		if err != nil {
			t.Fatal(err)
		}
		want := []domain.RectificationStep{{Table: "users", Values: []domain.ColumnValue{value("locale", "de")}}}
		if !reflect.DeepEqual(plan.Steps, want) {
			t.Errorf("all columns %v: got %v, want %v", all, plan.Steps, want)
		}
	}
	_, err := planner.Plan(holding(t, hash), domain.Corrections{domain.CategoryTechnical: "de"}.List(true), false)
	wantFaults(t, err, "technical unknown")
	named := []domain.Correction{{Table: "users", Column: "password_hash", Value: "x"}}
	if _, err := planner.Plan(dataMap, named, false); err != nil {
		t.Errorf("a correction that names the column: %v", err)
	}
}
