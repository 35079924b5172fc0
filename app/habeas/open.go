package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite", in pure Go

	"github.com/habeas-data/habeas/adapters/cli"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxalive"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

// connectTimeout bounds how long a connection is waited for, unless the URL says so.
const connectTimeout = 10 * time.Second

// settings are the flags of the program.
type settings struct {
	dataMap, databaseURL, schema string
	env                          func(string) string
}

// open reads the data map and opens the database. It opens no connection.
func (s *settings) open(context.Context) (cli.Application, error) {
	file, address := cmp.Or(s.dataMap, s.env("HABEAS_DATA_MAP")), cmp.Or(s.databaseURL, s.env("HABEAS_DATABASE_URL"))
	switch {
	case file == "":
		return nil, refused("name the data map by --data-map or HABEAS_DATA_MAP")
	case address == "":
		return nil, refused("name the database by --database-url or HABEAS_DATABASE_URL")
	}
	dataMap, err := readDataMap(file)
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(address)
	if err != nil {
		return nil, err
	}
	return app.New(app.Config{
		DB: db, DataMap: dataMap, Schema: s.schema, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

func refused(message string) error { return &cli.Error{Code: cli.ExitFailed, Text: message} }

func readDataMap(name string) (domain.DataMap, error) {
	file, err := os.Open(name) //nolint:gosec // the operator names it
	switch {
	case errors.Is(err, os.ErrNotExist):
		return domain.DataMap{}, refused("there is no file of the data map; check --data-map or HABEAS_DATA_MAP")
	case err != nil:
		return domain.DataMap{}, refused("the file of the data map cannot be read; check its rights")
	}
	defer func() { _ = file.Close() }()
	return manifest.Read(file)
}

// openDatabase opens postgres://... or sqlite:FILE. Its errors repeat nothing of the address.
func openDatabase(address string) (*bun.DB, error) {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return openSQLite(strings.TrimPrefix(path, "//"))
	}
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return nil, refused("the address of the database must begin with postgres:// or sqlite:")
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, refused("the address of the database is not a valid postgres:// URL")
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	if err := pgxalive.Watch(config, pgxalive.Options{}); err != nil { // for a server that freezes
		return nil, err
	}
	return bun.NewDB(stdlib.OpenDB(*config), pgdialect.New()), nil
}

// openSQLite opens a file that is there. A new one would be an empty database, in which no subject is found.
func openSQLite(path string) (*bun.DB, error) {
	if path == "" {
		return nil, refused("the address of the database has no file, like sqlite:shop.db")
	}
	options := url.Values{"mode": {"rw"}, "_pragma": {"foreign_keys(1)", "busy_timeout(5000)"}}
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	sqldb, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, refused("the file of the database cannot be opened")
	}
	return bun.NewDB(sqldb, sqlitedialect.New()), nil
}
