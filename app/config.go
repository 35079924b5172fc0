package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/ports"
)

// Config is what an Integration is made of. Required are DB and either Models or DataMap, or else Stack. Every other
// field has a default.
type Config struct {
	// DB is the application's database, on pgdialect or sqlitedialect. bunstore.Migrate makes habeas' own tables in it.
	DB *bun.DB
	// Models are the application's annotated models, as pointers to structs; see bunmodels.Read for the tags.
	Models []any
	// DataMap takes the place of Models if the data map is built in Go or read from a manifest.
	DataMap domain.DataMap
	// Stack takes the place of DB and Models, and of every field below but RequestTimeout, Logger, PollInterval,
	// Workers, Health, Sweep, VerifyAfter, Journal and JournalInterval. It is for applications that wire the services
	// themselves; see package stack.
	Stack *Stack

	// Resolvers are the external systems that hold personal data. The default is none.
	Resolvers []ports.Resolver
	// OnAbandoned is called with each entry for an external system that was given up, so that a person can look into it,
	// and once with each that no process took for a day; see saga.Config. By default nothing is called. Entries that were
	// given up are then found by ports.Outbox.Abandoned, and both kinds by their events on the audit trail.
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)
	// Purposes are those that subjects can consent to, and have processing restricted for. Any other one is then refused,
	// GET /consent lists the consents in force for all of them, and audit events name them; see stack.Config. By default
	// every purpose is accepted, and there is no GET /consent.
	Purposes []domain.Purpose
	// RequestTimeout bounds each HTTP request, its evidence included. The default is 30 s.
	RequestTimeout time.Duration
	// Logger gets what fails, without any personal data. The default is slog.Default().
	Logger *slog.Logger

	// Schema is the PostgreSQL schema of habeas' own tables. The default is the connection's search path.
	Schema string
	// CustomTypes are the types of annotated fields that habeas does not know. The default is none.
	CustomTypes bunmodels.Types
	// ShareStatements lets concurrent sessions share statements on PostgreSQL, which serves more requests. Do not set it
	// if connections depend on the context that they are taken with, as for row-level security by tenant; see
	// bunstore.Options. The default is false.
	ShareStatements bool
	// TrustRowFilters says that row-level security policies and filtering views show the connection every row of a
	// subject. Without it, erasures, exports and rectifications fail if a filter might hide rows; see bunstore.Options.
	// The default is false.
	TrustRowFilters bool
	// SynchronousCommit makes erasures wait for synchronous standbys of PostgreSQL; see bunstore.Options. The default is
	// the setting of the connection.
	SynchronousCommit string
	// ReadDB is a replica of the PostgreSQL database. Exports are read from it; see bunstore.Options. By default they are
	// read from DB.
	ReadDB *bun.DB

	// PollInterval is how long the worker sleeps when the outbox is empty, unless it is woken. The default is 5 s.
	PollInterval time.Duration
	// Workers is how many batches the worker processes at once; see worker.Options. The default is 4. Saga.Concurrency
	// limits the calls at once to each system, whatever their number.
	Workers int
	// Health changes the checks of Integration.Health; see health.Options. LateAfter is that of Saga by default.
	Health health.Options
	// Clock is the source of the current time. The default is the machine's clock.
	Clock ports.Clock

	// Sweep is how often the worker looks for retained cells of erased subjects whose duty is over, and overwrites them;
	// see sweep.Sweeper. All processes share the work. A day is a good value. By default the worker does not.
	Sweep time.Duration
	// VerifyAfter is how long after an erasure the worker looks for what the erasure should have deleted or overwritten;
	// see verification.Verifier.RunOnce. The result is on the audit trail, and leftovers are in the log, too. All
	// processes share the work. Five minutes is a good value. By default the worker does not.
	VerifyAfter time.Duration
	// Journal is where the worker writes the erasures, so that a backup that is restored brings nothing back; see package
	// journal in adapters and Integration.Replay. The default is nowhere.
	Journal ports.Journal
	// JournalInterval is how long the worker pauses between lines of the journal. Whoever loses the server loses the lines
	// of the erasures since the last pause. The default is 5 s.
	JournalInterval time.Duration

	// Options are the settings of the services that few applications change: ResolverTimeout, Saga, IDs, Hooks and
	// Observer.
	stack.Options
}

// validate refuses a configuration without a database and without a stack, or with both.
func (c Config) validate() error {
	wires := c.DB != nil || len(c.Models) > 0 || !c.DataMap.IsZero()
	set := wires || c.CustomTypes != nil || c.Schema != "" || c.ShareStatements || c.TrustRowFilters ||
		c.SynchronousCommit != "" || c.ReadDB != nil || len(c.Purposes) > 0 || len(c.Resolvers) > 0 ||
		c.OnAbandoned != nil || c.Clock != nil || !stack.IsDefault(c.Options)
	switch {
	case c.Stack != nil && set:
		return domain.Misconfigured("app", "set either Stack, or DB and Models with their options, not both")
	case c.Stack != nil:
		return c.Stack.Validate()
	case !wires:
		return domain.Misconfigured("app", "set DB and Models, or Stack")
	case c.DB == nil:
		return domain.Misconfigured("app", "DB is missing")
	case (len(c.Models) > 0) == !c.DataMap.IsZero():
		return domain.Misconfigured("app", "set Models or DataMap, one of them")
	}
	return nil
}
