package recipe

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// The application of docs/several-servers.md opens its database.
func Example() {
	open := func() (*bun.DB, error) {
		config, err := pgx.ParseConfig("postgres://app@db1,db2/shop?sslmode=verify-full" +
			"&target_session_attrs=read-write&connect_timeout=2")
		if err != nil {
			return nil, err
		}
		LimitSilence(config)
		db := bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
		db.SetMaxOpenConns(20)
		db.SetMaxIdleConns(20)
		db.SetConnMaxIdleTime(time.Second)
		return db, nil
	}
	_, _ = open()
	// Output:
}
