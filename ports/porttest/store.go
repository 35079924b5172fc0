package porttest

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// StoreHarness opens the stores for the suites of the storage ports.
type StoreHarness struct {
	// Open opens an empty store and creates the tables of DataMap without rows. Open is called once for each case, and
	// registers its cleanup with t.Cleanup. Required.
	Open func(t testing.TB) Store

	// Waive has the cases that the store cannot pass. The key is the name of a case, as promises.md lists it. The value is
	// the reason. These cases are skipped and print the reason. TestStore fails if a key is not the name of a case. By
	// default, no case is waived.
	Waive map[string]string

	// Patience is the time that a call may take before it counts as blocked. The default for 0 is 10 s.
	Patience time.Duration
}

// Store is a store under test. Its functions prepare and inspect the database of the store directly, without the ports.
// If an optional function is nil, the cases that need it fail, unless the harness waives them.
type Store struct {
	// Sessions is the session factory under test. Required.
	Sessions ports.SessionFactory
	// Catalog is the catalog reader of the same database. TestCatalogReader requires it.
	Catalog ports.CatalogReader
	// Finder searches the same database. TestFinder and TestMaps require it.
	Finder ports.Finder

	// Insert inserts a row into a table of the application and commits it immediately. Required.
	Insert func(t testing.TB, table string, row Row)
	// Rows returns all rows of a table of the application, ordered by primary key. Required.
	Rows func(t testing.TB, table string) []Row

	// Observed returns the session factory of another store of the same kind that reports its sessions to the observer.
	Observed func(t testing.TB, observer ports.Observer) ports.SessionFactory
	// Unreachable returns another store of the same kind whose database cannot be reached. Only Sessions, Catalog and
	// Finder are used.
	Unreachable func(t testing.TB) Store
	// Tamper tries to change and to delete the audit event with this id, with the database privileges of the store. It
	// returns the error of each attempt.
	Tamper func(t testing.TB, eventID string) (change, remove error)
	// Statements returns the number of statements that the store has sent to its database so far.
	Statements func() int
	// Connections returns the number of database connections that the store currently holds.
	Connections func() int
	// Erased reads the erasure mark, the row that Lock writes to record the erasure of the subject. It returns the instant
	// of the last erasure, and false if there is no mark.
	Erased func(t testing.TB, id domain.SubjectID) (last time.Time, marked bool)
	// Entries returns all entries in the outbox, oldest first.
	Entries func(t testing.TB) []domain.OutboxEntry

	patience time.Duration // the patience of the harness, set when the store is opened
}

// Row is a row of a table of the application. The key is the name of a column. The value is nil for NULL. Otherwise the
// type of the column determines the Go type of the value:
//
//   - smallint, integer and bigint: int64
//   - number: float64
//   - boolean: bool
//   - time: time.Time, in UTC and in whole microseconds
//   - json: domain.JSON
//   - bytes: []byte
//   - text and uuid: string
type Row map[string]any
