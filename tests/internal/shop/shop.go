// Package shop is the application that tests are about where nothing else is asked of it: customers whose rows an
// erasure anonymizes, with parcels that it deletes and invoices that it retains.
package shop

import (
	"fmt"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
)

// Customer is the subject.
type Customer struct {
	bun.BaseModel `bun:"table:customers"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Plan          string `bun:"plan"`
}

// Parcel is a customer's, and goes with an erasure.
type Parcel struct {
	bun.BaseModel `bun:"table:parcels" subject:"owned"`
	ID            int64     `bun:"id,pk,autoincrement"`
	CustomerID    int64     `bun:"customer_id"`
	Customer      *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Address       string    `bun:"address" pii:"location"`
}

// Invoice is a customer's, and stays.
type Invoice struct {
	bun.BaseModel `bun:"table:invoices"`
	ID            int64     `bun:"id,pk,autoincrement"`
	CustomerID    int64     `bun:"customer_id"`
	Customer      *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:'§ 147 AO'"`
}

// Models are the customers and their parcels.
var Models = []any{(*Customer)(nil), (*Parcel)(nil)}

// WithInvoices are all models.
var WithInvoices = append(Models[:2:2], (*Invoice)(nil))

// Open makes habeas' tables and those of the models in an empty database, PostgreSQL or SQLite.
func Open(t testing.TB, db *bun.DB, models []any) {
	t.Helper()
	Must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	for _, model := range models {
		_, err := db.NewCreateTable().Model(model).WithForeignKeys().Exec(t.Context())
		Must(t, err)
	}
}

// Add inserts rows, each a pointer to a model or to a slice of them.
func Add(t testing.TB, db *bun.DB, rows ...any) {
	t.Helper()
	for _, row := range rows {
		_, err := db.NewInsert().Model(row).Exec(t.Context())
		Must(t, err)
	}
}

// AddCustomers inserts the customers from 1 to n, with so many parcels each.
func AddCustomers(t testing.TB, db *bun.DB, n, parcels int) {
	t.Helper()
	for i := range n {
		id := int64(i + 1)
		Add(t, db, &Customer{ID: id, Email: Email(id), Plan: "free"})
		AddParcels(t, db, id, parcels)
	}
}

// AddParcels inserts so many parcels of a customer, in one statement.
func AddParcels(t testing.TB, db *bun.DB, customer int64, parcels int) {
	t.Helper()
	rows := make([]Parcel, parcels)
	for i := range rows {
		rows[i] = Parcel{CustomerID: customer, Address: "1 Main Street"}
	}
	if parcels > 0 {
		Add(t, db, &rows)
	}
}

// Email is the address of a customer who was not erased.
func Email(customer int64) string { return fmt.Sprintf("c%d@example.org", customer) }

// Must ends a test that cannot go on.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
