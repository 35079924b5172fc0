// Package check compares a data map, and the erasure that follows from it, with the live schema of the database. It
// finds at start-up, or in the tests of the application, what would otherwise show at the first erasure, or never: a
// column that a migration has dropped, a constraint that a surrogate breaks, a table that refers to the subject and was
// forgotten, a trigger that keeps old values.
package check

import (
	"cmp"
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Config is what a Checker is made of. Catalog, DataMap and Plan are required.
type Config struct {
	// Catalog reads the schema of the database that holds the application's tables.
	Catalog ports.CatalogReader
	// DataMap is the one to check.
	DataMap domain.DataMap
	// Plan is the erasure that follows from the data map: erasure.Eraser.Plan, or the plan of an erasure.Planner.
	Plan domain.Plan
	// TrustRowFilters says that row-level security policies and views show the connection every row of a subject. Then
	// they are not reported. The default is false.
	TrustRowFilters bool
}

// Checker checks a data map. It keeps nothing between calls, and is safe for concurrent use.
type Checker struct{ config Config }

// New returns a checker. Returns domain.ErrConfiguration if a field is missing, and domain.ErrManifest if the plan is not
// one of the data map.
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
	return &Checker{c}, nil
}

// Check reads the catalog once and returns the findings; none means that every rule holds. They are in the order of the
// data map: by its tables and their columns as they are declared, and then, by name, columns and tables that it does not
// have. At one place, errors come before warnings. Rules lists the codes. It reads no row of the application and changes
// nothing. The error is that of the catalog.
func (c *Checker) Check(ctx context.Context) ([]domain.Finding, error) {
	catalog, err := c.config.Catalog.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	found := newSchema(c.config, catalog)
	for _, group := range []func(*schema){
		(*schema).checkTables, (*schema).checkColumns, (*schema).checkAccess, (*schema).checkSurrogates,
		(*schema).checkConditions, (*schema).checkUniques, (*schema).checkKeys, (*schema).checkDeletions,
		(*schema).checkTriggers, (*schema).checkReach, (*schema).checkNames, (*schema).checkCopies,
		(*schema).checkIndexes, (*schema).checkSecrets,
	} {
		group(found)
	}
	found.sort()
	return found.findings, nil
}

// place is what a finding is about.
type place struct{ table, column, object string }

// report adds a finding. Reason and remedy are sentences. What several paths of a table have in common is reported once.
func (s *schema) report(code string, at place, reason, remedy string) {
	if slices.ContainsFunc(s.findings, func(f domain.Finding) bool {
		return f.Code == code && at == place{f.Table, f.Column, f.Object}
	}) {
		return
	}
	s.findings = append(s.findings, domain.Finding{
		Code: code, Severity: severityOf(code), Table: at.table, Column: at.column, Object: at.object,
		Reason: reason, Remedy: remedy,
	})
}

// reported reports whether there is a finding about a table with one of the codes.
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
			cmp.Compare(a.Severity, b.Severity), // error comes before warning
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Object, b.Object),
		)
	})
}
