package bunmodels_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Customer is the table of subjects. An erasure keeps its rows, because the column "theme" is not personal data.
type Customer struct {
	bun.BaseModel `bun:"table:customers"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Theme string `bun:"theme"`
}

// Bill must be retained for ten years.
type Bill struct {
	bun.BaseModel `bun:"table:bills"`

	ID         int64     `bun:"id,pk,autoincrement"`
	CustomerID int64     `bun:"customer_id"`
	Customer   *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Address    string    `bun:"address" pii:"financial,erasure:retain,reason:'§ 147 AO',retain:10y,since:issued_at,from:year_end"`
	IssuedAt   time.Time `bun:"issued_at"`
}

// An application calls Read once, when it starts.
func ExampleRead() {
	db := bun.NewDB(nil, pgdialect.New()) // the application's database, without any queries
	dataMap, err := bunmodels.Read(db, []any{(*Customer)(nil), (*Bill)(nil)}, nil)
	check(err)
	for _, table := range dataMap.Tables() {
		for _, column := range table.Personal() {
			fmt.Println(table.Name, column.Name, column.Personal.Category, column.Personal.Strategy)
		}
	}
	// Output:
	// customers email contact anonymize
	// bills address financial retain
}

// Secret is a text that the application encrypts before it stores the text in the database.
type Secret string

func (s Secret) Value() (driver.Value, error) { return "encrypted:" + string(s), nil }

// Patient has a field whose Go type habeas does not know. The application registers how to export and anonymize values
// of this type.
type Patient struct {
	bun.BaseModel `bun:"table:patients"`

	ID        int64  `bun:"id,pk,autoincrement" subject:"id"`
	Diagnosis Secret `bun:"diagnosis" pii:"special,erasure:anonymize"`
}

func ExampleTypes() {
	db := bun.NewDB(nil, pgdialect.New())
	models := []any{(*Patient)(nil)}
	_, err := bunmodels.Read(db, models, nil) // fails at start-up, instead of writing values that the field cannot read
	fmt.Println(errors.Is(err, domain.ErrManifest))

	secret := reflect.TypeFor[Secret]()
	dataMap, err := bunmodels.Read(db, models, bunmodels.Types{
		secret: {Type: datamap.TypeText, Surrogate: "encrypted:gone"},
	})
	check(err)
	column, _ := dataMap.SubjectTable().Column("diagnosis")
	fmt.Println(column.Type, column.Surrogate)
	// Output:
	// true
	// text encrypted:gone
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
