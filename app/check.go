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
//	findings, err := gdpr.Check(ctx)
//	if err == nil {
//		err = domain.Errors(findings)
//	}
//
// Check leaves out the findings of Config.Accepted. See CheckAll.
func (i *Integration) Check(ctx context.Context) ([]domain.Finding, error) {
	result, err := i.CheckAll(ctx)
	return result.Findings, err
}

// CheckAll does the same as Check, and also returns the findings that a person has accepted (Config.Accepted), each
// with its reason and its end.
func (i *Integration) CheckAll(ctx context.Context) (domain.CheckResult, error) {
	if i.stack.Checker == nil {
		return domain.CheckResult{}, domain.Misconfigured("app", "the stack has no Checker: set Catalog in stack.Config")
	}
	return i.stack.Checker.CheckAll(ctx)
}
