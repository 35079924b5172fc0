package main

import (
	"context"
	"database/sql"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

// patience is how long a person at the dialogue waits for the rows of a table.
const patience = 5 * time.Second

// sampled is the number of rows in which Examples looks for different values.
const sampled = 1000

// rowReader implements cli.RowReader.
type rowReader struct {
	ports.CatalogReader
	db *bun.DB
}

// openRows opens the database for the command decide. Without the URL of a database, it returns nil.
func (s *settings) openRows(context.Context) (cli.RowReader, error) {
	db, err := s.openDatabase()
	if err != nil {
		return nil, err
	}
	schema, err := bunstore.NewSchema(db, bunstore.Options{TrustEncoding: s.trustEncoding})
	return rowReader{schema, db}, err
}

// CountRows implements cli.RowReader.
func (r rowReader) CountRows(ctx context.Context, table string, most int) (n int, err error) {
	err = r.read(ctx, func(ctx context.Context, db bun.IDB) error {
		return db.NewRaw("SELECT count(*) FROM (SELECT 1 FROM ? LIMIT ?) AS few", bun.Ident(table), most).Scan(ctx, &n)
	})
	return n, err
}

// Examples implements cli.RowReader.
func (r rowReader) Examples(
	ctx context.Context, table, column string, most int,
) (values []domain.PrivateValue, err error) {
	var texts []string
	err = r.read(ctx, func(ctx context.Context, db bun.IDB) error {
		return db.NewRaw(`SELECT DISTINCT substr(CAST(value AS text), 1, 200) FROM (
			SELECT ? AS value FROM ? WHERE ? IS NOT NULL LIMIT ?) AS few LIMIT ?`,
			bun.Ident(column), bun.Ident(table), bun.Ident(column), sampled, most).Scan(ctx, &texts)
	})
	for _, text := range texts {
		values = append(values, domain.NewPrivateValue(text))
	}
	return values, err
}

// read reads in a transaction that cannot write, because a view or a policy of the table may call functions. The
// driver of SQLite has no such transactions.
func (r rowReader) read(ctx context.Context, do func(context.Context, bun.IDB) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	options := &sql.TxOptions{ReadOnly: r.db.Dialect().Name() == dialect.PG}
	return r.db.RunInTx(ctx, options, func(ctx context.Context, tx bun.Tx) error { return do(ctx, tx) })
}
