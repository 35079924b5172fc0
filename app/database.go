package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Catalog returns the live schema of the application's database. See ports.CatalogReader. Returns
// domain.ErrConfiguration if the session factory of Config.Stack does not implement that port.
func (i *Integration) Catalog(ctx context.Context) (domain.Catalog, error) {
	reader, ok := i.stack.Sessions.(ports.CatalogReader)
	if !ok {
		return domain.Catalog{}, domain.Misconfigured("catalog", "the store does not implement ports.CatalogReader")
	}
	return reader.Catalog(ctx)
}

// Find searches the whole database for values, such as an email address or a phone number. It returns the tables and
// columns that hold them. See ports.Finder. Find reads every table completely, so it is for an operator and not for a
// request. progress may be nil. Returns domain.ErrConfiguration if the session factory of Config.Stack does not
// implement that port.
func (i *Integration) Find(
	ctx context.Context, values []string, progress func(domain.FindProgress),
) (domain.Found, error) {
	finder, ok := i.stack.Sessions.(ports.Finder)
	if !ok {
		return domain.Found{}, domain.Misconfigured("find", "the store does not implement ports.Finder")
	}
	return finder.Find(ctx, values, progress)
}
