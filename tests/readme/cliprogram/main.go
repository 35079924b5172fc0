// Command cliprogram is the program with the commands of habeas that docs/operating.md shows.
package main

import (
	"context"
	"database/sql"
	"log"
	"os"

	"github.com/spf13/cobra"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/tool/cli"
)

type User struct {
	bun.BaseModel `bun:"table:users"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact"`
	Theme string `bun:"theme"`
}

// newCommand returns the command of operators.
func newCommand(db *bun.DB) (*cobra.Command, error) {
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*User)(nil)}})
	if err != nil {
		return nil, err
	}
	return cli.New(gdpr.Operator()), nil
}

func open(ctx context.Context, file string) (*bun.DB, error) {
	connections, err := sql.Open("sqlite", "file:"+file+"?_pragma=foreign_keys(1)&_pragma=journal_mode(wal)")
	if err != nil {
		return nil, err
	}
	db := bun.NewDB(connections, sqlitedialect.New())
	if _, err := db.NewCreateTable().Model((*User)(nil)).IfNotExists().Exec(ctx); err != nil {
		return nil, err
	}
	return db, bunstore.Migrate(ctx, db, bunstore.Options{})
}

func main() {
	db, err := open(context.Background(), "shop.db")
	if err != nil {
		log.Fatal(err)
	}
	command, err := newCommand(db)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(cli.Main(command))
}
