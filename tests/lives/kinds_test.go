package lives

import (
	"strconv"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// kind is a way in which an application keeps its members.
type kind struct {
	name     string
	deletes  bool // an erasure deletes the row of the member, and the notes; otherwise the row and the bills stay
	times    bool // the rows of members have creation times
	distinct bool // an erasure writes distinctive surrogates into the row
	natural  bool // the key is a name, not a number
}

var kinds = []kind{
	{name: "deleted rows with times", deletes: true, times: true},
	{name: "deleted rows of natural keys", deletes: true, natural: true},
	{name: "kept rows with surrogates", distinct: true},
	{name: "kept rows with surrogates, times and natural keys", distinct: true, times: true, natural: true},
	{name: "kept rows with constants", natural: true},
	{name: "kept rows with constants and times", times: true},
}

// ids returns the ids that are given again and again.
func (k kind) ids() []string {
	if k.natural {
		return []string{"ann", "bob"}
	}
	return []string{"1", "2"}
}

// key returns the value of an id in the database.
func (k kind) key(id string) any {
	if k.natural {
		return id
	}
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		panic(err)
	}
	return number
}

// tables returns the tables of children. All of them have the column address.
func (k kind) childTables() []string {
	if k.deletes {
		return []string{"notes"}
	}
	return []string{"invoices", "receipts"}
}

func personal(name string, strategy domain.Strategy) datamap.Column {
	return datamap.Column{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
		Category: domain.CategoryContact, Strategy: strategy,
	}}
}

// dataMap returns the data map of the application.
func (k kind) dataMap() (datamap.DataMap, error) {
	email := personal("email", domain.StrategyAnonymize)
	if k.deletes {
		email = personal("email", domain.StrategyDelete)
	} else if !k.distinct {
		email.Surrogate = "erased"
	}
	tables := []datamap.Table{k.memberTable(email, datamap.Column{Name: "created_at", Type: datamap.TypeTime})}
	if k.deletes {
		return datamap.NewDataMap(append(tables, k.childTable("notes", personal("address", domain.StrategyDelete)))...)
	}
	retained := personal("address", domain.StrategyRetain)
	retained.Personal.Reason, retained.Personal.Since = "tax law", "issued_at"
	retained.Personal.Retain = datamap.Period{Days: 100}
	issued := datamap.Column{Name: "issued_at", Type: datamap.TypeTime}
	return datamap.NewDataMap(append(tables,
		k.childTable("invoices", personal("recipient", domain.StrategyAnonymize), retained, issued),
		k.childTable("receipts", retained, issued))...)
}

// rawMap returns a data map with which the memory lets the application change and delete its own rows.
func (k kind) rawMap() (datamap.DataMap, error) {
	created := personal("created_at", domain.StrategyDelete)
	created.Type = datamap.TypeTime
	tables := []datamap.Table{k.memberTable(personal("email", domain.StrategyDelete), created)}
	for _, name := range k.childTables() {
		columns := []datamap.Column{personal("address", domain.StrategyDelete)}
		if !k.deletes {
			issued := personal("issued_at", domain.StrategyDelete)
			issued.Type = datamap.TypeTime
			columns = append(columns, issued)
		}
		if name == "invoices" {
			columns = append(columns, personal("recipient", domain.StrategyDelete))
		}
		table := k.childTable(name, columns...)
		table.Owned = true
		tables = append(tables, table)
	}
	tables[0].Owned = true
	return datamap.NewDataMap(tables...)
}

func (k kind) keyType() datamap.ColumnType {
	if k.natural {
		return datamap.TypeText
	}
	return datamap.TypeBigInt
}

func (k kind) memberTable(email, created datamap.Column) datamap.Table {
	table := datamap.Table{
		Name: "members", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: k.deletes,
		Columns: []datamap.Column{{Name: "id", Type: k.keyType()}, email},
	}
	if k.times {
		table.Columns = append(table.Columns, created)
	}
	return table
}

func (k kind) childTable(name string, columns ...datamap.Column) datamap.Table {
	return datamap.Table{
		Name: name, PrimaryKey: []string{"id"}, Owned: k.deletes,
		Columns: append([]datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt}, {Name: "member_id", Type: k.keyType()},
		}, columns...),
		Relations: []datamap.Relation{{
			Columns: []string{"member_id"}, References: "members", ReferencedColumns: []string{"id"},
		}},
	}
}
