package bunmodels_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// These are the models of the documentation: a table of subjects, and a table whose rows must be retained.

type documentedUser struct {
	bun.BaseModel `bun:"table:users"`
	ID            int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Theme         string `bun:"theme"`
}

type documentedInvoice struct {
	bun.BaseModel `bun:"table:invoices"`
	ID            int64           `bun:"id,pk,autoincrement"`
	UserID        int64           `bun:"user_id"`
	User          *documentedUser `bun:"rel:belongs-to,join:user_id=id" subject:"path"`
	Address       string          `bun:"address" pii:"financial,erasure:retain,reason:'§147 AO',retain:10y,since:issued_at"`
	IssuedAt      time.Time       `bun:"issued_at"`
}

var documentedTables = []datamap.Table{
	{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
				Basis: domain.BasisContract, Purpose: "account login",
			}},
			{Name: "theme", Type: datamap.TypeText},
		},
	},
	{
		Name: "invoices", PrimaryKey: []string{"id"},
		Relations: []datamap.Relation{{
			Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"}, Path: true,
		}},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "user_id", Type: datamap.TypeBigInt},
			{Name: "address", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "§147 AO",
				Retain: datamap.Period{Years: 10}, Since: "issued_at",
			}},
			{Name: "issued_at", Type: datamap.TypeTime},
		},
	},
}

// read returns the tables of the data map that Read returns for the models.
func read(t testing.TB, models ...any) []datamap.Table {
	t.Helper()
	dataMap, err := bunmodels.Read(unconnected(), models, nil)
	must(t, err)
	return dataMap.Tables()
}

// wantTables fails the test if the tables differ from the wanted tables.
func wantTables(t testing.TB, got []datamap.Table, want ...datamap.Table) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %s\nwant %s", asJSON(t, got), asJSON(t, want))
	}
}

func TestTheDocumentedModelsYieldTheDocumentedMap(t *testing.T) {
	wantTables(t, read(t, (*documentedUser)(nil), (*documentedInvoice)(nil)), documentedTables...)
	wantTables(t, read(t, &documentedInvoice{}, &documentedUser{}), documentedTables...)
}

func TestASubjectKeyCanBeATupleAndDifferFromThePrimaryKey(t *testing.T) {
	type Member struct {
		bun.BaseModel `bun:"table:members"`
		Row           int64  `bun:"row_id,pk"`
		Realm         string `bun:"realm,type:varchar(40)" subject:"id"`
		Name          string `bun:"name" pii:"identity"`
		Number        int32  `bun:"number" subject:"id"`
	}
	type Badge struct {
		bun.BaseModel `bun:"table:badges"`
		Realm         string  `bun:"realm,pk"`
		Number        int32   `bun:"number,pk"`
		Member        *Member `bun:"rel:belongs-to,join:number=number,join:realm=realm"`
		Photo         []byte  `bun:"photo" pii:"identity"`
	}
	tables := read(t, (*Member)(nil), (*Badge)(nil))
	wantTables(t, tables,
		datamap.Table{
			Name: "members", PrimaryKey: []string{"row_id"}, SubjectKey: []string{"realm", "number"},
			Columns: []datamap.Column{
				{Name: "row_id", Type: datamap.TypeBigInt},
				{Name: "realm", Type: datamap.TypeText, Length: 40},
				{Name: "name", Type: datamap.TypeText, Personal: identity()},
				{Name: "number", Type: datamap.TypeInteger},
			},
		},
		datamap.Table{
			Name: "badges", PrimaryKey: []string{"realm", "number"},
			Relations: []datamap.Relation{{
				Columns: []string{"number", "realm"}, References: "members", ReferencedColumns: []string{"number", "realm"},
			}},
			Columns: []datamap.Column{
				{Name: "realm", Type: datamap.TypeText},
				{Name: "number", Type: datamap.TypeInteger},
				{Name: "photo", Type: datamap.TypeBytes, Personal: identity()},
			},
		},
	)
}

func TestAMarkChoosesBetweenPaths(t *testing.T) {
	type Person struct {
		bun.BaseModel `bun:"table:people"`
		ID            int64 `bun:"id,pk" subject:"id"`
	}
	type Unmarked struct {
		bun.BaseModel `bun:"table:messages"`
		ID            int64   `bun:"id,pk"`
		SenderID      int64   `bun:"sender_id"`
		Sender        *Person `bun:"rel:belongs-to,join:sender_id=id"`
		ReceiverID    int64   `bun:"receiver_id"`
		Receiver      *Person `bun:"rel:belongs-to,join:receiver_id=id"`
	}
	type Marked struct {
		bun.BaseModel `bun:"table:messages"`
		ID            int64   `bun:"id,pk"`
		SenderID      int64   `bun:"sender_id"`
		Sender        *Person `bun:"rel:belongs-to,join:sender_id=id"`
		ReceiverID    int64   `bun:"receiver_id"`
		Receiver      *Person `bun:"rel:belongs-to,join:receiver_id=id" subject:"path"`
	}
	_, err := bunmodels.Read(unconnected(), []any{(*Person)(nil), (*Unmarked)(nil)}, nil)
	wantManifestError(t, err, "messages", "several paths")
	dataMap, err := bunmodels.Read(unconnected(), []any{(*Person)(nil), (*Marked)(nil)}, nil)
	must(t, err)
	if path := dataMap.Paths("messages"); len(path) != 1 || path[0].Relations[0].Columns[0] != "receiver_id" {
		t.Errorf("the path is %+v", path)
	}
}

func TestATableCanBeOwned(t *testing.T) {
	type Session struct {
		bun.BaseModel `bun:"table:sessions" subject:"owned"`
		ID            int64 `bun:"id,pk" subject:"id"`
	}
	if tables := read(t, (*Session)(nil)); !tables[0].Owned {
		t.Errorf("got %+v", tables[0])
	}
}

func TestNamesOfTablesCanBeQualifiedAndGuessed(t *testing.T) {
	type Customer struct {
		bun.BaseModel `bun:"shop.customers,alias:c"`
		ID            int64 `bun:"id,pk" subject:"id"`
	}
	type OrderLine struct {
		ID         int64 `bun:",pk"`
		CustomerID int64
		Customer   *Customer `bun:"rel:belongs-to"`
		GiftNote   string    `pii:"communication"`
	}
	wantTables(t, read(t, (*Customer)(nil), (*OrderLine)(nil)),
		datamap.Table{
			Name: "shop.customers", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
		},
		datamap.Table{
			Name: "order_lines", PrimaryKey: []string{"id"},
			Relations: []datamap.Relation{{
				Columns: []string{"customer_id"}, References: "shop.customers", ReferencedColumns: []string{"id"},
			}},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "customer_id", Type: datamap.TypeBigInt},
				{Name: "gift_note", Type: datamap.TypeText, Personal: &datamap.Annotation{
					Category: domain.CategoryCommunication, Strategy: domain.StrategyErase,
				}},
			},
		},
	)
}

func TestSoftDeletionIsAColumnLikeAnyOther(t *testing.T) {
	type Account struct {
		bun.BaseModel `bun:"table:accounts"`
		ID            int64     `bun:"id,pk" subject:"id"`
		DeletedAt     time.Time `bun:"deleted_at,soft_delete,nullzero"`
	}
	tables := read(t, (*Account)(nil))
	if column, ok := tables[0].Column("deleted_at"); !ok || column.Type != datamap.TypeTime {
		t.Errorf("got %+v", tables[0])
	}
}

func TestATableThatRefersToItselfIsRead(t *testing.T) {
	type Employee struct {
		bun.BaseModel `bun:"table:employees"`
		ID            int64     `bun:"id,pk" subject:"id"`
		BossID        *int64    `bun:"boss_id"`
		Boss          *Employee `bun:"rel:belongs-to,join:boss_id=id"`
	}
	if relations := read(t, (*Employee)(nil))[0].Relations; len(relations) != 1 || relations[0].References != "employees" {
		t.Errorf("got %+v", relations)
	}
}

func TestOnDeleteSetNullIsRead(t *testing.T) {
	type Invitation struct {
		bun.BaseModel `bun:"table:invitations"`
		ID            int64   `bun:"id,pk"`
		GuestID       int64   `bun:"guest_id"`
		Guest         *person `bun:"rel:belongs-to,join:guest_id=id" subject:"path"`
		HostID        *int64  `bun:"host_id"`
		Host          *person `bun:"rel:belongs-to,join:host_id=id,on_delete:set null"`
	}
	for _, relation := range read(t, (*person)(nil), (*Invitation)(nil))[1].Relations {
		if relation.SetsNull != (relation.Columns[0] == "host_id") {
			t.Errorf("got %+v", relation)
		}
	}
}

func TestADatabaseIsNeededToReadModels(t *testing.T) {
	_, err := bunmodels.Read(nil, []any{(*person)(nil)}, nil)
	if !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}

// identity is the annotation of pii:"identity".
func identity() *datamap.Annotation {
	return &datamap.Annotation{Category: domain.CategoryIdentity, Strategy: domain.StrategyErase}
}

var must = fixture.Must

func pointer[T any](value T) *T { return &value }

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return string(text)
}
