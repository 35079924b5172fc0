package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite", in pure Go
)

// openDatabase opens sqlite://path or postgres://... and pings the database, so that a wrong URL fails at start-up.
func openDatabase(ctx context.Context, databaseURL string) (*bun.DB, error) {
	var db *bun.DB
	if path, ok := strings.CutPrefix(databaseURL, "sqlite://"); ok {
		var err error
		if db, err = openSQLite(path); err != nil {
			return nil, err
		}
	} else {
		config, err := parsePostgreSQL(databaseURL)
		if err != nil {
			return nil, err
		}
		db = bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the database cannot be reached, check its URL: %w", err), db.Close())
	}
	return db, nil
}

func openSQLite(path string) (*bun.DB, error) {
	if path == "" {
		return nil, errors.New("sqlite:// needs a path, like sqlite://quickstart.db")
	}
	options := url.Values{"_pragma": {"foreign_keys(1)", "busy_timeout(5000)", "journal_mode(wal)"}}
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	sqldb, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, err
	}
	return bun.NewDB(sqldb, sqlitedialect.New()), nil
}

// parsePostgreSQL parses the URL. Its errors do not contain the URL, because the URL may contain a password.
func parsePostgreSQL(databaseURL string) (*pgx.ConnConfig, error) {
	if !strings.HasPrefix(databaseURL, "postgres://") && !strings.HasPrefix(databaseURL, "postgresql://") {
		return nil, errors.New("the database URL must begin with sqlite:// or postgres://")
	}
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, errors.New("the database URL is not a valid postgres:// URL")
	}
	return config, nil
}

// openFresh opens an empty database for a walkthrough, and returns a function that removes this database. It never
// changes existing data. With SQLite, the database is a file in a new directory. With PostgreSQL, it is a new schema,
// and the start-up parameter search_path selects the schema. If a proxy with transaction pooling rejects this
// parameter, openFresh creates a new database on the server instead.
func openFresh(ctx context.Context, databaseURL string) (db *bun.DB, remove func() error, err error) {
	if !strings.HasPrefix(databaseURL, "postgres") {
		return openFreshFile(ctx)
	}
	config, err := parsePostgreSQL(databaseURL)
	if err != nil {
		return nil, nil, err
	}
	name := "habeas_walkthrough_" + strings.ToLower(rand.Text())
	db, remove, err = openFreshSchema(ctx, config.Copy(), name)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "08P01" {
		return openFreshDatabase(ctx, config, name)
	}
	return db, remove, err
}

func openFreshFile(ctx context.Context) (db *bun.DB, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "habeas-walkthrough-")
	if err != nil {
		return nil, nil, err
	}
	db, err = openDatabase(ctx, "sqlite://"+filepath.Join(dir, "walkthrough.db"))
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return db, func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }, nil
}

func openFreshSchema(
	ctx context.Context, config *pgx.ConnConfig, name string,
) (db *bun.DB, remove func() error, err error) {
	config.RuntimeParams["search_path"] = name
	db = bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
	if _, err := db.NewRaw("CREATE SCHEMA ?", bun.Ident(name)).Exec(ctx); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("a schema for the walkthrough cannot be created: %w", err), db.Close())
	}
	return db, func() error {
		_, err := db.NewRaw("DROP SCHEMA ? CASCADE", bun.Ident(name)).Exec(context.WithoutCancel(ctx))
		return errors.Join(err, db.Close())
	}, nil
}

func openFreshDatabase(
	ctx context.Context, config *pgx.ConnConfig, name string,
) (db *bun.DB, remove func() error, err error) {
	admin := bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
	if _, err := admin.NewRaw("CREATE DATABASE ?", bun.Ident(name)).Exec(ctx); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("a database for the walkthrough cannot be created: %w", err), admin.Close())
	}
	config.Database = name
	db = bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
	return db, func() error {
		err := db.Close()
		// Without FORCE, the server waits some seconds until other connections to the database have ended. A proxy may fail
		// if the server terminates its connections, so FORCE is only the second choice.
		_, dropped := admin.NewRaw("DROP DATABASE ?", bun.Ident(name)).Exec(context.WithoutCancel(ctx))
		if dropped != nil {
			_, dropped = admin.NewRaw("DROP DATABASE ? WITH (FORCE)", bun.Ident(name)).Exec(context.WithoutCancel(ctx))
		}
		return errors.Join(err, dropped, admin.Close())
	}, nil
}
