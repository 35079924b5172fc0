// Package shop is the part of the benchmark's application that all measured servers share: its tables, its rows and its
// authentication.
package shop

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
)

//go:embed schema.sql
var schema string

//go:embed rows.sql
var rows string

//go:embed indexes.sql
var indexes string

// Shop is a template database, and the way to copy it. Its users have the numbers 1 to Users. Each measured server gets
// a copy.
type Shop struct {
	Users int
	// Copy creates a copy of the database and returns its URL.
	Copy func(ctx context.Context, name string) (databaseURL string, err error)
	// Checkpoint writes all copies of the database to disk, so that this does not happen during a measurement.
	Checkpoint func(context.Context) error
}

// Create creates a template on a PostgreSQL server, with the tables and rows of the shop and the tables of habeas.
func Create(ctx context.Context, serverURL string, users int) (Shop, error) {
	const template = "shop"
	_, err := CreateAs(ctx, serverURL, template, users)
	return Shop{
		Users: users,
		Copy: func(ctx context.Context, name string) (string, error) {
			name = strings.ReplaceAll(name, "-", "_")
			return databaseURL(serverURL, name), create(ctx, serverURL, name, template)
		},
		Checkpoint: func(ctx context.Context) error { return Execute(ctx, serverURL, "CHECKPOINT") },
	}, err
}

// CreateAs creates a database with the given name, and with the same tables and rows as Create. It returns the URL of
// the database.
func CreateAs(ctx context.Context, serverURL, name string, users int) (string, error) {
	databaseURL, err := Empty(ctx, serverURL, name)
	if err != nil {
		return "", err
	}
	if err := migrate(ctx, databaseURL); err != nil {
		return "", err
	}
	filled := strings.ReplaceAll(rows, ":users", strconv.Itoa(users))
	for _, statements := range []string{schema, filled, indexes, "VACUUM", "ANALYZE"} {
		if err := Execute(ctx, databaseURL, statements); err != nil {
			return "", fmt.Errorf("make the shop: %w", err)
		}
	}
	return databaseURL, nil
}

// Empty creates an empty database and returns its URL.
func Empty(ctx context.Context, serverURL, name string) (string, error) {
	return databaseURL(serverURL, name), create(ctx, serverURL, name, "template0")
}

// Execute runs one statement or several statements on a new connection. Several statements run as one transaction.
func Execute(ctx context.Context, databaseURL, statements string) error {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	_, err = connection.PgConn().Exec(ctx, statements).ReadAll()
	return err
}

func create(ctx context.Context, serverURL, name, from string) error {
	if err := Execute(ctx, serverURL, "CREATE DATABASE "+name+" TEMPLATE "+from); err != nil {
		return fmt.Errorf("make the database %s: %w", name, err)
	}
	return nil
}

// databaseURL returns serverURL with the name of another database.
func databaseURL(serverURL, name string) string {
	return strings.Replace(serverURL, "/postgres?", "/"+name+"?", 1)
}

func migrate(ctx context.Context, databaseURL string) error {
	db, err := Connect(databaseURL)
	if err != nil {
		return err
	}
	defer db.DB.Close()
	return bunstore.Migrate(ctx, db, bunstore.Options{})
}
