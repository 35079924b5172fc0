package bunstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Customer is the model of the subject's table. An erasure overwrites its personal data and keeps the row, because the
// column "theme" is not personal data.
type Customer struct {
	bun.BaseModel `bun:"table:customers"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Theme string `bun:"theme"`
}

// An application opens a store on an SQLite database. Package stack then creates the services of habeas on the store.
// Package app does both steps.
func ExampleNew() {
	ctx, db := context.Background(), openSQLite()
	defer func() { _ = db.Close() }()
	_, err := db.NewCreateTable().Model((*Customer)(nil)).Exec(ctx) // an existing application has this table
	check(err)
	_, err = db.NewInsert().Model(&Customer{ID: 42, Email: "zoe@example.org", Theme: "dark"}).Exec(ctx)
	check(err)

	check(bunstore.Migrate(ctx, db, bunstore.Options{})) // the tables of habeas
	dataMap, err := bunmodels.Read(db, []any{(*Customer)(nil)}, nil)
	check(err)
	store, err := bunstore.New(db, dataMap, bunstore.Options{})
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)

	zoe, err := domain.NewSubject("42")
	check(err)
	err = store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		bundle, err := engines.Exporter.Export(ctx, s, zoe)
		for _, record := range bundle.Records {
			fmt.Println(record.Source, record.Row, record.Field, "=", record.Value, "for", *record.Purpose)
		}
		return err
	})
	check(err)
	// Output: customers 42 email = zoe@example.org for account login
}

// An application may call Migrate at every start.
func ExampleMigrate() {
	ctx, db := context.Background(), openSQLite()
	defer func() { _ = db.Close() }()
	for range 2 {
		check(bunstore.Migrate(ctx, db, bunstore.Options{}))
	}
	var tables []string
	check(db.NewRaw("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'habeas_%' ORDER BY name").
		Scan(ctx, &tables))
	for _, table := range tables {
		fmt.Println(table)
	}
	// Output:
	// habeas_ancestors
	// habeas_audit_events
	// habeas_consent_records
	// habeas_duties
	// habeas_holds
	// habeas_installation
	// habeas_migrations
	// habeas_outbox
	// habeas_positions
	// habeas_requests
	// habeas_restriction_records
	// habeas_subject_erasures
}

// Migrations returns the SQL files for an application that migrates its tables with another tool.
func ExampleMigrations() {
	db := openSQLite()
	defer func() { _ = db.Close() }()
	files, err := bunstore.Migrations(db)
	check(err)
	names, err := fs.Glob(files, "*.sql")
	check(err)
	fmt.Println(names[0])
	// Output: 0001_habeas.sql
}

// A sign-up writes the customer and the consent in one transaction. If the transaction rolls back, the database keeps
// neither.
func ExampleStore_Join() {
	ctx, db := context.Background(), openSQLite()
	defer func() { _ = db.Close() }()
	_, err := db.NewCreateTable().Model((*Customer)(nil)).Exec(ctx)
	check(err)
	check(bunstore.Migrate(ctx, db, bunstore.Options{}))
	dataMap, err := bunmodels.Read(db, []any{(*Customer)(nil)}, nil)
	check(err)
	store, err := bunstore.New(db, dataMap, bunstore.Options{})
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewInsert().Model(&Customer{ID: 42, Email: "zoe@example.org"}).Exec(ctx); err != nil {
			return err
		}
		sessions, err := store.Join(tx)
		if err != nil {
			return err
		}
		err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			_, err := engines.Consent.Record(ctx, s, zoe, domain.ConsentDecision{
				Purpose: "newsletter", PolicyVersion: "2024-03", Granted: true, Source: "sign-up form",
			})
			return err
		})
		if err != nil {
			return err
		}
		return errors.New("the welcome mail could not be queued")
	})
	fmt.Println(err)

	check(store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		status, err := engines.Consent.Status(ctx, s, zoe, "newsletter")
		fmt.Println("granted:", status.Granted)
		return err
	}))
	// Output:
	// the welcome mail could not be queued
	// granted: false
}

// openSQLite opens an empty SQLite database in memory. The database exists until its only connection is closed.
func openSQLite() *bun.DB {
	sqldb, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)")
	check(err)
	sqldb.SetMaxOpenConns(1)
	return bun.NewDB(sqldb, sqlitedialect.New())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
