package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Catalog returns the live schema of the application's database. See ports.CatalogReader. It returns
// domain.ErrConfiguration if the session factory of Config.Stack does not implement ports.CatalogReader.
func (i *Integration) Catalog(ctx context.Context) (domain.Catalog, error) {
	reader, ok := i.stack.Sessions.(ports.CatalogReader)
	if !ok {
		return domain.Catalog{}, domain.Misconfigured("catalog", "the store does not implement ports.CatalogReader")
	}
	return reader.Catalog(ctx)
}

// Find searches the complete database for values, such as an email address or a phone number. It returns the tables and
// columns that contain them. See ports.Finder. Find reads every row of every table, so call it for an operator and not
// in a request of a user. The parameter progress may be nil. Find returns domain.ErrConfiguration if the session
// factory of Config.Stack does not implement ports.Finder.
func (i *Integration) Find(
	ctx context.Context, values []string, progress func(domain.FindProgress),
) (domain.Found, error) {
	finder, ok := i.stack.Sessions.(ports.Finder)
	if !ok {
		return domain.Found{}, domain.Misconfigured("find", "the store does not implement ports.Finder")
	}
	return finder.Find(ctx, values, progress)
}
