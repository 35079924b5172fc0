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
// See [Config] for the settings, and [Integration.Handler] and [Integration.Router] for other routers. Package
// [github.com/habeas-data/habeas/tool/check] tests the data map. Package [github.com/habeas-data/habeas/app/stack] is
// for an application that has its own store or router.
package app

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/ports"
)

// Integration has the services of habeas, the HTTP routes and the worker for one application. It is safe for concurrent
// use.
type Integration struct {
	stack      Stack
	store      *bunstore.Store // nil if Config.Stack is set
	sessions   *SessionDependency
	background *background
	operator   *Operator
	api        *httpapi.API
	checker    *health.Checker
	health     *httpapi.HealthAPI
	mounts     mounts
}

// New creates an Integration. It opens no connection. New checks the configuration, the models and the erasure plan
// that follows from the models. It returns domain.ErrConfiguration, domain.ErrManifest or domain.ErrRetention. An error
// about the models or the plan lists all mistakes that New has found. See domain.Problems.
func New(c Config) (*Integration, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	i := &Integration{}
	var err error
	if i.stack, i.store, err = services(c, func() { i.background.worker.Wake() }); err != nil {
		return nil, err
	}
	if i.background, err = newBackground(i.stack, c); err != nil {
		return nil, err
	}
	i.sessions = newSessionDependency(i.stack.Sessions)
	i.operator = newOperator(i, c)
	i.api, err = i.stack.API(httpapi.Config{Sessions: i.sessions, Timeout: c.RequestTimeout, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	i.checker, err = i.stack.Health(health.Config{
		Name: c.Name, Worker: i.background.worker, PollInterval: c.PollInterval,
		Duties: i.background.duties, Options: c.Health,
	})
	if err != nil {
		return nil, err
	}
	if i.health, err = httpapi.NewHealth(i.checker, c.Logger); err != nil {
		return nil, err
	}
	return i, nil
}

// Stack returns the services, for calls outside of a request.
func (i *Integration) Stack() Stack { return i.stack }

// Sessions returns the session factory of Operator and of all routers, except routers with the option WithSession.
func (i *Integration) Sessions() *SessionDependency { return i.sessions }

// Operator returns the methods for operators.
func (i *Integration) Operator() *Operator { return i.operator }

// DataMap returns the data map.
func (i *Integration) DataMap() datamap.DataMap { return i.stack.DataMap }

// Plan returns the erasure plan. The caller must not modify it.
func (i *Integration) Plan() datamap.Plan { return i.stack.Eraser.Plan() }

// Migrate creates the tables of habeas, or updates them to the current version. See Operator.Migrate.
func (i *Integration) Migrate(ctx context.Context) error { return i.operator.Migrate(ctx) }

// Join returns a session factory that works inside tx, a transaction of the application. The writes of habeas commit or
// roll back with tx. See bunstore.Store.Join. Join returns domain.ErrConfiguration if Config.Stack is set, or if tx is
// not a bun.Tx or a bun.Conn.
func (i *Integration) Join(tx bun.IDB) (*bunstore.Joined, error) {
	if i.store == nil {
		return nil, domain.Misconfigured("app", "Config.Stack is set: use the store of that stack to join the transaction")
	}
	return i.store.Join(tx)
}

// Registered tells habeas that the application has registered a person under the id. Call it in the transaction of the
// registration (see Join), after the insert of the subject's row, and before the first consent or restriction of the
// person is recorded. The records of an earlier person with the same id then do not count for the new person,
// and the open requests of that person are withdrawn. Without
// this call, habeas recognizes a new person by the creation time of the row only (see domain.Life). The call is not
// necessary if ids are never given again. Registered returns domain.ErrSubject if the subject does not fit the data
// map, and domain.ErrConflict if the subject's table has no row of the subject.
func (i *Integration) Registered(ctx context.Context, s ports.Session, subject domain.Subject) error {
	if err := i.stack.DataMap.CheckSubject(subject); err != nil {
		return err
	}
	if err := i.stack.Register.Registered(ctx, s, subject.ID); err != nil {
		return err
	}
	return lives.Register(ctx, s, subject.ID, i.stack.Clock.Now())
}
