package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Catalog returns the live schema of the application's database. See ports.CatalogReader. It returns
// domain.ErrConfiguration if the application set Config.Stack and that stack has no Catalog (see stack.Config.Catalog).
func (i *Integration) Catalog(ctx context.Context) (domain.Catalog, error) {
	if i.stack.Catalog == nil {
		return domain.Catalog{}, domain.Misconfigured("app", "the stack has no Catalog: set Catalog in stack.Config")
	}
	return i.stack.Catalog.Catalog(ctx)
}

// Find searches the complete database for values, such as an email address or a phone number. It returns the tables and
// columns that contain them. See ports.Finder. Find reads every row of every table, so call it for an operator and not
// in a request of a user. The parameter progress may be nil. Find returns domain.ErrConfiguration if the application
// set Config.Stack and that stack has no Finder (see stack.Config.Finder).
func (i *Integration) Find(
	ctx context.Context, values []string, progress func(domain.FindProgress),
) (domain.Found, error) {
	if i.stack.Finder == nil {
		return domain.Found{}, domain.Misconfigured("app", "the stack has no Finder: set Finder in stack.Config")
	}
	return i.stack.Finder.Find(ctx, values, progress)
}
