package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain/datamap"
)

// InstallationStore reads and changes the installation: the identity of one set of the tables of habeas, and the data
// map to which they belong (see datamap.Installation).
//
// Each session compares the data map of its store with the installation before it reads or writes anything else. If
// they differ, the session fails with a datamap.ForeignMapError. The first session that writes records the data map
// instead, and the record counts when that session has committed. Rehearsals and sessions that only read do not record
// it. A store may remember that its data map was recorded in a committed session, and then skip the comparison. While
// an open session records another data map, a session that would record its own may fail with domain.ErrConflict.
type InstallationStore interface {
	// Duties returns the state of the background duties.
	Duties() DutyStore

	// Read returns the installation.
	Read(ctx context.Context) (datamap.Installation, error)

	// Accept records the data map of the store, whatever the installation recorded before, and returns the installation
	// before the change. It is the only way to go on after the subject's table was renamed or the type of its key was
	// changed. Call it before any other method of the session, because the other methods would fail.
	Accept(ctx context.Context) (before datamap.Installation, err error)

	// Renew gives the installation a new random id, adds the former id to its ancestors, and returns the new installation.
	// A clone of a database that lives on beside the original needs it, so that journal lines of the original are no
	// longer lines of the clone. The ancestor is valid up to the highest Intake of the erasure marks that exist now.
	Renew(ctx context.Context) (datamap.Installation, error)

	// Started records, for the process whose worker starts, the resolvers of its erasures and whether hooks run with them.
	// It replaces the record of an earlier start.
	Started(ctx context.Context, worker datamap.StartedWorker) error

	// Registers records that the application calls Registered for new people (datamap.Installation.Registers). Only the
	// first call changes anything. A session waits for the first call of another session.
	Registers(ctx context.Context) error

	// RetentionSince returns the instant since which the retention duties of the data map have the given hash. If another
	// hash or none is recorded, RetentionSince records the hash with the instant at, and returns at.
	RetentionSince(ctx context.Context, hash int64, at time.Time) (since time.Time, err error)

	// RaiseSequences makes sure that the next record of each ledger, the next audit event and the next erasure mark get
	// higher sequence numbers than all existing ones. In addition, the next erasure mark gets a higher Intake than the
	// parameter intake. Sequences that are high enough do not change. It is needed after a restore and after a switch to a
	// logical replica, because logical replication copies no sequences. RaiseSequences returns domain.ErrConfiguration if
	// it lacks a privilege on a sequence.
	RaiseSequences(ctx context.Context, intake int64) error

	// LowSequences returns the sequences of the application from which the database takes the next id of a subject, if
	// their next number is at most the parameter highest. A person who registers could then get the id of an erased
	// person. The result also has sequences whose next number cannot be read. It names a sequence in the way in which an
	// operator can use it.
	LowSequences(ctx context.Context, highest int64) ([]string, error)
}
