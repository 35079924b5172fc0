package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/domain/search"
)

// Catalog returns the live schema of the application's database, for example for package check. See
// ports.CatalogReader. It returns domain.ErrConfiguration if the application set Config.Stack and that stack has no
// Catalog (see stack.Config.Catalog).
func (o *Operator) Catalog(ctx context.Context) (datamap.Catalog, error) {
	if o.stack.Catalog == nil {
		return datamap.Catalog{}, domain.Misconfigured("app", "the stack has no Catalog: set Catalog in stack.Config")
	}
	return o.stack.Catalog.Catalog(ctx)
}

// Satisfies evaluates a CHECK constraint of the application's database on rows of examples. See ports.CatalogReader. It
// returns domain.ErrConfiguration if the application set Config.Stack and that stack has no Catalog.
func (o *Operator) Satisfies(
	ctx context.Context, table string, check datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	if o.stack.Catalog == nil {
		return nil, domain.Misconfigured("app", "the stack has no Catalog: set Catalog in stack.Config")
	}
	return o.stack.Catalog.Satisfies(ctx, table, check, rows)
}

// Find searches the tables of the database for values, such as an email address or a phone number. It returns the
// tables and columns that contain them. See ports.Finder. Find reads complete tables, so call it for an operator and
// not in a request of a user. The parameter progress may be nil. Find returns domain.ErrConfiguration if the
// application set Config.Stack and that stack has no Finder (see stack.Config.Finder).
func (o *Operator) Find(
	ctx context.Context, values []string, progress func(search.Progress),
) (search.Result, error) {
	if o.stack.Finder == nil {
		return search.Result{}, domain.Misconfigured("app", "the stack has no Finder: set Finder in stack.Config")
	}
	return o.stack.Finder.Find(ctx, values, progress)
}

// Registers reports whether the application has ever called Registered, for any person of the data map. It fails before
// the first migration of the tables of habeas.
func (o *Operator) Registers(ctx context.Context) (bool, error) {
	return lives.Registers(ctx, o.sessions)
}
