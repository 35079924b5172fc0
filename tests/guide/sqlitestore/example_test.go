package sqlitestore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/guide/sqlitestore"
)

// An application with one table, and an erasure.
func Example() {
	directory, err := os.MkdirTemp("", "habeas")
	check(err)
	defer os.RemoveAll(directory) //nolint:errcheck // a temporary directory
	path := filepath.Join(directory, "shop.db")
	ctx := context.Background()

	db, err := sql.Open("sqlite", path)
	check(err)
	defer db.Close()
	_, err = db.ExecContext(ctx, `CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT);
		INSERT INTO users VALUES (1, 'jane@example.org'), (2, 'john@example.org')`)
	check(err)

	dataMap, err := domain.NewDataMap(domain.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []domain.Column{
			{Name: "id", Type: domain.TypeBigInt},
			{Name: "email", Type: domain.TypeText, Personal: &domain.Annotation{Category: domain.CategoryContact}},
		},
	})
	check(err)
	store, err := sqlitestore.Open(path, dataMap)
	check(err)
	defer store.Close() //nolint:errcheck // nothing is lost
	check(store.CreateTables(ctx))

	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	jane, err := domain.NewSubject("1")
	check(err)
	check(store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		result, err := engines.Eraser.Erase(ctx, s, jane)
		fmt.Println("deleted:", result.Deleted)
		return err
	}))
	var left string
	check(db.QueryRowContext(ctx, `SELECT group_concat(email) FROM users`).Scan(&left))
	fmt.Println("left:", left)
	// Output:
	// deleted: map[users:1]
	// left: john@example.org
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
