// Package shop is the application of most tests. An erasure anonymizes the row of a customer, deletes parcels and
// retains invoices.
package shop

import (
	"fmt"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// Customer is the subject.
type Customer struct {
	bun.BaseModel `bun:"table:customers"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Plan          string `bun:"plan"`
}

// Parcel is the address of a delivery to a customer. An erasure deletes it.
type Parcel struct {
	bun.BaseModel `bun:"table:parcels" subject:"owned"`
	ID            int64     `bun:"id,pk,autoincrement"`
	CustomerID    int64     `bun:"customer_id"`
	Customer      *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Address       string    `bun:"address" pii:"location"`
}

// Invoice has an address that must be retained for ten years after the invoice was issued.
type Invoice struct {
	bun.BaseModel `bun:"table:invoices"`
	ID            int64     `bun:"id,pk,autoincrement"`
	CustomerID    int64     `bun:"customer_id"`
	Customer      *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:'§ 147 AO',retain:10y,since:issued_at"`
	IssuedAt      time.Time `bun:"issued_at"`
}

// Models are the customers and their parcels.
var Models = []any{(*Customer)(nil), (*Parcel)(nil)}

// WithInvoices contains all models.
var WithInvoices = append(Models[:2:2], (*Invoice)(nil))

// Open creates the tables of habeas and of the models in an empty PostgreSQL or SQLite database.
func Open(t testing.TB, db *bun.DB, models []any) {
	t.Helper()
	fixture.Must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	databases.Create(t, db, models...)
}

// AddCustomers inserts the customers 1 to n, each with the given number of parcels.
func AddCustomers(t testing.TB, db *bun.DB, n, parcels int) {
	t.Helper()
	for i := range n {
		id := int64(i + 1)
		databases.Insert(t, db, &Customer{ID: id, Email: Email(id), Plan: "free"})
		AddParcels(t, db, id, parcels)
	}
}

// AddParcels inserts the given number of parcels of a customer in one statement.
func AddParcels(t testing.TB, db *bun.DB, customer int64, parcels int) {
	t.Helper()
	rows := make([]Parcel, parcels)
	for i := range rows {
		rows[i] = Parcel{CustomerID: customer, Address: "1 Main Street"}
	}
	if parcels > 0 {
		databases.Insert(t, db, &rows)
	}
}

// Email is the address of a customer before an erasure.
func Email(customer int64) string { return fmt.Sprintf("c%d@example.org", customer) }
