package bunstore

import (
	"log/slog"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Options change what New does by default. The zero value is ready for use.
type Options struct {
	// Schema is the PostgreSQL schema that holds the tables of habeas. The default is whatever the search path
	// of the connection says. SQLite has none.
	Schema string

	// Enqueued is called after a commit that gave the outbox new work, so that a worker in this process can be woken at
	// once. It must return at once. The default is nothing. A session that joined a transaction of the application
	// does not know when that commits and does not call it.
	Enqueued func()

	// ShareStatements lets sessions that come at the same time share statements on PostgreSQL: those that only ask whether
	// consent is in force, and those that only append records. It serves more requests with less work, and changes nothing
	// for them; a query hook sees a shared statement once, under a context that has the values of one of the sessions'.
	// It must not be set where a connection depends on the context that it is taken with: where a hook of the driver or
	// the pool sets a search path, a role or a variable for row-level security by a value of the context, say, a session
	// would see the rows of another tenant. A transaction of the application that has appended to the ledger of a subject
	// keeps other appends for that subject waiting until it ends, and those that share their statement. The default is
	// false.
	ShareStatements bool

	// TrustRowFilters says that row-level security policies and filtering views show this role every row of a subject.
	// Without it, an erasure, an export or a rectification is domain.ErrConfiguration if row-level security is active for
	// this role on a table of the data map, or if such a table is a view that leaves rows out: what the database hides
	// would neither be erased nor exported. The default is false.
	TrustRowFilters bool

	// SynchronousCommit is the setting synchronous_commit of PostgreSQL for sessions that erase: CommitOn,
	// CommitRemoteWrite or CommitRemoteApply. An erasure is then acknowledged once the synchronous standbys have it, also
	// where the application's other transactions do not wait for them. In a transaction of the application that an
	// erasure joins, it holds until that transaction ends. It has no effect on a server without synchronous standbys. The
	// default is the setting of the connection.
	SynchronousCommit string

	// ReadDB is a handle on a physical replica of the PostgreSQL database, from which exports are then read; everything
	// else, the events of exports included, concerns the primary. A replica that has not seen all erasures of the
	// subject that were committed when the export began, or that cannot be reached, is left out: the primary is read. In
	// everything else an export is as old as the replica is. Exports that join a transaction of the application are read
	// there. The default is nil: exports are read from the primary.
	ReadDB *bun.DB

	// Observer is told of each session: its duration, its outcome, and how often it was tried again. The default is none.
	Observer ports.Observer

	// Logger gets warnings about the application's tables, without any personal data: tables into which triggers copy old
	// values, each of them once. The default is slog.Default().
	Logger *slog.Logger
}

// The values of Options.SynchronousCommit.
const (
	// CommitOn waits until synchronous standbys have the commit on their disks.
	CommitOn = "on"
	// CommitRemoteWrite waits until they have written it, which a crash of their machine may lose.
	CommitRemoteWrite = "remote_write"
	// CommitRemoteApply waits until those who read from them see it.
	CommitRemoteApply = "remote_apply"
)

// check refuses what the database does not have, or what would not wait.
func (o Options) check(d sqltext.Dialect) error {
	switch {
	case o.SynchronousCommit != "" && !d.HasStandbys():
		return domain.Misconfigured("bunstore", "SynchronousCommit is for PostgreSQL")
	case !slices.Contains([]string{"", CommitOn, CommitRemoteWrite, CommitRemoteApply}, o.SynchronousCommit):
		return domain.Misconfigured("bunstore", "SynchronousCommit must be on, remote_write or remote_apply")
	case o.ReadDB != nil && (!d.HasStandbys() || o.ReadDB.Dialect().Name() != dialect.PG):
		return domain.Misconfigured("bunstore", "ReadDB must be a replica of a PostgreSQL database")
	}
	return nil
}
