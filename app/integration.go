// Package app wires habeas into an application: from the application's own models and database to a router, in a few
// lines.
package app

import (
	"context"
	"log/slog"
	"reflect"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

// Config says what an Integration is made of: either DB with Models (or DataMap), or Stack. Everything else is
// optional.
type Config struct {
	// DB is the application's database, on pgdialect or sqlitedialect. Its tables for habeas are made by
	// bunstore.Migrate.
	DB *bun.DB
	// Models are the application's annotated models, as pointers to structs; see bunstore.ReadModels for the tags.
	Models []any
	// DataMap takes the place of Models where the data map is built in Go or read from a manifest.
	DataMap domain.DataMap
	// CustomTypes are the types of annotated fields that habeas does not know. The default is none.
	CustomTypes bunstore.CustomTypes
	// Schema is the PostgreSQL schema of habeas' own tables. The default is the connection's search path.
	Schema string
	// ShareStatements lets sessions that come at the same time share statements on PostgreSQL, which serves more requests.
	// It must not be set where a connection depends on the context that it is taken with, as for row-level security by
	// tenant; see bunstore.Options. The default is false.
	ShareStatements bool
	// TrustRowFilters says that row-level security policies and filtering views show the connection every row of a subject.
	// Without it, erasures, exports and rectifications fail where they might not; see bunstore.Options. The default is
	// false.
	TrustRowFilters bool
	// SynchronousCommit makes erasures wait for synchronous standbys of PostgreSQL; see bunstore.Options. The default is
	// the setting of the connection.
	SynchronousCommit string
	// ReadDB is a replica of the PostgreSQL database that exports are read from; see bunstore.Options. The default is nil:
	// they are read from DB.
	ReadDB *bun.DB
	// Purposes are those that subjects can consent to, and have processing restricted for. Any other one is then refused,
	// GET /consent lists the consents in force for all of them, and audit events name them; see stack.Config. The default
	// is none: every purpose will do, and GET /consent is not there.
	Purposes []domain.Purpose
	// Resolvers are the external systems that hold personal data. The default is none.
	Resolvers []ports.Resolver
	// ResolverTimeout bounds the wait for each of them in an export. The default is 10 s.
	ResolverTimeout time.Duration
	// OnAbandoned is called with each entry for an external system that was given up, so that a person can look into it,
	// and once with each that no process took for a day; see saga.Config. The default is nothing: the former are then
	// found by ports.Outbox.Abandoned only, and both by their events on the audit trail.
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)
	// Saga says how external systems are called: how many entries are claimed at once, how often a call is tried, and so
	// on. Its zero value has the defaults. Sessions, Clock, IDs, Resolvers and OnAbandoned must be left out of it.
	Saga saga.Config
	// Clock and IDs are for tests. The defaults are the machine's clock and UUIDs of version 7.
	Clock ports.Clock
	IDs   ports.IDSource

	// Stack takes the place of all of the above in an application that wires the engines itself.
	Stack *Stack

	// PollInterval is how long the worker sleeps when the outbox is empty, unless it is woken. The default is 5 s.
	PollInterval time.Duration
	// Workers is how many batches the worker has under way at once, each with Saga.Concurrency calls; see worker.Options.
	// The default is 1.
	Workers int
	// RequestTimeout bounds each HTTP request, its evidence included. The default is 30 s.
	RequestTimeout time.Duration
	// Logger gets what fails, without any personal data. The default is slog.Default().
	Logger *slog.Logger
}

// Integration is habeas in an application. It is safe for concurrent use.
type Integration struct {
	stack    Stack
	store    *bunstore.Store // nil when the stack was prewired
	sessions *SessionDependency
	worker   *worker.SagaWorker
	api      *httpapi.API
	mounts   mounts
}

// New wires an Integration. It opens no connection. Everything that can be wrong with the configuration
// (domain.ErrConfiguration), the models (domain.ErrManifest) or the erasure plan that follows from them
// (domain.ErrManifest, domain.ErrRetention) is found here, with the table and the column named.
func New(c Config) (*Integration, error) {
	i := &Integration{}
	stack, store, err := c.stack(func() { i.worker.Wake() })
	if err != nil {
		return nil, err
	}
	i.stack, i.store = stack, store
	i.worker, err = worker.New(stack.Runner, worker.Options{PollInterval: c.PollInterval, Workers: c.Workers, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	i.sessions = newSessionDependency(stack.Sessions)
	i.api, err = stack.API(httpapi.Config{Sessions: i.sessions, Timeout: c.RequestTimeout, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (c Config) stack(wake func()) (Stack, *bunstore.Store, error) {
	wires := c.DB != nil || len(c.Models) > 0 || !c.DataMap.IsZero()
	switch {
	case c.Stack != nil && (wires || len(c.Resolvers) > 0 || c.CustomTypes != nil || c.Schema != "" || c.ShareStatements ||
		c.TrustRowFilters || c.SynchronousCommit != "" || c.ReadDB != nil || len(c.Purposes) > 0 ||
		c.ResolverTimeout != 0 || c.OnAbandoned != nil || !reflect.ValueOf(c.Saga).IsZero() || c.Clock != nil || c.IDs != nil):
		return Stack{}, nil, configurationError("set either Stack, or DB and Models with their options, not both")
	case c.Stack != nil:
		return *c.Stack, nil, c.Stack.Validate()
	case !wires:
		return Stack{}, nil, configurationError("set DB and Models, or Stack")
	case c.DB == nil:
		return Stack{}, nil, configurationError("DB is missing")
	case len(c.Models) > 0 == !c.DataMap.IsZero():
		return Stack{}, nil, configurationError("set Models or DataMap, one of them")
	}
	return newStack(c, wake)
}

// Stack returns the engines, for calls outside of a request.
func (i *Integration) Stack() Stack { return i.stack }

// Sessions returns the session factory that all routers of the Integration use, but for those mounted WithSession.
func (i *Integration) Sessions() *SessionDependency { return i.sessions }

// Erase erases a subject outside of a request, in one session without a timeout of its own: for a subject with so many
// rows that DELETE would end with the request's timeout. The application calls it in a job of its own, with a context that
// lasts; the subject must have been authenticated before. Errors are those of Eraser.Erase and of the store.
func (i *Integration) Erase(ctx context.Context, subject domain.Subject) (result domain.ErasureResult, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		result, err = i.stack.Eraser.Erase(ctx, s, subject)
		return err
	})
	if err != nil {
		return domain.ErasureResult{}, err
	}
	return result, nil
}

// Join returns a session factory that works inside a transaction of the application, a bun.Tx: what habeas writes
// commits and rolls back with it. See bunstore.Store.Join. With a prewired stack it is domain.ErrConfiguration.
func (i *Integration) Join(tx bun.IDB) (ports.SessionFactory, error) {
	if i.store == nil {
		return nil, configurationError("a prewired stack joins transactions by its own store")
	}
	return i.store.Join(tx)
}
