// Package stack wires the engines of habeas on any session factory. It is the half of package app that needs no
// database and no HTTP framework: an application that has a store or a router of its own begins here.
//
//	store, err := memory.New(dataMap, memory.Options{})
//	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
//	api, err := engines.API(httpapi.Config{})
//	rights := nethttp.Handler("/me", api, currentSubject)
//	http.Handle("/me", rights)
//	http.Handle("/me/", rights)
package stack

import (
	"cmp"
	"context"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/check"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/domain/verification"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// Config is what a Stack is made of. Sessions and DataMap are required.
type Config struct {
	// Sessions opens sessions on the application's database.
	Sessions ports.SessionFactory
	// DataMap is the one that Sessions was made with.
	DataMap domain.DataMap
	// Purposes are those that subjects can consent to, and have processing restricted for. Any other one is then refused,
	// the API lists the consents in force for all of them, in this order, and audit events name them. A purpose must stay
	// for as long as consents for it may be in force: a withdrawal for any other one is refused, too. The default is none,
	// and then every purpose will do.
	Purposes []domain.Purpose
	// Resolvers are the external systems that hold personal data. The default is none.
	Resolvers []ports.Resolver
	// OnAbandoned is called with each entry for an external system that was given up, and once with each that no process
	// took for a day; see saga.Config. The default is nothing.
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)
	// Clock is the source of the current time. The default is the machine's clock.
	Clock ports.Clock
	// Catalog reads the schema of the database that Sessions works on, for the check of the data map. bunstore.Store is
	// one. By default the Stack has no Checker.
	Catalog ports.CatalogReader
	// TrustRowFilters is that of bunstore.Options, for the check of the data map. The default is false.
	TrustRowFilters bool

	Options
}

// Options are the settings of the engines that few applications change. The zero value has the defaults.
type Options struct {
	// ResolverTimeout bounds the wait for each external system in an export. The default is 10 s.
	ResolverTimeout time.Duration
	// Saga has the limits of the calls that erase and rectify at external systems. saga.Options states the defaults.
	Saga saga.Options
	// IDs makes the ids of audit events and outbox entries. The default is UUIDs of version 7.
	IDs ports.IDSource
	// Hooks are what the application itself does with an erasure or a rectification. The default is nothing.
	Hooks Hooks
	// Observer is told what happens, for metrics and traces; see ports.Observer. Sessions has to be given it, too. The
	// default is none, which costs nothing.
	Observer ports.Observer
}

// IsDefault reports whether every option is left out.
func IsDefault(o Options) bool {
	return o.ResolverTimeout == 0 && saga.IsDefault(o.Saga) && o.IDs == nil && o.Hooks.isDefault() &&
		o.Observer == nil
}

// Stack has every service of the module, wired. A router calls them for its requests, and an application calls them
// outside of a request. They are safe for concurrent use.
//
//	err := engines.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
//		status, err := engines.Consent.Status(ctx, s, id, "newsletter")
//		...
//	})
type Stack struct {
	Sessions    ports.SessionFactory
	DataMap     domain.DataMap
	Consent     *consent.Ledger
	Restriction *restriction.Ledger
	Exporter    *export.Exporter
	Eraser      *erasure.Eraser
	Rectifier   *rectification.Rectifier
	Verifier    *verification.Verifier // may be nil in a stack that an application makes itself
	Runner      *saga.Runner           // to be drained by a worker, see adapters/worker
	Observer    ports.Observer         // Options.Observer; nil means none

	// Checker compares the data map with the database. It is nil, and nothing else needs it, if there is no Catalog.
	Checker *check.Checker
}

// New wires the services. Returns domain.ErrConfiguration for a mistake in the configuration, and domain.ErrManifest or
// domain.ErrRetention for a data map without a valid erasure plan.
func New(c Config) (Stack, error) {
	switch {
	case c.Sessions == nil:
		return Stack{}, domain.Misconfigured("stack", "Sessions is missing")
	case c.DataMap.IsZero():
		return Stack{}, domain.Misconfigured("stack", "DataMap is missing")
	case c.ResolverTimeout < 0:
		return Stack{}, domain.Misconfigured("stack", "ResolverTimeout must not be negative")
	}
	if err := c.Hooks.validate(); err != nil {
		return Stack{}, err
	}
	purposes, err := domain.NewPurposes(c.Purposes...)
	if err != nil {
		return Stack{}, err
	}
	clock := cmp.Or(c.Clock, ports.Clock(system.Clock{}))
	ids := cmp.Or(c.IDs, ports.IDSource(&system.IDs{}))
	eraser, err := erasure.NewEraser(erasure.Config{
		Clock: clock, IDs: ids, DataMap: c.DataMap, Resolvers: c.Resolvers, Purposes: purposes,
		Observer: c.Observer, Before: c.Hooks.BeforeErasure, After: c.Hooks.afterErasure(),
	})
	if err != nil {
		return Stack{}, err
	}
	exporter, err := export.NewExporter(export.Config{
		Clock: clock, IDs: ids, DataMap: c.DataMap, Resolvers: c.Resolvers, ResolverTimeout: c.ResolverTimeout,
		Observer: c.Observer,
	})
	if err != nil {
		return Stack{}, err
	}
	rectifier, err := rectification.NewRectifier(rectification.Config{
		Clock: clock, IDs: ids, DataMap: c.DataMap, Resolvers: c.Resolvers, Observer: c.Observer,
		Before: c.Hooks.BeforeRectification, After: c.Hooks.afterRectification(),
	})
	if err != nil {
		return Stack{}, err
	}
	verifier, err := verification.NewVerifier(verification.Config{
		Sessions: c.Sessions, Clock: clock, IDs: ids, DataMap: c.DataMap, Plan: eraser.Plan(),
	})
	if err != nil {
		return Stack{}, err
	}
	if c.Saga.Jitter == nil {
		c.Saga.Jitter = system.Jitter
	}
	runner, err := saga.NewRunner(saga.Config{
		Sessions: c.Sessions, Clock: clock, IDs: ids, Resolvers: c.Resolvers, Observer: c.Observer,
		Options: c.Saga, OnAbandoned: c.OnAbandoned,
	})
	if err != nil {
		return Stack{}, err
	}
	var checker *check.Checker
	if c.Catalog != nil {
		checker, err = check.New(check.Config{
			Catalog: c.Catalog, DataMap: c.DataMap, Plan: eraser.Plan(), TrustRowFilters: c.TrustRowFilters,
		})
		if err != nil {
			return Stack{}, err
		}
	}
	return Stack{
		Sessions:    c.Sessions,
		DataMap:     c.DataMap,
		Consent:     consent.NewLedger(clock, ids).WithPurposes(purposes).WithObserver(c.Observer),
		Restriction: restriction.NewLedger(clock, ids).WithPurposes(purposes).WithObserver(c.Observer),
		Exporter:    exporter,
		Eraser:      eraser,
		Rectifier:   rectifier,
		Verifier:    verifier,
		Runner:      runner,
		Checker:     checker,
		Observer:    c.Observer,
	}, nil
}

// API returns the HTTP API of the stack, for a router such as fiberhttp or nethttp. Fields that the configuration
// leaves out are taken from the stack, so that httpapi.Config{} is enough.
func (s Stack) API(c httpapi.Config) (*httpapi.API, error) {
	c.Sessions = cmp.Or(c.Sessions, s.Sessions)
	c.Consent = cmp.Or(c.Consent, s.Consent)
	c.Restriction = cmp.Or(c.Restriction, s.Restriction)
	c.Export = cmp.Or(c.Export, s.Exporter)
	c.Erasure = cmp.Or(c.Erasure, s.Eraser)
	if c.Observer == nil {
		c.Observer = s.Observer
	}
	if c.DataMap.IsZero() {
		c.DataMap = s.DataMap
	}
	return httpapi.New(c)
}

// Health returns the checks of this process, for a router such as fiberhttp or nethttp; see httpapi.NewHealth. Sessions
// are taken from the stack if the configuration leaves them out, and Clock is then the machine's clock. An application
// that runs a worker in the process names it as Worker, with its PollInterval.
func (s Stack) Health(c health.Config) (*health.Checker, error) {
	c.Sessions = cmp.Or(c.Sessions, s.Sessions)
	c.Clock = cmp.Or(c.Clock, ports.Clock(system.Clock{}))
	return health.New(c)
}

// Validate returns domain.ErrConfiguration if a field of the stack is missing.
func (s Stack) Validate() error {
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"Sessions", s.Sessions == nil},
		{"DataMap", s.DataMap.IsZero()},
		{"Consent", s.Consent == nil},
		{"Restriction", s.Restriction == nil},
		{"Exporter", s.Exporter == nil},
		{"Eraser", s.Eraser == nil},
		{"Rectifier", s.Rectifier == nil},
		{"Runner", s.Runner == nil},
	} {
		if part.missing {
			return domain.Misconfigured("stack", "the stack has no "+part.name)
		}
	}
	return nil
}
