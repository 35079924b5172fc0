package cookbook_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Seller struct {
	bun.BaseModel `bun:"table:sellers"`

	ID   int64  `bun:"id,pk" subject:"id"`
	Name string `bun:"name" pii:"identity,erasure:anonymize"`
}

type Product struct {
	bun.BaseModel `bun:"table:products"`

	ID       int64   `bun:"id,pk"`
	SellerID int64   `bun:"seller_id"`
	Seller   *Seller `bun:"rel:belongs-to,join:seller_id=id"`
	Title    string  `bun:"title"`
}

// Remark is about a seller, a product, or something else. The column target_type names the table.
type Remark struct {
	bun.BaseModel `bun:"table:remarks"`

	ID         int64    `bun:"id,pk"`
	TargetType string   `bun:"target_type"`
	TargetID   int64    `bun:"target_id"`
	Seller     *Seller  `bun:"rel:belongs-to,join:target_id=id" subject:"path,erasure:delete,when:'target_type=seller'"`
	Product    *Product `bun:"rel:belongs-to,join:target_id=id" subject:"path,when:'target_type=product'"`
	Text       string   `bun:"text" pii:"communication,via:'Seller,Product'"`
}

func TestAPolymorphicReferenceLeadsToOneOfItsTargets(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Seller)(nil), (*Product)(nil), (*Remark)(nil)}
		prepare(t, db, (*Seller)(nil), (*Product)(nil),
			"CREATE TABLE remarks (id bigint PRIMARY KEY, target_type text, target_id bigint, text text)")
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		insert(t, db, &Seller{ID: 42, Name: "Zoe"}, &Seller{ID: 7, Name: "Bob"},
			&Product{ID: 7, SellerID: 42, Title: "Lamp"}, &Remark{ID: 1, TargetType: "seller", TargetID: 42, Text: "kind"},
			&Remark{ID: 2, TargetType: "product", TargetID: 7, Text: "bright"},
			&Remark{ID: 3, TargetType: "seller", TargetID: 7, Text: "slow"},
			&Remark{ID: 4, TargetType: "shop", TargetID: 42, Text: "far"})

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "sellers", "remarks"), `
			before    sellers: id=7, name=Bob
			before    sellers: id=42, name=Zoe
			before    remarks: id=1, target_type=seller, target_id=42, text=kind
			before    remarks: id=2, target_type=product, target_id=7, text=bright
			before    remarks: id=3, target_type=seller, target_id=7, text=slow
			before    remarks: id=4, target_type=shop, target_id=42, text=far
			exported  sellers.name = Zoe
			exported  products.id = 7
			exported  remarks.text = kind
			exported  remarks.text = bright
			after     sellers: id=7, name=Bob
			after     sellers: id=42, name=anon-…
			after     remarks: id=2, target_type=product, target_id=7, text=anon-…
			after     remarks: id=3, target_type=seller, target_id=7, text=slow
			after     remarks: id=4, target_type=shop, target_id=42, text=far
		`)
	})
}
