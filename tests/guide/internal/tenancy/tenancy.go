// Package tenancy is an example of docs/integration.md: a session factory that decorates another one.
package tenancy

import (
	"context"

	"github.com/habeas-data/habeas/ports"
)

// Factory opens sessions on a store that several tenants share. It adds the tenant to the context of each session. A
// hook of the connection pool reads it there, for example to set a variable for row-level security.
type Factory struct {
	Sessions ports.SessionFactory                               // the decorated factory
	Tenant   func(ctx context.Context) (name string, err error) // the tenant of the person who is signed in
}

var _ ports.SessionFactory = Factory{}

// Do runs a session of the tenant.
func (f Factory) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	ctx, err := f.enter(ctx)
	if err != nil {
		return err
	}
	return f.Sessions.Do(ctx, fn)
}

// Rehearse runs a session of the tenant and rolls it back.
func (f Factory) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	ctx, err := f.enter(ctx)
	if err != nil {
		return err
	}
	return f.Sessions.Rehearse(ctx, fn)
}

// Probe tests the store. It needs no tenant, because the probe of a process belongs to nobody.
func (f Factory) Probe(ctx context.Context) error { return f.Sessions.Probe(ctx) }

// enter returns the context of a session.
func (f Factory) enter(ctx context.Context) (context.Context, error) {
	name, err := f.Tenant(ctx)
	if err != nil {
		return nil, err
	}
	return context.WithValue(ctx, tenant{}, name), nil
}

// Of returns the tenant of a session by its context, and "" for any other context.
func Of(ctx context.Context) string {
	name, _ := ctx.Value(tenant{}).(string)
	return name
}

type tenant struct{}
