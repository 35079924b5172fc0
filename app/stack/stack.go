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
	"context"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/system"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

// Config says what a Stack is made of. Sessions and DataMap are required.
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
	// ResolverTimeout bounds the wait for each of them in an export. The default is 10 s.
	ResolverTimeout time.Duration
	// OnAbandoned is called with each entry for an external system that was given up, and once with each that no process
	// took for a day; see saga.Config. The default is nothing.
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)
	// Saga says how external systems are called: how many entries are claimed at once, how often a call is tried, and so
	// on. Its zero value has the defaults. Sessions, Clock, IDs, Resolvers and OnAbandoned must be left out of it.
	Saga saga.Config
	// Clock and IDs are for tests. The defaults are the machine's clock and UUIDs of version 7.
	Clock ports.Clock
	IDs   ports.IDSource
}

// Stack is every engine of the module, wired: what a router answers requests with, and what an application calls
// directly, outside of a request. Its engines are safe for concurrent use.
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
	Runner      *saga.Runner // to be drained by a worker, see adapters/worker
}

// New wires the engines. Everything that can be wrong with the configuration (domain.ErrConfiguration) or with the
// erasure plan that follows from the data map (domain.ErrManifest, domain.ErrRetention) is found here.
func New(c Config) (Stack, error) {
	switch {
	case c.Sessions == nil:
		return Stack{}, configurationError("Sessions is missing")
	case c.DataMap.IsZero():
		return Stack{}, configurationError("DataMap is missing")
	case c.ResolverTimeout < 0:
		return Stack{}, configurationError("ResolverTimeout must not be negative")
	case c.Saga.Sessions != nil, c.Saga.Clock != nil, c.Saga.IDs != nil, c.Saga.Resolvers != nil, c.Saga.OnAbandoned != nil:
		return Stack{}, configurationError("Saga must leave Sessions, Clock, IDs, Resolvers and OnAbandoned to Config")
	}
	purposes, err := domain.NewPurposes(c.Purposes...)
	if err != nil {
		return Stack{}, err
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return Stack{}, err
	}
	clock, ids := ports.Clock(system.Clock{}), ports.IDSource(&system.IDs{})
	if c.Clock != nil {
		clock = c.Clock
	}
	if c.IDs != nil {
		ids = c.IDs
	}
	eraser, err := erasure.NewEraser(erasure.Config{
		Clock: clock, IDs: ids, DataMap: c.DataMap, Resolvers: set, Purposes: purposes,
	})
	if err != nil {
		return Stack{}, err
	}
	exporter, err := export.NewExporter(export.Config{
		Clock: clock, IDs: ids, DataMap: c.DataMap, Resolvers: set, ResolverTimeout: c.ResolverTimeout,
	})
	if err != nil {
		return Stack{}, err
	}
	rectifier, err := rectification.NewRectifier(rectification.Config{
		Clock: clock, IDs: ids, DataMap: c.DataMap, Resolvers: set,
	})
	if err != nil {
		return Stack{}, err
	}
	c.Saga.Sessions, c.Saga.Clock, c.Saga.IDs = c.Sessions, clock, ids
	c.Saga.Resolvers, c.Saga.OnAbandoned = set, c.OnAbandoned
	if c.Saga.Jitter == nil {
		c.Saga.Jitter = system.Jitter
	}
	runner, err := saga.NewRunner(c.Saga)
	if err != nil {
		return Stack{}, err
	}
	return Stack{
		Sessions:    c.Sessions,
		DataMap:     c.DataMap,
		Consent:     consent.NewLedger(clock, ids).WithPurposes(purposes),
		Restriction: restriction.NewLedger(clock, ids).WithPurposes(purposes),
		Exporter:    exporter,
		Eraser:      eraser,
		Rectifier:   rectifier,
		Runner:      runner,
	}, nil
}

// API returns the HTTP API of the stack, for a router such as fiberhttp or nethttp. What the configuration leaves out
// is taken from the stack, so that httpapi.Config{} will do.
func (s Stack) API(c httpapi.Config) (*httpapi.API, error) {
	if c.Sessions == nil {
		c.Sessions = s.Sessions
	}
	if c.Consent == nil {
		c.Consent = s.Consent
	}
	if c.Restriction == nil {
		c.Restriction = s.Restriction
	}
	if c.Export == nil {
		c.Export = s.Exporter
	}
	if c.Erasure == nil {
		c.Erasure = s.Eraser
	}
	if c.DataMap.IsZero() {
		c.DataMap = s.DataMap
	}
	return httpapi.New(c)
}

// Validate refuses a stack, wired by the application itself, that has something missing (domain.ErrConfiguration).
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
			return configurationError("the stack has no " + part.name)
		}
	}
	return nil
}

func configurationError(message string) error {
	return &domain.Error{Code: domain.ErrConfiguration, Op: "stack", Message: message}
}
