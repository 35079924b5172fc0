package sqlitestore

import (
	"context"
	"database/sql"
	_ "embed"
	"net/url"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// What every connection is set to. The wait for a lock is short, because no context can end it: begin waits on. What is
// deleted is overwritten. A name in double quotes that the database does not know is an error, not a text.
const settings = "?_pragma=busy_timeout(20)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" +
	"&_pragma=secure_delete(1)&_dqs=0"

//go:embed schema.sql
var schema string

// Store opens sessions on an SQLite database. It is safe for concurrent use.
type Store struct {
	db         *sql.DB
	dataMap    domain.DataMap
	statements atomic.Int64 // how many were sent
}

var _ ports.SessionFactory = (*Store)(nil)

// Open returns a store for the database in a file, with the application's tables that the data map describes. It does not
// touch the file yet. An empty data map is domain.ErrConfiguration; a constant to anonymize with that does not fit its
// column is domain.ErrManifest.
func Open(path string, dataMap domain.DataMap) (*Store, error) {
	if dataMap.IsZero() {
		return nil, &domain.Error{Code: domain.ErrConfiguration, Op: "sqlite", Message: "the data map is empty"}
	}
	for _, table := range dataMap.Tables() {
		for _, column := range table.Personal() {
			if _, _, ok := surrogate(column); !ok {
				return nil, manifestError("sqlite", table.Name+"."+column.Name+": its surrogate does not fit its type")
			}
		}
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+settings)
	if err != nil {
		return nil, failure(context.Background(), err)
	}
	return &Store{db: db, dataMap: dataMap}, nil
}

// CreateTables makes the tables of habeas, unless they are there.
func (s *Store) CreateTables(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, schema); err != nil {
		return failure(ctx, err)
	}
	return nil
}

// Close closes the database.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return failure(context.Background(), err)
	}
	return nil
}
