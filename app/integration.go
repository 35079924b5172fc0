// Package app wires habeas into an application: from the application's own models and database to a router, in a few
// lines.
package app

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/ports"
)

// Integration is habeas in an application. It is safe for concurrent use.
type Integration struct {
	stack    Stack
	store    *bunstore.Store // nil if the stack was prewired
	db       *bun.DB         // of the store
	schema   string          // of the tables of habeas
	sessions *SessionDependency
	worker   *worker.SagaWorker
	clock    ports.Clock
	ids      ports.IDSource
	api      *httpapi.API
	checker  *health.Checker
	health   *httpapi.HealthAPI
	mounts   mounts
}

// New wires an Integration. It opens no connection. Everything that can be wrong with the configuration
// (domain.ErrConfiguration), the models (domain.ErrManifest) or the erasure plan that follows from them
// (domain.ErrManifest, domain.ErrRetention) is found here. The mistakes of the models and of their plan are one error,
// which lists all of them; see domain.Problems.
func New(c Config) (*Integration, error) {
	err := c.validate()
	if err != nil {
		return nil, err
	}
	i := &Integration{db: c.DB, schema: c.Schema}
	if c.Stack != nil {
		i.stack = *c.Stack
	} else if i.stack, i.store, err = onDatabase(c, func() { i.worker.Wake() }); err != nil {
		return nil, err
	}
	tasks, err := i.tasks(c)
	if err != nil {
		return nil, err
	}
	i.worker, err = worker.New(i.stack.Runner, worker.Options{
		PollInterval: c.PollInterval, Workers: c.Workers, Logger: c.Logger, Observer: i.stack.Observer, Clock: c.Clock,
		Tasks: tasks,
	})
	if err != nil {
		return nil, err
	}
	i.sessions = newSessionDependency(i.stack.Sessions)
	i.api, err = i.stack.API(httpapi.Config{Sessions: i.sessions, Timeout: c.RequestTimeout, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	if err := i.checkHealth(c); err != nil {
		return nil, err
	}
	return i, nil
}

// Stack returns the services, for calls outside of a request.
func (i *Integration) Stack() Stack { return i.stack }

// Sessions returns the session factory that all routers of the Integration use, but for those mounted WithSession.
func (i *Integration) Sessions() *SessionDependency { return i.sessions }

// Erase erases a subject outside of a request, in one session without a timeout of its own. It is for a subject with
// more rows than DELETE can erase within the request's timeout. The application calls it in a job of its own, with a
// context that outlasts the erasure. The application must have authenticated the subject. Errors are those of
// Eraser.Erase and of the store.
func (i *Integration) Erase(ctx context.Context, subject domain.Subject) (domain.ErasureResult, error) {
	return inSession(ctx, i.sessions, func(ctx context.Context, s ports.Session) (domain.ErasureResult, error) {
		return i.stack.Eraser.Erase(ctx, s, subject)
	})
}

// Join returns a session factory that works inside a transaction of the application, a bun.Tx. The writes of habeas
// commit and roll back with it. See bunstore.Store.Join. Returns domain.ErrConfiguration if the stack was prewired.
func (i *Integration) Join(tx bun.IDB) (*bunstore.Joined, error) {
	if i.store == nil {
		return nil, domain.Misconfigured("app", "a prewired stack joins transactions by its own store")
	}
	return i.store.Join(tx)
}
