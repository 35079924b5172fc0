package porttest

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// StoreHarness makes what the suites of the storage ports work with.
type StoreHarness struct {
	// Open returns an empty store for the tables of DataMap, which exist and are empty, too. It is called once for each
	// case. What has to be cleaned up is registered with t.Cleanup. Required.
	Open func(t testing.TB) Store

	// Waive says which cases the store cannot pass and why, by the name of the case. They are skipped, and print the
	// reason. Nothing is waived by default; a name that no suite has is a failure of TestStore.
	Waive map[string]string

	// Patience is how long something may take that must not block; 0 means 10 s.
	Patience time.Duration
}

// Store is a store under test, and the ways past its ports that a suite needs to see what it did.
type Store struct {
	// Sessions is what is tested. Required.
	Sessions ports.SessionFactory

	// Insert adds a row to one of the application's tables, past the ports and committed at once. Required.
	Insert func(t testing.TB, table string, row Row)
	// Rows returns all rows of one of the application's tables, by primary key, past the ports. Required.
	Rows func(t testing.TB, table string) []Row

	// Observed returns the session factory of a store like this one that tells an observer of its sessions.
	Observed func(t testing.TB, observer ports.Observer) ports.SessionFactory
	// Unreachable returns the session factory of a store like this one whose database cannot be reached.
	Unreachable func(t testing.TB) ports.SessionFactory
	// Tamper tries to change the audit event and to delete it, past the ports but with the rights of the store, and
	// returns the error of each attempt.
	Tamper func(t testing.TB, eventID string) (change, remove error)
	// Statements returns how many statements the store has sent to its database so far.
	Statements func() int
	// Connections returns how many connections to its database the store holds at the moment.
	Connections func() int
	// Erased returns the mark that erasures of the subject left: the instant of the last one, and whether there is any.
	Erased func(t testing.TB, id domain.SubjectID) (last time.Time, marked bool)
	// Entries returns the whole outbox as it is stored, oldest first, past the ports.
	Entries func(t testing.TB) []domain.OutboxEntry

	patience time.Duration // the harness's, once the store is open
}

// Row is a row of an application's table, by column. A value is nil for NULL, or for the type of its column: int64 for
// smallint, integer and bigint, float64 for number, bool for boolean, time.Time in UTC and whole microseconds for time,
// domain.JSON for json, []byte for bytes, and string for text and uuid.
type Row map[string]any
