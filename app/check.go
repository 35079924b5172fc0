package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Check compares the data map, and the erasure that follows from it, with the live schema of the database. It reads the
// schema only, in a few statements, never a row, and changes nothing. See check.Checker.Check for the order of the
// findings, and check.Rules for the rules. Errors are domain.ErrUnavailable if the database cannot be reached, and
// domain.ErrConfiguration if the stack was prewired without stack.Config.Catalog.
//
// A finding of domain.SeverityError means that an erasure would fail, or would leave personal data. An application that
// must not start then, or whose tests must not pass, returns domain.Errors of the findings:
//
//	findings, err := gdpr.Check(ctx)
//	if err == nil {
//		err = domain.Errors(findings)
//	}
//
// Migrations must have run before.
func (i *Integration) Check(ctx context.Context) ([]domain.Finding, error) {
	if i.stack.Checker == nil {
		return nil, domain.Misconfigured("app", "the stack has no Checker: set Catalog in stack.Config")
	}
	return i.stack.Checker.Check(ctx)
}
