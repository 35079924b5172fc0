// Package stack creates the services of habeas for any session factory. It needs no database and no HTTP framework. Use
// it instead of package app if the application has its own store or router.
//
//	store, err := memory.New(dataMap, memory.Options{})
//	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
//	api, err := engines.API(httpapi.Config{})
//	rights := nethttp.Handler("/me", api, currentSubject)
//	http.Handle("/me", rights)
//	http.Handle("/me/", rights)
//
// See [Config] for the settings, [Hooks] for functions of the application that run with an erasure, and [Stack.Health]
// for health checks.
package stack

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/domain/verification"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// Config has the settings of a Stack. Sessions and DataMap are required.
type Config struct {
	// Sessions opens sessions on the store of the application, such as a bunstore.Store.
	Sessions ports.SessionFactory
	// DataMap is the data map of the application. The store that you set in the field Sessions must use the same data map.
	DataMap datamap.DataMap
	// Purposes lists the purposes of processing. A subject can consent to a purpose (Art. 7 GDPR), or restrict the
	// processing for it (Art. 18 GDPR). If Purposes is set, the API lists the consent for each purpose in this order, and
	// audit events about consents name the purpose. All other purposes are refused, except that a subject can read and
	// withdraw a consent in force (Art. 7(3)), and read and lift a restriction in force, after you have removed a purpose
	// from the list. The default is empty: every purpose is accepted.
	Purposes []domain.Purpose
	// Resolvers are the adapters of external systems that hold personal data. Erasures and exports include these systems,
	// and rectifications include those whose adapter is a ports.RectifyingResolver. The default is empty.
	Resolvers []ports.Resolver
	// OnAbandoned is called with each outbox entry that the saga.Runner gives up, so that an operator can look into it. It
	// is also called with an entry that has been due for a day without a claim. See saga.Config. Do not log the SubjectID
	// and the Ref of the entry, because they identify a person. The default is nil: no function is called.
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)
	// Clock is the source of the current time. The default is the clock of the machine.
	Clock ports.Clock
	// Catalog reads the live schema of the database. bunstore.Store implements it. The default is nil: the Stack has no
	// Catalog.
	Catalog ports.CatalogReader
	// Finder searches the database for values. bunstore.Store implements it. The default is nil: the Stack has no Finder.
	Finder ports.Finder

	Options
}

// Options has settings that few applications change. The zero value selects the defaults.
type Options struct {
	// ResolverTimeout is the time limit of each call to an external system in an export. The default is 10 s.
	ResolverTimeout time.Duration
	// Saga has the limits of the calls to external systems in erasures and rectifications. See saga.Options for the
	// defaults.
	Saga saga.Options
	// TempDir is the directory of the temporary files in which exports of more than 1 MiB wait for a slow reader. The
	// files have no name, and only this process can read them. Choose a directory on a disk: if the directory is in
	// memory, large exports need this memory. If a file cannot be created or written, a large export fails with
	// domain.ErrConfiguration. The default is os.TempDir.
	TempDir string
	// IDs generates the ids of audit events and outbox entries. The default generates UUIDs of version 7.
	IDs ports.IDSource
	// Hooks are functions of the application that run before or after an erasure or a rectification. The default is empty.
	Hooks Hooks
	// Controller is named in the answer to an erasure that keeps something. The default is empty: no authority is named.
	Controller domain.Controller
	// Requests switches the register of requests on. The default is nil: there is no register.
	Requests *Requests
	// Observer receives the data for metrics and traces. See ports.Observer. Pass the same observer to the store that you
	// set in the field Sessions. The default is nil: no function is called.
	Observer ports.Observer
}

// IsZero reports whether no setting is set.
func (o Options) IsZero() bool {
	return o.ResolverTimeout == 0 && o.Saga.IsZero() && o.TempDir == "" && o.IDs == nil && o.Hooks.isZero() &&
		o.Controller == domain.Controller{} && o.Requests == nil && o.Observer == nil
}

// Stack has all services of habeas. A router calls them for its requests. An application can call them outside of a
// request:
//
//	err := engines.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
//		status, err := engines.Consent.Status(ctx, s, id, "newsletter")
//		...
//	})
//
// The services are safe for concurrent use.
type Stack struct {
	Sessions    ports.SessionFactory
	DataMap     datamap.DataMap
	Clock       ports.Clock    // nil means the clock of the machine
	IDs         ports.IDSource // nil means UUIDs of version 7
	Consent     *consent.Ledger
	Restriction *restriction.Ledger
	Exporter    *export.Exporter
	Eraser      *erasure.Eraser
	Rectifier   *rectification.Rectifier
	Verifier    *verification.Verifier // may be nil if the application has not used New
	Runner      *saga.Runner           // processes the outbox; see package worker in adapters
	Register    *register.Register     // the register of requests; may be nil
	// Person is Requests.Person; nil without a register.
	Person   func(ctx context.Context, id domain.SubjectID) (context.Context, domain.Subject, error)
	Observer ports.Observer // the value of Options.Observer; may be nil

	// Catalog and Finder are for operators, and the services do not need them. They are the values of Config, and may be
	// nil.
	Catalog ports.CatalogReader
	Finder  ports.Finder
}

// New creates the services. It returns domain.ErrConfiguration if a setting is missing or not valid. It returns
// domain.ErrManifest or domain.ErrRetention if the data map has a mistake, see erasure.NewEraser.
func New(c Config) (Stack, error) {
	switch {
	case c.Sessions == nil:
		return Stack{}, domain.Misconfigured("stack", "Sessions is missing: set a session factory")
	case c.DataMap.IsZero():
		return Stack{}, domain.Misconfigured("stack", "DataMap is missing: set the data map of Sessions")
	case c.ResolverTimeout < 0:
		return Stack{}, domain.Misconfigured("stack", "ResolverTimeout must not be negative")
	}
	if err := c.Hooks.validate(); err != nil {
		return Stack{}, err
	}
	if problems := datamap.CheckAcceptances(c.DataMap.Accepted()); len(problems) > 0 {
		return Stack{}, domain.Misconfigured("stack", problems[0].String())
	}
	purposes, err := domain.NewPurposes(c.Purposes...)
	if err != nil {
		return Stack{}, err
	}
	c.Clock, c.IDs = cmp.Or(c.Clock, ports.Clock(system.Clock{})), cmp.Or(c.IDs, ports.IDSource(&system.IDs{}))
	book, err := c.newRegister(purposes)
	if err != nil {
		return Stack{}, err
	}
	eraser, err := erasure.NewEraser(erasure.Config{
		Clock: c.Clock, IDs: c.IDs, DataMap: c.DataMap, Resolvers: c.Resolvers, Purposes: purposes,
		Observer: c.Observer, Controller: c.Controller, Before: c.Hooks.BeforeErasure, After: c.Hooks.afterErasure(),
		Register: book.Erasing,
	})
	if err != nil {
		return Stack{}, err
	}
	rectifier, err := rectification.NewRectifier(rectification.Config{
		Clock: c.Clock, IDs: c.IDs, DataMap: c.DataMap, Resolvers: c.Resolvers, Observer: c.Observer,
		Before: c.Hooks.BeforeRectification, After: c.Hooks.afterRectification(),
	})
	if err != nil {
		return Stack{}, err
	}
	verifier, err := verification.NewVerifier(verification.Config{
		Sessions: c.Sessions, Clock: c.Clock, IDs: c.IDs, DataMap: c.DataMap, Plan: eraser.Plan(),
	})
	if err != nil {
		return Stack{}, err
	}
	if c.Saga.Jitter == nil {
		c.Saga.Jitter = system.Jitter
	}
	runner, err := saga.NewRunner(saga.Config{
		Sessions: c.Sessions, Clock: c.Clock, IDs: c.IDs, Resolvers: c.Resolvers, Observer: c.Observer,
		Options: c.Saga, OnAbandoned: c.OnAbandoned, Completed: book.Settled,
	})
	if err != nil {
		return Stack{}, err
	}
	exporter, err := export.NewExporter(export.Config{
		Clock: c.Clock, IDs: c.IDs, DataMap: c.DataMap, Resolvers: c.Resolvers, ResolverTimeout: c.ResolverTimeout,
		Observer: c.Observer, Admit: runner.Admit, Recorded: book.Exported,
		TempFile: func() (export.File, error) { return system.NewTempFile(c.TempDir) },
	})
	if err != nil {
		return Stack{}, err
	}
	restrictions := restriction.NewLedger(c.Clock, c.IDs).WithPurposes(purposes).WithObserver(c.Observer)
	return Stack{
		Sessions:    c.Sessions,
		DataMap:     c.DataMap,
		Clock:       c.Clock,
		IDs:         c.IDs,
		Consent:     consent.NewLedger(c.Clock, c.IDs).WithPurposes(purposes).WithObserver(c.Observer),
		Restriction: restrictions.WithRecorded(book.Restricted),
		Exporter:    exporter,
		Eraser:      eraser,
		Rectifier:   rectifier,
		Verifier:    verifier,
		Runner:      runner,
		Register:    book,
		Person:      c.person(),
		Catalog:     c.Catalog,
		Finder:      c.Finder,
		Observer:    c.Observer,
	}, nil
}

// Erases describes the erasures of the stack: their resolvers, sorted by name, and whether hooks run.
func (s Stack) Erases() datamap.StartedWorker {
	started := datamap.StartedWorker{Resolvers: []string{}, Hooks: s.Eraser.RunsHooks()}
	for _, step := range s.Eraser.Plan().Steps {
		if step.External {
			started.Resolvers = append(started.Resolvers, step.Target)
		}
	}
	slices.Sort(started.Resolvers)
	return started
}

// API returns the HTTP API of the stack, for a router such as fiberhttp or nethttp. If c lacks a service or the data
// map, API takes it from the stack, so httpapi.Config{} is sufficient.
func (s Stack) API(c httpapi.Config) (*httpapi.API, error) {
	c.Sessions = cmp.Or(c.Sessions, s.Sessions)
	c.Consent = cmp.Or(c.Consent, s.Consent)
	c.Restriction = cmp.Or(c.Restriction, s.Restriction)
	c.Export = cmp.Or(c.Export, s.Exporter)
	if c.Erasure == nil && s.Eraser != nil {
		c.Erasure = s.Eraser
	}
	if c.Observer == nil {
		c.Observer = s.Observer
	}
	c.Requests = cmp.Or(c.Requests, s.Register)
	if c.DataMap.IsZero() {
		c.DataMap = s.DataMap
	}
	return httpapi.New(c)
}

// Health returns the health checks of this process. Pass the result to httpapi.NewHealth. If c.Sessions is nil, Health
// uses the sessions of the stack. If c.Clock is nil, Health uses the clock of the stack. If c.UnknownLives is nil,
// Health uses lives.Count. Set c.Worker and c.PollInterval if a worker runs in this process.
func (s Stack) Health(c health.Config) (*health.Checker, error) {
	c.Sessions = cmp.Or(c.Sessions, s.Sessions)
	c.Clock = cmp.Or(c.Clock, s.Clock, ports.Clock(system.Clock{}))
	if c.UnknownLives == nil {
		c.UnknownLives = func(ctx context.Context) (int64, error) { return lives.Count(ctx, c.Sessions) }
	}
	return health.New(c)
}

// Validate returns domain.ErrConfiguration if a required field of the stack is missing.
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
			return domain.Misconfigured("stack", "the stack has no "+part.name+": set it, or create the stack with stack.New")
		}
	}
	return nil
}
