package pgxalive_test

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxalive"
)

// An application opens its database on a primary and a standby.
func ExampleWatch() {
	open := func(databaseURL string) (*bun.DB, error) {
		config, err := pgx.ParseConfig(databaseURL)
		if err != nil {
			return nil, err
		}
		if err := pgxalive.Watch(config, pgxalive.Options{}); err != nil {
			return nil, err
		}
		return bun.NewDB(stdlib.OpenDB(*config), pgdialect.New()), nil
	}
	_, _ = open("postgres://app@db1,db2/shop?target_session_attrs=read-write&connect_timeout=2")
	// Output:
}
