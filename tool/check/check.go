// Package check compares a data map and its erasure plan with the live schema of the database. It reports problems at
// start-up or in the tests of the application, before the first erasure fails because of them. Each problem is a
// finding with a code, a reason and a remedy. Examples of problems are:
//
//   - a column that a migration has dropped
//   - a constraint that a surrogate (the value that an erasure writes) violates
//   - a forgotten table that refers to the subject
//   - a trigger that keeps old values
//
// The package example shows a Checker.
package check

import (
	"cmp"
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Config holds the dependencies and the options of a Checker. Catalog, DataMap and Plan are required.
type Config struct {
	// Catalog reads the schema of the database that holds the application's tables.
	Catalog ports.CatalogReader
	// DataMap is the data map to check.
	DataMap domain.DataMap
	// Plan is the erasure plan of the data map, from erasure.Eraser.Plan or erasure.Planner.Plan.
	Plan domain.Plan
	// TrustRowFilters states that no row-level security policy and no view hides rows of a subject from the connection.
	// The Checker then does not report policies and views that may hide rows. The default is false.
	TrustRowFilters bool
	// Registers reports whether the application calls Registered for new people, see lives.Registers. If it is nil or
	// returns an error, the Checker assumes that the application does not.
	Registers func(context.Context) (bool, error)
	// Accepted are findings that a person has accepted. Those of the data map (domain.DataMap.Accepted) are added.
	Accepted []domain.Acceptance
	// Clock tells whether an acceptance has ended. It is required if there are accepted findings.
	Clock ports.Clock
}

// Checker checks one data map. It keeps no state between calls and is safe for concurrent use.
type Checker struct{ config Config }

// New returns a Checker. It returns domain.ErrConfiguration if a required field is missing, or if an acceptance has no
// reason or no end. It returns
// domain.ErrManifest if a store cannot carry out the plan with the data map.
func New(c Config) (*Checker, error) {
	switch {
	case c.Catalog == nil:
		return nil, domain.Misconfigured("check", "Catalog is missing")
	case c.DataMap.IsZero():
		return nil, domain.Misconfigured("check", "DataMap is missing")
	case c.Plan.Steps == nil:
		return nil, domain.Misconfigured("check", "Plan is missing")
	}
	if _, err := c.DataMap.CheckSteps(c.Plan.Local()); err != nil {
		return nil, err
	}
	c.Accepted = slices.Concat(c.DataMap.Accepted(), c.Accepted)
	if len(c.Accepted) > 0 && c.Clock == nil {
		return nil, domain.Misconfigured("check", "Clock is missing: accepted findings have an end")
	}
	if problems := domain.CheckAcceptances(c.Accepted); len(problems) > 0 {
		return nil, domain.Misconfigured("check", problems[0].String())
	}
	return &Checker{c}, nil
}

// Check reads the catalog (the live schema of the database) once and returns the findings. If there are no findings,
// the data map satisfies all rules. Rules lists the rules with their codes.
//
// The findings are in the order of the declared tables and columns of the data map. Findings about other tables and
// columns come last, sorted by name. For each table or column, errors come before warnings. Check reads no row of the
// application and changes nothing. It returns the error of the CatalogReader if the reader fails.
//
// Findings that a person has accepted (Config.Accepted) are left out, see CheckAll.
func (c *Checker) Check(ctx context.Context) ([]domain.Finding, error) {
	result, err := c.CheckAll(ctx)
	return result.Findings, err
}

// CheckAll does the same as Check, and also returns the accepted findings, each with its reason and its end. An
// acceptance that has ended is itself a finding, and the finding that it accepted comes back. An acceptance that
// matches no finding, or several, is a notice.
func (c *Checker) CheckAll(ctx context.Context) (domain.CheckResult, error) {
	catalog, err := c.config.Catalog.Catalog(ctx)
	if err != nil {
		return domain.CheckResult{}, err
	}
	found := newSchema(c.config, catalog)
	if found.registers, err = c.registers(ctx); err != nil {
		return domain.CheckResult{}, err
	}
	for _, group := range []func(*schema){
		(*schema).checkTables, (*schema).checkColumns, (*schema).checkAccess, (*schema).checkSurrogates,
		(*schema).checkConditions, (*schema).checkUniques, (*schema).checkKeys, (*schema).checkDeletions,
		(*schema).checkTriggers, (*schema).checkReach, (*schema).checkNames, (*schema).checkCopies,
		(*schema).checkIndexes, (*schema).checkForeignKeys, (*schema).checkSecrets, (*schema).checkRefs, (*schema).checkLives,
	} {
		group(found)
	}
	found.sort()
	result := domain.CheckResult{Accepted: []domain.AcceptedFinding{}}
	if len(c.config.Accepted) > 0 {
		result.Accepted = found.accept(c.config.Accepted, c.config.Clock.Now())
	}
	result.Findings = found.findings
	return result, nil
}

// registers reports whether the application calls Registered. Before the first migration of habeas, no table tells.
func (c *Checker) registers(ctx context.Context) (bool, error) {
	if c.config.Registers == nil {
		return false, nil
	}
	calls, err := c.config.Registers(ctx)
	if err != nil && ctx.Err() == nil {
		return false, nil // the rules then report too much rather than too little
	}
	return calls, err
}

// place is the place of a finding: a table, and possibly a column and an object such as a constraint.
type place struct{ table, column, object string }

// report adds a finding. The parameters reason and remedy are sentences. If an earlier finding has the same code and
// place, report adds nothing, because a check may run several times for one table.
func (s *schema) report(code string, at place, reason, remedy string) {
	s.reportAs(severityOf(code), code, at, reason, remedy)
}

// reportAs is report for a finding whose severity differs from Rule.Severity.
func (s *schema) reportAs(severity domain.Severity, code string, at place, reason, remedy string) {
	if slices.ContainsFunc(s.findings, func(f domain.Finding) bool {
		return f.Code == code && at == place{f.Table, f.Column, f.Object}
	}) {
		return
	}
	s.findings = append(s.findings, domain.Finding{
		Code: code, Severity: severity, Table: at.table, Column: at.column, Object: at.object,
		Reason: reason, Remedy: remedy,
	})
}

// reported reports whether there is already a finding about the table with one of the codes.
func (s *schema) reported(table string, codes ...string) bool {
	return slices.ContainsFunc(s.findings, func(f domain.Finding) bool {
		return f.Table == table && slices.Contains(codes, f.Code)
	})
}

func (s *schema) sort() {
	declared := s.Declared()
	place := func(f domain.Finding) (table, column int) {
		table = slices.IndexFunc(declared, func(t domain.Table) bool { return t.Name == f.Table })
		if table < 0 {
			return len(declared), 0
		}
		if f.Column == "" {
			return table, -1
		}
		columns := declared[table].Columns
		column = slices.IndexFunc(columns, func(c domain.Column) bool { return c.Name == f.Column })
		if column < 0 {
			column = len(columns)
		}
		return table, column
	}
	slices.SortStableFunc(s.findings, func(a, b domain.Finding) int {
		tableA, columnA := place(a)
		tableB, columnB := place(b)
		return cmp.Or(
			cmp.Compare(tableA, tableB), cmp.Compare(columnA, columnB),
			cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Severity, b.Severity), // error comes before notice, and notice before warning
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Object, b.Object),
		)
	})
}
