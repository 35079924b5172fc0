package app

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
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

// Stack is every engine of the module, wired: what an Integration answers requests with, and what an application
// calls directly, outside of a request. All fields are required when an application wires it itself.
//
//	stack := gdpr.Stack()
//	err := stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
//		status, err := stack.Consent.Status(ctx, s, id, "newsletter")
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
	Runner      *saga.Runner
}

// newStack wires the engines on a database. wake is called when the outbox has new work.
func newStack(c Config, wake func()) (Stack, *bunstore.Store, error) {
	dataMap := c.DataMap
	if dataMap.IsZero() {
		var err error
		if dataMap, err = bunstore.ReadModels(c.DB, c.Models, c.CustomTypes); err != nil {
			return Stack{}, nil, err
		}
	}
	store, err := bunstore.New(c.DB, dataMap, bunstore.Options{Schema: c.Schema, Enqueued: wake})
	if err != nil {
		return Stack{}, nil, err
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return Stack{}, nil, err
	}
	clock, ids := ports.Clock(system.Clock{}), ports.IDSource(&system.IDs{})
	if c.Clock != nil {
		clock = c.Clock
	}
	if c.IDs != nil {
		ids = c.IDs
	}
	eraser, err := erasure.NewEraser(erasure.Config{Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: set})
	if err != nil {
		return Stack{}, nil, err
	}
	exporter, err := export.NewExporter(export.Config{
		Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: set, ResolverTimeout: c.ResolverTimeout,
	})
	if err != nil {
		return Stack{}, nil, err
	}
	rectifier, err := rectification.NewRectifier(rectification.Config{
		Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: set,
	})
	if err != nil {
		return Stack{}, nil, err
	}
	runner, err := saga.NewRunner(saga.Config{
		Sessions: store, Clock: clock, IDs: ids, Resolvers: set, OnAbandoned: c.OnAbandoned,
	})
	if err != nil {
		return Stack{}, nil, err
	}
	return Stack{
		Sessions:    store,
		DataMap:     dataMap,
		Consent:     consent.NewLedger(clock, ids),
		Restriction: restriction.NewLedger(clock, ids),
		Exporter:    exporter,
		Eraser:      eraser,
		Rectifier:   rectifier,
		Runner:      runner,
	}, store, nil
}

// check refuses a prewired stack with something missing.
func (s Stack) check() error {
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
	return &domain.Error{Code: domain.ErrConfiguration, Op: "app", Message: message}
}
