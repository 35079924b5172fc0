package porttest

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// StoreHarness creates the stores for the suites of the storage ports.
type StoreHarness struct {
	// Open returns an empty store and creates the empty tables of DataMap. Open is called once for each case, and
	// registers its cleanup with t.Cleanup. Required.
	Open func(t testing.TB) Store

	// Waive maps the names of cases that the store cannot pass to reasons. These cases are skipped and print their reason.
	// TestStore fails if a name is not a case. By default no case is waived.
	Waive map[string]string

	// Patience is the time that a call may take before it counts as blocked. The default for 0 is 10 s.
	Patience time.Duration
}

// Store is a store under test, with functions that set up and inspect its database without the ports.
type Store struct {
	// Sessions is the session factory under test. Required.
	Sessions ports.SessionFactory

	// Insert adds a row to an application's table without the ports, and commits it immediately. Required.
	Insert func(t testing.TB, table string, row Row)
	// Rows returns all rows of an application's table without the ports, ordered by primary key. Required.
	Rows func(t testing.TB, table string) []Row

	// Observed returns the session factory of a similar store that reports its sessions to the observer.
	Observed func(t testing.TB, observer ports.Observer) ports.SessionFactory
	// Unreachable returns the session factory of a similar store whose database cannot be reached.
	Unreachable func(t testing.TB) ports.SessionFactory
	// Tamper tries to change and to delete the audit event, without the ports but with the database rights of the store.
	// It returns the error of each attempt.
	Tamper func(t testing.TB, eventID string) (change, remove error)
	// Statements returns the number of statements that the store has sent to its database.
	Statements func() int
	// Connections returns the number of database connections that the store currently holds.
	Connections func() int
	// Erased returns the instant of the last erasure of the subject, and whether the subject has a mark.
	Erased func(t testing.TB, id domain.SubjectID) (last time.Time, marked bool)
	// Entries returns all stored entries of the outbox without the ports, oldest first.
	Entries func(t testing.TB) []domain.OutboxEntry

	patience time.Duration // the patience of the harness, set when the store is opened
}

// Row is a row of an application's table, by column. A value is nil for NULL. Otherwise its Go type follows from the
// type of the column:
//
// int64 for smallint, integer and bigint, float64 for number, bool for boolean, time.Time in UTC and whole microseconds
// for time, domain.JSON for json, []byte for bytes, and string for text and uuid.
type Row map[string]any
