package app

import (
	"context"
	"sync/atomic"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// SessionDependency is the session factory that the Operator and the routers of an Integration share, except routers
// with the option WithSession. Override affects their next sessions. SessionDependency is safe for concurrent use.
type SessionDependency struct {
	current atomic.Pointer[ports.SessionFactory]
}

var _ ports.SessionFactory = (*SessionDependency)(nil)

func newSessionDependency(factory ports.SessionFactory) *SessionDependency {
	d := &SessionDependency{}
	d.current.Store(&factory)
	return d
}

// Do opens a session with the current factory. It implements ports.SessionFactory.
func (d *SessionDependency) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	factory, err := d.inForce()
	if err != nil {
		return err
	}
	return factory.Do(ctx, fn)
}

// Rehearse runs a session with the current factory and rolls it back. It implements ports.SessionFactory.
func (d *SessionDependency) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	factory, err := d.inForce()
	if err != nil {
		return err
	}
	return factory.Rehearse(ctx, fn)
}

// Probe probes the store of the current factory. It implements ports.SessionFactory.
func (d *SessionDependency) Probe(ctx context.Context) error {
	factory, err := d.inForce()
	if err != nil {
		return err
	}
	return factory.Probe(ctx)
}

// inForce returns the current factory.
func (d *SessionDependency) inForce() (ports.SessionFactory, error) {
	factory := *d.current.Load()
	if factory == nil || factory == ports.SessionFactory(d) {
		return nil, domain.Misconfigured("session", "Override was called without a session factory: pass a factory")
	}
	return factory, nil
}

// Override replaces the session factory of the routers and of the Operator, but not that of the worker, of
// Integration.Health, and of the methods Migrate, AcceptMap and Purge of the Operator. Override returns a function that
// restores the previous session factory:
//
//	defer gdpr.Sessions().Override(factory)()
//
// If factory is nil, the sessions of the routers and of the Operator fail with domain.ErrConfiguration.
func (d *SessionDependency) Override(factory ports.SessionFactory) (restore func()) {
	former := d.current.Swap(&factory)
	return func() { d.current.Store(former) }
}
