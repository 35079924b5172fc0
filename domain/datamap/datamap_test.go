package datamap_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// annotatedTables returns the subject's table, and a table whose column "total" has the given annotation.
func annotatedTables(annotation datamap.Annotation) []datamap.Table {
	orders := child("orders", "users")
	orders.Columns = append(orders.Columns,
		datamap.Column{Name: "total", Type: datamap.TypeNumber, Personal: &annotation},
		column("issued_at", datamap.TypeTime), column("note", datamap.TypeText), column("untyped", ""))
	return []datamap.Table{users(), orders}
}

func TestGoodAnnotationsAreTaken(t *testing.T) {
	const financial = domain.CategoryFinancial
	for name, annotation := range map[string]datamap.Annotation{
		"a category alone": {Category: financial},
		"everything": {
			Category: financial, Strategy: domain.StrategyRetain, Basis: domain.BasisLegalObligation,
			Purpose: "bookkeeping", Reason: "§147 AO", Retain: datamap.Period{Years: 10}, Since: "issued_at",
		},
		"retained without end":    {Category: financial, Strategy: domain.StrategyRetain, Reason: "§147 AO"},
		"anonymized with purpose": {Category: financial, Strategy: domain.StrategyAnonymize, Purpose: "billing"},
	} {
		if _, err := datamap.NewDataMap(annotatedTables(annotation)...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadAnnotationsAreRefusedByName(t *testing.T) {
	const (
		financial = domain.CategoryFinancial
		retain    = domain.StrategyRetain
	)
	tenYears := datamap.Period{Years: 10}
	for name, annotation := range map[string]datamap.Annotation{
		"no category":             {},
		"an unknown category":     {Category: "money"},
		"an unknown strategy":     {Category: financial, Strategy: "shred"},
		"an unknown basis":        {Category: financial, Basis: "because"},
		"retain without a reason": {Category: financial, Strategy: retain},
		"a reason to erase":       {Category: financial, Reason: "§147 AO"},
		"a reason to anonymize":   {Category: financial, Strategy: domain.StrategyAnonymize, Reason: "§147 AO"},
		"a period to erase":       {Category: financial, Retain: tenYears, Since: "issued_at"},
		"since to anonymize":      {Category: financial, Strategy: domain.StrategyAnonymize, Since: "issued_at"},
		"a period without since":  {Category: financial, Strategy: retain, Reason: "§147 AO", Retain: tenYears},
		"since without a period":  {Category: financial, Strategy: retain, Reason: "§147 AO", Since: "issued_at"},
		"since nowhere":           {Category: financial, Strategy: retain, Reason: "x", Retain: tenYears, Since: "paid_at"},
		"since no time":           {Category: financial, Strategy: retain, Reason: "x", Retain: tenYears, Since: "note"},
		"since an unknown type":   {Category: financial, Strategy: retain, Reason: "x", Retain: tenYears, Since: "untyped"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := datamap.NewDataMap(annotatedTables(annotation)...)
			wantManifestError(t, err, "orders.total")
			if !m.IsZero() {
				t.Error("got a data map along with the error")
			}
		})
	}
}

func TestAColumnIsPersonalOrNot(t *testing.T) {
	tables := annotatedTables(datamap.Annotation{Category: domain.CategoryFinancial})
	for i, column := range tables[1].Columns {
		tables[1].Columns[i].NotPersonal = column.Personal != nil
	}
	_, err := datamap.NewDataMap(tables...)
	wantManifestError(t, err, "orders.total")
}

// wantManifestError fails the test if err is not an ErrManifest error about the given table or column, such as "orders"
// or "orders.id".
func wantManifestError(tb testing.TB, err error, tableOrColumn string) {
	tb.Helper()
	wantCode(tb, err, domain.ErrManifest)
	if !strings.HasPrefix(err.Error(), "habeas: data map: "+tableOrColumn+": ") {
		tb.Errorf("got %q, which does not begin with the name %s", err, tableOrColumn)
	}
}

func TestBadTablesAreRefusedByName(t *testing.T) {
	for name, c := range map[string]struct {
		where  string
		change func(subject, orders *datamap.Table)
	}{
		"a column declared twice": {"orders.id", func(_, orders *datamap.Table) {
			orders.Columns = append(orders.Columns, column("id", datamap.TypeText))
		}},
		"a column without a name": {"orders", func(_, orders *datamap.Table) {
			orders.Columns = append(orders.Columns, column("", datamap.TypeText))
		}},
		"personal data without a type": {"users.email", func(subject, _ *datamap.Table) { subject.Columns[1].Type = "" }},
		"a subject key without a type": {"users.id", func(subject, _ *datamap.Table) { subject.Columns[0].Type = "" }},
		"a column of an unknown type": {"orders.note", func(_, orders *datamap.Table) {
			orders.Columns = append(orders.Columns, column("note", "varchar"))
		}},
		"a negative length": {"orders.note", func(_, orders *datamap.Table) {
			orders.Columns = append(orders.Columns, datamap.Column{Name: "note", Type: datamap.TypeText, Length: -1})
		}},
		"no primary key": {"orders", func(_, orders *datamap.Table) { orders.PrimaryKey = nil }},
		"a primary key that is no column": {"orders.number", func(_, orders *datamap.Table) {
			orders.PrimaryKey = []string{"id", "number"}
		}},
		"a subject key that is no column": {"users.uid", func(subject, _ *datamap.Table) {
			subject.SubjectKey = []string{"uid"}
		}},
		"a subject key of a type without one text form": {"users.born", func(subject, _ *datamap.Table) {
			subject.Columns = append(subject.Columns, column("born", datamap.TypeTime))
			subject.SubjectKey = []string{"id", "born"}
		}},
		"two subject tables":   {"orders", func(_, orders *datamap.Table) { orders.SubjectKey = []string{"id"} }},
		"a table twice":        {"users", func(_, orders *datamap.Table) { orders.Name = "users" }},
		"an unreachable table": {"orders", func(_, orders *datamap.Table) { orders.Relations = nil }},
		"a table that only reaches outside the map": {"orders", func(_, orders *datamap.Table) {
			orders.Relations[0].References = "countries"
		}},
		"a table that only reaches itself": {"orders", func(_, orders *datamap.Table) {
			orders.Relations[0].References = "orders"
		}},
		"a relation without columns": {"orders", func(_, orders *datamap.Table) {
			orders.Relations[0].Columns, orders.Relations[0].ReferencedColumns = nil, nil
		}},
		"a relation without a column for each referenced column": {"orders", func(_, orders *datamap.Table) {
			orders.Relations[0].ReferencedColumns = []string{"id", "email"}
		}},
		"a relation from no column": {"orders.owner_id", func(_, orders *datamap.Table) {
			orders.Relations[0].Columns = []string{"owner_id"}
		}},
		"a relation to no column": {"users.uid", func(_, orders *datamap.Table) {
			orders.Relations[0].ReferencedColumns = []string{"uid"}
		}},
		"two unmarked ways": {"orders", func(_, orders *datamap.Table) {
			orders.Columns = append(orders.Columns, column("buyer_id", datamap.TypeBigInt))
			orders.Relations = append(orders.Relations, belongsTo("users", "buyer_id"))
		}},
		"two marked ways": {"orders", func(_, orders *datamap.Table) {
			orders.Columns = append(orders.Columns, column("buyer_id", datamap.TypeBigInt))
			orders.Relations = append(orders.Relations, belongsTo("users", "buyer_id"))
			orders.Relations[0].Path, orders.Relations[1].Path = true, true
		}},
	} {
		t.Run(name, func(t *testing.T) {
			subject, orders := users(), child("orders", "users")
			c.change(&subject, &orders)
			_, err := datamap.NewDataMap(subject, orders)
			wantManifestError(t, err, c.where)
		})
	}
}

func TestAColumnWithoutPersonalDataNeedsNoType(t *testing.T) {
	orders := child("orders", "users")
	orders.Columns = append(orders.Columns, column("note", ""))
	mustMap(t, users(), orders)
}

func TestADataMapNeedsASubjectTable(t *testing.T) {
	_, err := datamap.NewDataMap()
	wantCode(t, err, domain.ErrManifest)
	_, err = datamap.NewDataMap(child("orders"))
	wantCode(t, err, domain.ErrManifest)
	nameless := users()
	nameless.Name = ""
	_, err = datamap.NewDataMap(nameless)
	wantCode(t, err, domain.ErrManifest)
}

func TestEveryKeyTypeAndNoOtherCanHoldASubjectID(t *testing.T) {
	keys := []datamap.ColumnType{
		datamap.TypeText, datamap.TypeUUID, datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt,
	}
	for _, columnType := range []datamap.ColumnType{
		datamap.TypeText, datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber,
		datamap.TypeBoolean, datamap.TypeTime, datamap.TypeUUID, datamap.TypeJSON, datamap.TypeArray, datamap.TypeBytes,
	} {
		subject := users()
		subject.Columns[0].Type = columnType
		if _, err := datamap.NewDataMap(subject); (err == nil) != slices.Contains(keys, columnType) {
			t.Errorf("%s as a subject key: %v", columnType, err)
		}
	}
}

func TestTheSubjectTableComesFirstAndTheOthersAsDeclared(t *testing.T) {
	m := mustMap(t, child("zebras", "users"), child("apples", "users"), users(), child("maps", "zebras"))
	var names []string
	for _, table := range m.Tables() {
		names = append(names, table.Name)
	}
	if want := []string{"users", "zebras", "apples", "maps"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if m.SubjectTable().Name != "users" {
		t.Errorf("the subject's table is %s", m.SubjectTable().Name)
	}
}

func TestTablesAndColumnsAreFoundByName(t *testing.T) {
	m := mustMap(t, users(), child("orders", "users"))
	orders, ok := m.Table("orders")
	if !ok || orders.Name != "orders" {
		t.Errorf("got %q, %v", orders.Name, ok)
	}
	if _, ok := m.Table("countries"); ok {
		t.Error("found a table that is not in the map")
	}
	if c, ok := orders.Column("users_id"); !ok || c.Type != datamap.TypeBigInt {
		t.Errorf("got %+v, %v", c, ok)
	}
	if _, ok := orders.Column("total"); ok {
		t.Error("found a column that is not in the table")
	}
}

func TestThePersonalColumnsComeInTheOrderOfTheTable(t *testing.T) {
	table := datamap.Table{Columns: []datamap.Column{
		contact("zip", ""), column("id", datamap.TypeBigInt), contact("email", ""), contact("city", ""),
	}}
	var names []string
	for _, c := range table.Personal() {
		names = append(names, c.Name)
	}
	if want := []string{"zip", "email", "city"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if len(table.Columns) != 4 || table.Columns[0].Name != "zip" || table.Columns[3].Name != "city" {
		t.Errorf("the table changed: %v", table.Columns)
	}
}

func TestTheDefaultStrategyIsErase(t *testing.T) {
	m := mustMap(t, annotatedTables(datamap.Annotation{Category: domain.CategoryFinancial})...)
	orders, _ := m.Table("orders")
	if got := orders.Personal()[0].Personal.Strategy; got != domain.StrategyErase {
		t.Errorf("got %q", got)
	}
}

func TestADataMapIsACopyOfWhatItWasBuiltFrom(t *testing.T) {
	subject, orders := users(), child("orders", "users")
	m := mustMap(t, subject, orders)
	subject.Columns[1].Personal.Category = "changed"
	subject.SubjectKey[0], subject.PrimaryKey[0], subject.Columns[0].Name = "changed", "changed", "changed"
	orders.Relations[0].Columns[0], orders.Relations[0].ReferencedColumns[0] = "changed", "changed"
	orders.Relations[0].References = "changed"

	kept := m.SubjectTable()
	relation := pathOf(m, "orders")[0]
	if kept.Columns[1].Personal.Category != domain.CategoryContact || kept.SubjectKey[0] != "id" ||
		kept.PrimaryKey[0] != "id" || kept.Columns[0].Name != "id" {
		t.Errorf("the subject's table changed: %+v", kept)
	}
	if relation.Columns[0] != "users_id" || relation.ReferencedColumns[0] != "id" || relation.References != "users" {
		t.Errorf("the path changed: %+v", relation)
	}
}

func TestADataMapThatWasNeverBuiltIsZero(t *testing.T) {
	var m datamap.DataMap
	if !m.IsZero() || mustMap(t, users()).IsZero() {
		t.Error("IsZero is wrong for the zero value or for a valid data map")
	}
}

func TestARetentionIsNotCountedFromAColumnThatIsOverwritten(t *testing.T) {
	tables := annotatedTables(datamap.Annotation{
		Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "§147 AO",
		Retain: datamap.Period{Years: 10}, Since: "issued_at",
	})
	i := slices.IndexFunc(tables[1].Columns, func(c datamap.Column) bool { return c.Name == "issued_at" })
	tables[1].Columns[i].Personal = &datamap.Annotation{Category: domain.CategoryBehavioral}
	_, err := datamap.NewDataMap(tables...)
	wantManifestError(t, err, "orders.total")
}

func TestAPeriodThatIsNoPeriodIsRefused(t *testing.T) {
	for _, period := range []datamap.Period{{Years: -1}, {Years: 1, Days: -1}, {Months: 10000}} {
		_, err := datamap.NewDataMap(annotatedTables(datamap.Annotation{
			Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "§147 AO",
			Retain: period, Since: "issued_at",
		})...)
		wantManifestError(t, err, "orders.total")
	}
}

func TestAKeyNamesNoColumnTwice(t *testing.T) {
	subject := users()
	subject.SubjectKey = []string{"id", "id"}
	_, err := datamap.NewDataMap(subject)
	wantManifestError(t, err, "users.id")
}
