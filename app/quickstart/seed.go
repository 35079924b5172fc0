package main

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// people are the users of the demo. Their first names in lower case are their bearer tokens.
var people = []string{"Alice", "Bob", "Carol"}

// prepare creates the tables of the application. If the table of users is empty, prepare adds the users.
func prepare(ctx context.Context, db *bun.DB) error {
	for _, model := range models {
		if _, err := db.NewCreateTable().Model(model).IfNotExists().WithForeignKeys().Exec(ctx); err != nil {
			return err
		}
	}
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		users, err := tx.NewSelect().Model((*User)(nil)).Count(ctx)
		if err != nil || users > 0 {
			return err
		}
		for i, name := range people {
			if err := seed(ctx, tx, int64(i+1), name); err != nil {
				return err
			}
		}
		return nil
	})
}

// seed adds a user with rows in every table.
func seed(ctx context.Context, tx bun.Tx, id int64, name string) error {
	email := strings.ToLower(name) + "@example.org"
	placed := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC).AddDate(0, 0, int(id))
	note := "Please ring twice, " + name
	orders := []Order{
		{UserID: id, Note: &note, PlacedAt: placed, Status: "shipped"},
		{UserID: id, PlacedAt: placed.AddDate(0, 1, 0), Status: "open"},
	}
	for _, row := range []any{
		&User{ID: 0, Email: email, Name: name + " Example", LastLogin: placed.AddDate(0, 2, 0), Theme: "dark"},
		&Address{UserID: id, Street: "1 Main Street", City: "Springfield"},
		&orders,
	} {
		if _, err := tx.NewInsert().Model(row).Exec(ctx); err != nil {
			return err
		}
	}
	items := []OrderItem{
		{OrderID: orders[0].ID, Line: 1, Product: "Teapot", Quantity: 1},
		{OrderID: orders[0].ID, Line: 2, Product: "Cup", Quantity: 4},
		{OrderID: orders[1].ID, Line: 1, Product: "Green tea", Quantity: 2},
	}
	if _, err := tx.NewInsert().Model(&items).Exec(ctx); err != nil {
		return err
	}
	_, err := tx.NewInsert().Model(&Invoice{
		UserID: id, Address: name + " Example, 1 Main Street, Springfield", Total: "59.90", SentTo: email, IssuedAt: placed,
	}).Exec(ctx)
	return err
}
