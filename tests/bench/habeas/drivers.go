package habeas

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

// DefaultDriver is the name of the driver that the README recommends.
const DefaultDriver = "pgx"

// drivers maps names to functions that connect to PostgreSQL. The functions use pgx in one of its modes, or the driver
// of bun.
var drivers = map[string]func(databaseURL string) (*sql.DB, error){
	DefaultDriver:  pgxIn(pgx.QueryExecModeCacheStatement),
	"pgx-describe": pgxIn(pgx.QueryExecModeCacheDescribe),
	"pgx-exec":     pgxIn(pgx.QueryExecModeExec),
	"pgx-simple":   pgxIn(pgx.QueryExecModeSimpleProtocol),
	"pgdriver": func(databaseURL string) (*sql.DB, error) {
		return sql.OpenDB(pgdriver.NewConnector(pgdriver.WithDSN(databaseURL))), nil
	},
}

func pgxIn(mode pgx.QueryExecMode) func(string) (*sql.DB, error) {
	return func(databaseURL string) (*sql.DB, error) {
		config, err := pgx.ParseConfig(databaseURL)
		if err != nil {
			return nil, err
		}
		config.DefaultQueryExecMode = mode
		return stdlib.OpenDB(*config), nil
	}
}

// Drivers returns a list of the names that Open accepts, for the usage text.
func Drivers() string { return strings.Join(slices.Sorted(maps.Keys(drivers)), ", ") }

// Open opens a database with the named driver. The pool has the given number of connections and keeps them open.
func Open(databaseURL, driver string, pool int) (db *bun.DB, err error) {
	if shop.IsSQLite(databaseURL) {
		db, err = shop.Connect(databaseURL)
	} else if open, ok := drivers[driver]; ok {
		var sqldb *sql.DB
		sqldb, err = open(databaseURL)
		db = bun.NewDB(sqldb, pgdialect.New())
	} else {
		err = fmt.Errorf("there is no driver %q, only %s", driver, Drivers())
	}
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(pool)
	db.SetMaxIdleConns(pool)
	return db, nil
}
