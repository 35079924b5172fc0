// Package app adds habeas to an application. It takes the annotated models and the database of the application. It
// provides the HTTP routes of data subjects, a worker for external systems, and methods for operators.
//
//	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*User)(nil)}})
//	if err != nil {
//		return err
//	}
//	if err := gdpr.Migrate(ctx); err != nil {
//		return err
//	}
//	gdpr.Mount(mux, "/me", currentSubject)
//	go gdpr.Run(ctx) // the worker, which calls external systems
//	return http.ListenAndServe(":8080", mux)
//
// currentSubject is a function of the application. It returns the authenticated subject of a request.
//
// See [Config] for the settings, [Integration.Handler] and [Integration.Router] for other routers, and
// [Integration.Check] for a test of the data map. Package [github.com/habeas-data/habeas/app/stack] is for an
// application that has its own store or router.
package app

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/duties"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/ports"
)

// Integration has the services of habeas, the HTTP routes and the worker for one application. It is safe for concurrent
// use.
type Integration struct {
	stack    Stack
	store    *bunstore.Store  // nil if Config.Stack is set
	db       *bun.DB          // the database of the store
	tables   bunstore.Options // the schema and the name of the tables of habeas
	sessions *SessionDependency
	worker   *worker.SagaWorker
	duties   *duties.Book
	clock    ports.Clock
	ids      ports.IDSource
	api      *httpapi.API
	checker  *health.Checker
	health   *httpapi.HealthAPI
	mounts   mounts
}

// New creates an Integration. It opens no connection. New checks the configuration, the models and the erasure plan
// that follows from the models. It returns domain.ErrConfiguration, domain.ErrManifest or domain.ErrRetention. One
// error lists all mistakes of the models and of the plan. See domain.Problems.
func New(c Config) (*Integration, error) {
	err := c.validate()
	if err != nil {
		return nil, err
	}
	i := &Integration{db: c.DB, tables: bunstore.Options{Schema: c.Schema, Name: c.Name, Logger: c.Logger}}
	if c.Stack != nil {
		i.stack = *c.Stack
	} else if i.stack, i.store, err = onDatabase(c, func() { i.worker.Wake() }); err != nil {
		return nil, err
	}
	tasks, err := i.tasks(c)
	if err != nil {
		return nil, err
	}
	if i.duties, err = i.dutiesOf(tasks); err != nil {
		return nil, err
	}
	i.worker, err = worker.New(i.stack.Runner, worker.Options{
		PollInterval: c.PollInterval, Workers: c.Workers, Logger: c.Logger, Observer: i.stack.Observer, Clock: c.Clock,
		Tasks: tasks, Begin: i.beginWork, TaskEnded: i.taskEnded,
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

// Sessions returns the session factory of all routers of the Integration, except routers with the option WithSession.
func (i *Integration) Sessions() *SessionDependency { return i.sessions }

// Erase erases a subject outside of a request, in one session without a timeout. Use it for a subject with so many rows
// that DELETE /me exceeds RequestTimeout. Call it in a background job, because the erasure ends with an error if ctx
// ends. The application must have authenticated the subject. Errors are the errors of Eraser.Erase and of the store.
func (i *Integration) Erase(ctx context.Context, subject domain.Subject) (domain.ErasureResult, error) {
	return inSession(ctx, i.sessions, func(ctx context.Context, s ports.Session) (domain.ErasureResult, error) {
		return i.stack.Eraser.Erase(ctx, s, subject)
	})
}

// Join returns a session factory that works inside tx, a transaction of the application. The writes of habeas commit or
// roll back with tx. See bunstore.Store.Join. Join returns domain.ErrConfiguration if Config.Stack is set.
func (i *Integration) Join(tx bun.IDB) (*bunstore.Joined, error) {
	if i.store == nil {
		return nil, domain.Misconfigured("app", "Config.Stack is set: use the store of that stack to join the transaction")
	}
	return i.store.Join(tx)
}
