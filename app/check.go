package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Check compares the data map and the erasure plan with the live schema of the database. The erasure plan follows from
// the data map. Check runs a few statements that read only the schema. It reads no row and changes nothing. Run the
// migrations of the application before Check. Check does not need the tables of habeas.
//
// See check.Checker.Check for the order of the findings, and check.Rules for the rules. Check returns
// domain.ErrUnavailable if the database cannot be reached. It returns domain.ErrConfiguration if the application set
// Config.Stack and that stack has no Checker (see stack.Config.Catalog).
//
// A finding of domain.SeverityError means that an erasure would fail or would leave personal data behind. domain.Errors
// returns such findings as an error. With this error, an application can refuse to start, and a test can fail:
//
//	result, err := gdpr.Operator().Check(ctx)
//	if err == nil {
//		err = domain.Errors(result.Findings)
//	}
//
// The findings that a person has accepted (Config.Accepted) are apart in the result, each with its reason and its end.
func (o *Operator) Check(ctx context.Context) (domain.CheckResult, error) {
	if o.stack.Checker == nil {
		return domain.CheckResult{}, domain.Misconfigured("app", "the stack has no Checker: set Catalog in stack.Config")
	}
	return o.stack.Checker.CheckAll(ctx)
}

// Catalog returns the live schema of the application's database. See ports.CatalogReader. It returns
// domain.ErrConfiguration if the application set Config.Stack and that stack has no Catalog (see stack.Config.Catalog).
func (o *Operator) Catalog(ctx context.Context) (domain.Catalog, error) {
	if o.stack.Catalog == nil {
		return domain.Catalog{}, domain.Misconfigured("app", "the stack has no Catalog: set Catalog in stack.Config")
	}
	return o.stack.Catalog.Catalog(ctx)
}

// Find searches the complete database for values, such as an email address or a phone number. It returns the tables and
// columns that contain them. See ports.Finder. Find reads every row of every table, so call it for an operator and not
// in a request of a user. The parameter progress may be nil. Find returns domain.ErrConfiguration if the application
// set Config.Stack and that stack has no Finder (see stack.Config.Finder).
func (o *Operator) Find(
	ctx context.Context, values []string, progress func(domain.SearchProgress),
) (domain.SearchResult, error) {
	if o.stack.Finder == nil {
		return domain.SearchResult{}, domain.Misconfigured("app", "the stack has no Finder: set Finder in stack.Config")
	}
	return o.stack.Finder.Find(ctx, values, progress)
}
