// Package shop is the application that both sides of the benchmark give data-subject rights to: its tables, its rows and
// its way to know who is asking.
package shop

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

//go:embed schema.sql
var schema string

//go:embed rows.sql
var rows string

//go:embed indexes.sql
var indexes string

// template is the database that those of both sides are copies of.
const template = "shop"

// Create makes the database that Copy copies on the server, with the tables of the shop and those of habeas, and the rows
// of users who are numbered from 1.
func Create(ctx context.Context, serverURL string, users int) error {
	_, err := CreateAs(ctx, serverURL, template, users)
	return err
}

// CreateAs makes a database as Create does, of any name, and returns its URL.
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

// Copy makes a database that equals the one that Create made, and returns its URL.
func Copy(ctx context.Context, serverURL, name string) (string, error) {
	return at(serverURL, name), create(ctx, serverURL, name, template)
}

// Empty makes a database that has nothing in it, and returns its URL.
func Empty(ctx context.Context, serverURL, name string) (string, error) {
	return at(serverURL, name), create(ctx, serverURL, name, "template0")
}

// Execute runs statements on a connection of its own: one, or several as one transaction.
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

// at replaces the database in the URL of a private server, which is its administrative one.
func at(serverURL, name string) string {
	return strings.Replace(serverURL, "/postgres?", "/"+name+"?", 1)
}

func migrate(ctx context.Context, databaseURL string) error {
	sqldb, err := sql.Open("pgx", databaseURL)
	if err != nil {
		return err
	}
	defer sqldb.Close()
	return bunstore.Migrate(ctx, bun.NewDB(sqldb, pgdialect.New()), bunstore.Options{})
}
