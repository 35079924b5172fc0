package bunstore

import (
	"log/slog"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Options change the defaults of New. The zero value is ready for use.
type Options struct {
	// Schema is the PostgreSQL schema that holds the tables of habeas. By default, the search path of the connection
	// selects the schema. On SQLite, Schema must be empty.
	Schema string

	// Name distinguishes several data maps in one database, for example of customers and of employees. The tables and all
	// other objects of habeas for this data map are called habeas_<name>_…, and no other data map reads or changes them.
	// It has 1 to 20 of the characters a to z and 0 to 9. The default is "": the objects are called habeas_….
	Name string

	// Enqueued is called after each commit that added work to the outbox, so that a worker in this process can start
	// immediately. It must not block. By default, no function is called. A session in a transaction of the application
	// (see Store.Join) never calls it, because the store does not see the commit.
	Enqueued func()

	// TrustRowFilters states that row-level security and views hide no row of a subject from the role of the store. The
	// store cannot erase or export rows that the database hides from its role. To trust only one view, set
	// datamap.Table.Trusted.
	//
	// By default, TrustRowFilters is false. Erasures, exports and rectifications then return domain.ErrConfiguration if
	// row-level security is active for this role on a table of the data map. They return the same error if such a table
	// is a view that is not plain (see datamap.Table.Trusted).
	TrustRowFilters bool

	// TrustEncoding states that all texts of a PostgreSQL database with the encoding SQL_ASCII are in UTF-8. A server with
	// this encoding does not know the encoding of its texts. By default, TrustEncoding is false, and Migrate and each
	// session return domain.ErrConfiguration on such a server. A connection whose client_encoding is not UTF8 is refused
	// in any case, because the driver would read and write other characters than the application.
	TrustEncoding bool

	// SynchronousCommit sets synchronous_commit of PostgreSQL for sessions that erase: CommitOn, CommitRemoteWrite or
	// CommitRemoteApply. The commit of an erasure then waits for the synchronous standbys, even if the application's
	// other transactions do not wait. If an erasure joins a transaction of the application, the setting holds until that
	// transaction ends. The setting has no effect on a server without synchronous standbys. The default is the setting of
	// the connection.
	SynchronousCommit string

	// ReadDB is a handle on a physical replica of the PostgreSQL database. Exports then read from the replica. All other
	// statements, including the audit events of exports, go to the primary, which is the database that New gets.
	//
	// An export reads from the primary if the replica is unreachable, or if the replica lacks an erasure of the subject
	// that was committed before the export began. All other exported data may be as old as the replication lag. An export
	// in a transaction of the application (see Store.Join) reads in that transaction. By default, exports read from the
	// primary.
	ReadDB *bun.DB

	// Register makes an export also read the open requests of the subject and whether a legal hold stands, in its own
	// statement on PostgreSQL. ports.RequestStore.Standing then needs no statement in the session of the export. Set it if
	// the application keeps a register of requests. By default, exports do not read the register.
	Register bool

	// Observer is notified of each session with its duration, its outcome and its number of retries. By default, no
	// observer is notified.
	Observer ports.Observer

	// Logger receives warnings about triggers of the data map's tables that may copy old values to places that no erasure
	// reaches. There is one warning for each table outside the data map to which a trigger writes, and one for each
	// trigger whose target tables the store cannot determine. Each warning is logged once. The warnings contain no
	// personal data. The default is slog.Default().
	Logger *slog.Logger
}

// The values of Options.SynchronousCommit.
const (
	// CommitOn waits until the synchronous standbys have flushed the commit to disk.
	CommitOn = "on"
	// CommitRemoteWrite waits until the synchronous standbys have written the commit to their operating system. A crash
	// of a standby's machine may lose the commit.
	CommitRemoteWrite = "remote_write"
	// CommitRemoteApply waits until the synchronous standbys have applied the commit, so that reads on them see it.
	CommitRemoteApply = "remote_apply"
)

// check returns an error if the database does not support an option, or if SynchronousCommit is a value that does not
// wait for standbys.
func (o Options) check(d syntax.Dialect) error {
	if err := datamap.CheckMapName("bunstore", o.Name); err != nil {
		return err
	}
	switch {
	case o.SynchronousCommit != "" && d != syntax.Postgres:
		return domain.Misconfigured("bunstore", "SynchronousCommit must be empty: only PostgreSQL has this setting")
	case !slices.Contains([]string{"", CommitOn, CommitRemoteWrite, CommitRemoteApply}, o.SynchronousCommit):
		return domain.Misconfigured("bunstore", "SynchronousCommit must be on, remote_write or remote_apply")
	case o.ReadDB != nil && (d != syntax.Postgres || o.ReadDB.Dialect().Name() != dialect.PG):
		return domain.Misconfigured("bunstore", "ReadDB must be a replica of a PostgreSQL database, opened with pgdialect")
	}
	return nil
}

func dialectOf(db *bun.DB, schema string) (syntax.Dialect, error) {
	switch db.Dialect().Name() { //nolint:exhaustive // default refuses all other dialects
	case dialect.PG:
		return syntax.Postgres, nil
	case dialect.SQLite:
		if schema != "" {
			return nil, domain.Misconfigured("bunstore", "Schema must be empty: SQLite has no schemas")
		}
		return syntax.SQLite, nil
	default:
		return nil, domain.Misconfigured("bunstore", "the dialect must be pgdialect or sqlitedialect")
	}
}
