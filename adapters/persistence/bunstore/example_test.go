package bunstore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Customer is the subject's table. Its rows survive an erasure, because theme is not personal data.
type Customer struct {
	bun.BaseModel `bun:"table:customers"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Theme string `bun:"theme"`
}

// Bill has to be kept for ten years.
type Bill struct {
	bun.BaseModel `bun:"table:bills"`

	ID         int64     `bun:"id,pk,autoincrement"`
	CustomerID int64     `bun:"customer_id"`
	Customer   *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Address    string    `bun:"address" pii:"financial,erasure:retain,reason:'§ 147 AO',retain:10y,since:issued_at"`
	IssuedAt   time.Time `bun:"issued_at"`
}

// The data map of an application is read from its models, once, when it starts.
func ExampleReadModels() {
	db := openSQLite()
	defer func() { _ = db.Close() }()
	dataMap, err := bunstore.ReadModels(db, []any{(*Customer)(nil), (*Bill)(nil)}, nil)
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

// A store in an SQLite database, on which package stack wires the engines. Package app does all of this by itself.
func ExampleNew() {
	ctx, db := context.Background(), openSQLite()
	defer func() { _ = db.Close() }()
	_, err := db.NewCreateTable().Model((*Customer)(nil)).Exec(ctx) // which the application has anyway
	check(err)
	_, err = db.NewInsert().Model(&Customer{ID: 42, Email: "zoe@example.org", Theme: "dark"}).Exec(ctx)
	check(err)

	check(bunstore.Migrate(ctx, db, bunstore.Options{})) // the tables of habeas
	dataMap, err := bunstore.ReadModels(db, []any{(*Customer)(nil)}, nil)
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

// Migrate may run at every start.
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
	// habeas_audit_events
	// habeas_consent_records
	// habeas_migrations
	// habeas_outbox
	// habeas_restriction_records
	// habeas_subject_erasures
}

// The same as SQL files, for the tool with which the application migrates its own tables.
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

// A sign-up writes the customer and the consent, or neither of them.
func ExampleStore_Join() {
	ctx, db := context.Background(), openSQLite()
	defer func() { _ = db.Close() }()
	_, err := db.NewCreateTable().Model((*Customer)(nil)).Exec(ctx)
	check(err)
	check(bunstore.Migrate(ctx, db, bunstore.Options{}))
	dataMap, err := bunstore.ReadModels(db, []any{(*Customer)(nil)}, nil)
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

// Secret is a text that the application encrypts on its way to the database.
type Secret string

func (s Secret) Value() (driver.Value, error) { return "encrypted:" + string(s), nil }

// Patient has a column whose type habeas cannot know: it is told how to export and to anonymize it.
type Patient struct {
	bun.BaseModel `bun:"table:patients"`

	ID        int64  `bun:"id,pk,autoincrement" subject:"id"`
	Diagnosis Secret `bun:"diagnosis" pii:"special,erasure:anonymize"`
}

func ExampleCustomTypes() {
	db := openSQLite()
	defer func() { _ = db.Close() }()
	models := []any{(*Patient)(nil)}
	_, err := bunstore.ReadModels(db, models, nil) // fails at start-up, rather than to anonymize what cannot be read
	fmt.Println(errors.Is(err, domain.ErrManifest))

	secret := reflect.TypeFor[Secret]()
	dataMap, err := bunstore.ReadModels(db, models, bunstore.CustomTypes{
		secret: {Type: domain.TypeText, Surrogate: "encrypted:gone"},
	})
	check(err)
	column, _ := dataMap.SubjectTable().Column("diagnosis")
	fmt.Println(column.Type, column.Surrogate)
	// Output:
	// true
	// text encrypted:gone
}

// openSQLite opens an empty SQLite database in memory, which is there as long as its only connection.
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
