package app

import (
	"context"
	"sync/atomic"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// SessionDependency is the session factory of an Integration's routers: one object per Integration, to which every
// router holds on, so that Override reaches all of them at once. It is safe for concurrent use.
type SessionDependency struct {
	current atomic.Pointer[ports.SessionFactory]
}

var _ ports.Rehearser = (*SessionDependency)(nil)

func newSessionDependency(factory ports.SessionFactory) *SessionDependency {
	d := &SessionDependency{}
	d.current.Store(&factory)
	return d
}

// Do opens a session with the factory in force. It implements ports.SessionFactory.
func (d *SessionDependency) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	factory, err := d.inForce()
	if err != nil {
		return err
	}
	return factory.Do(ctx, fn)
}

// Rehearse rehearses a session with the factory in force. It implements ports.Rehearser. Returns
// domain.ErrConfiguration if that factory does not.
func (d *SessionDependency) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	factory, err := d.inForce()
	if err != nil {
		return err
	}
	rehearser, err := ports.RehearserOf(factory)
	if err != nil {
		return err
	}
	return rehearser.Rehearse(ctx, fn)
}

// inForce returns the factory in force.
func (d *SessionDependency) inForce() (ports.SessionFactory, error) {
	factory := *d.current.Load()
	if factory == nil || factory == ports.SessionFactory(d) {
		return nil, domain.Misconfigured("session", "overridden without a session factory")
	}
	return factory, nil
}

// Override puts another factory in force for the routers, not for the worker, and returns a function that puts the
// former one back:
//
//	defer gdpr.Sessions().Override(factory)()
//
// With a nil factory every session is domain.ErrConfiguration.
func (d *SessionDependency) Override(factory ports.SessionFactory) (restore func()) {
	former := d.current.Swap(&factory)
	return func() { d.current.Store(former) }
}
