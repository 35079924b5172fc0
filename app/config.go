package app

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/ports"
)

// Config has the settings of an Integration. An application sets DB and either Models or DataMap. An application that
// creates the services itself sets Stack instead. Every other field has a default.
type Config struct {
	// DB is the database of the application, with the dialect pgdialect or sqlitedialect. Integration.Migrate creates the
	// tables of habeas in it. If Stack is nil, DB is required.
	DB *bun.DB
	// Models are pointers to the annotated structs of the application, such as (*User)(nil). See bunmodels.Read for the
	// struct tags. Set either Models or DataMap.
	Models []any
	// DataMap lists the tables, columns and keys that hold personal data. Set it instead of Models if the data map is
	// built in Go or read from a manifest.
	DataMap datamap.DataMap
	// Stack has the services of habeas, if the application creates the services itself, for example with stack.New. If
	// Stack is set, only these other fields may be set: RequestTimeout, Logger, PollInterval, Workers, Health,
	// SweepInterval, VerifyAfter, Journal, JournalKey and JournalInterval. The default is nil: New creates the services
	// on DB.
	Stack *Stack

	// Resolvers, OnAbandoned and Purposes are settings of the services; see the fields of stack.Config. With Purposes, the
	// route GET /consent returns the consent for each listed purpose and the other consents in force. Without, the route
	// does not exist. Operator.Abandoned returns the entries that were given up.
	Resolvers   []ports.Resolver
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)
	Purposes    []domain.Purpose
	// Accepted are findings of check.Run that a person has accepted, each with a reason and an end. Such a finding is left
	// out until its end. An acceptance never makes New, an erasure or another operation accept what they refuse. A
	// manifest can have accepted findings, too. The default is empty.
	Accepted []datamap.Acceptance
	// LeftOut are the tables of the database that stay out of the data map because a person has decided so, each with the
	// columns that the person saw and a reason. A check of the data map asks about all others that may hold data about
	// people, and about columns that these tables get later. The default is empty.
	LeftOut []datamap.LeftOut
	// Zone is the time zone of the calendar years of retention duties (the tag option from:year_end), such as
	// Europe/Berlin. The default is the zone of a manifest or of the tags, and UTC without one.
	Zone string
	// RequestTimeout is the time limit of each HTTP request, including the time to write its audit events. The default is
	// 30 s.
	RequestTimeout time.Duration
	// Logger receives failures and warnings. No log record contains personal data. The default is slog.Default().
	Logger *slog.Logger

	// Schema is the PostgreSQL schema of the tables of habeas. The default is the search path of the connection.
	Schema string
	// Name distinguishes several data maps in one database, such as those of customers and of employees. Each Name has
	// tables of its own, called habeas_<name>_…. A Name has 1 to 20 of the characters a to z and 0 to 9. The default is
	// "": the tables are called habeas_…. If the tables belong to a data map with another subject table or other key
	// columns, each session fails, see datamap.ForeignMapError.
	Name string
	// CustomTypes maps Go types of annotated fields to column types. It is needed for Go types that bunmodels does not
	// know. The default is empty.
	CustomTypes bunmodels.Types
	// TrustRowFilters declares that no row-level security policy and no view hides rows of a subject from the
	// connections of DB. The default is false: erasures, exports and rectifications fail if a filter might hide rows. See
	// bunstore.Options.
	TrustRowFilters bool
	// TrustEncoding declares that all texts of a PostgreSQL database with the encoding SQL_ASCII are in UTF-8. The default
	// is false: such a database is refused. See bunstore.Options.
	TrustEncoding bool
	// SynchronousCommit is the value of the PostgreSQL setting synchronous_commit for transactions that erase. With a
	// value, the commit of an erasure waits for the synchronous standbys. See bunstore.Options for the values. The default
	// is the setting of the connection.
	SynchronousCommit string
	// ReadDB is a physical replica of the PostgreSQL database. Exports read from it if possible. See bunstore.Options. The
	// default is nil: exports read from DB.
	ReadDB *bun.DB

	// PollInterval is the interval at which the worker looks for due outbox entries while it has none. If Stack is nil,
	// the worker also looks after each commit of a session in this process that has added entries, but not after the
	// commit of a joined transaction (see Integration.Join). The default is 5 s.
	PollInterval time.Duration
	// Workers is the number of loops in which the worker processes batches of outbox entries. See worker.Options. The
	// default is 4. The field Saga limits the concurrent calls to each system, independently of Workers.
	Workers int
	// Health has the settings of Integration.Health. See health.Options.
	Health health.Options
	// Clock is the clock of the services and of the worker; see stack.Config.
	Clock ports.Clock

	// SweepInterval is the minimum time from the begin of one sweep of all erased subjects to the begin of the next one. A
	// sweep overwrites retained cells after the end of their retention period (storage limitation, Art. 5(1)(e) GDPR). See
	// sweep.Sweeper. If several processes run workers, they share each sweep. One day is a good value. The default is
	// zero: the worker does not sweep.
	SweepInterval time.Duration
	// VerifyAfter is the delay after which the worker verifies an erasure (Art. 17 GDPR). A verification searches for rows
	// and values that the erasure should have deleted or overwritten. It records the result in the audit trail, and logs a
	// warning for each table and column with such a row or value. See verification.Verifier.RunOnce, also for the erasures
	// that are skipped. If several processes run workers, one of them verifies the erasure. Five minutes is a good value.
	// The default is zero: the worker does not verify.
	VerifyAfter time.Duration
	// Journal is a file or an object store outside the database. The worker appends a line for each erasure. After a
	// backup is restored, Operator.Replay reads these lines and repeats the erasures that the restore has undone. See
	// package journal in adapters. The default is nil: the worker writes no journal.
	Journal ports.Journal
	// JournalKey signs the lines of Journal and of Operator.Journal. Operator.Replay then repeats only erasures of lines
	// with this signature: without it, a changed line erases somebody else. Use a random key of 32 bytes, and keep it
	// apart from the journal and from the database. The default is nil: lines are not signed.
	JournalKey []byte
	// JournalInterval is the pause of the worker after it has written the lines of all new erasures to Journal. After a
	// loss of the database, the erasures since the last write are missing in the journal. The default is 5 s.
	JournalInterval time.Duration

	// Options has settings that few applications change: ResolverTimeout, Saga, TempDir, IDs, Hooks and
	// Observer.
	stack.Options
}

// validate returns domain.ErrConfiguration if neither a database nor a stack is set, or if the fields that are set
// exclude each other.
func (c Config) validate() error {
	hasModels, hasMap := len(c.Models) > 0, !c.DataMap.IsZero()
	switch {
	case c.Stack != nil && c.setsServices():
		return domain.Misconfigured("app", "Stack replaces DB, Models and their options: set Stack or these fields, not both")
	case c.Stack != nil:
		return c.Stack.Validate()
	case c.DB == nil && !hasModels && !hasMap:
		return domain.Misconfigured("app", "set DB and Models, or Stack")
	case c.DB == nil:
		return domain.Misconfigured("app", "DB is missing: set the database")
	case hasModels == hasMap:
		return domain.Misconfigured("app", "set exactly one of Models and DataMap")
	}
	return nil
}

// setsServices reports whether a field is set that has no effect beside Stack.
func (c Config) setsServices() bool {
	return c.DB != nil || c.ReadDB != nil || !c.DataMap.IsZero() || c.OnAbandoned != nil || c.Clock != nil ||
		len(c.Models)+len(c.Resolvers)+len(c.Purposes)+len(c.Accepted)+len(c.LeftOut)+len(c.CustomTypes) > 0 ||
		cmp.Or(c.Zone, c.Schema, c.Name, c.SynchronousCommit) != "" || c.TrustRowFilters || c.TrustEncoding ||
		!c.IsZero()
}
