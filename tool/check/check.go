// Package check compares a data map and its erasure plan with the live schema of the database. It reports problems at
// start-up or in the tests of the application, before the first erasure fails because of them. Each problem is a
// finding with a code, a reason and a remedy. Examples of problems are:
//
//   - a column that a migration has dropped
//   - a constraint that a surrogate (the value that an erasure writes) violates
//   - a forgotten table that refers to the subject
//   - a trigger that keeps old values
//
// Run checks a data map. The package example shows a check at start-up.
package check

import (
	"cmp"
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// Options has what Run cannot read from the database and the data map. The zero value selects the defaults.
type Options struct {
	// Registers reports whether the application calls Registered for new people, such as app.Operator.Registers. If it is
	// nil or returns an error, Run assumes that the application does not.
	Registers func(context.Context) (bool, error)
	// Rows counts rows for the rules that the catalog cannot decide, such as app.Operator. If it is nil, Result.Uncounted
	// lists what was not counted. The deadline of the context limits the time.
	Rows ports.RowCounter
	// Clock tells whether an acceptance has ended. The default is the clock of the machine.
	Clock ports.Clock
	// Manifest says that the data map comes from a manifest. The remedies then have its words, not those of struct tags,
	// and each column needs a decision. It is not needed if the data map has questions of a draft.
	Manifest bool
}

// Run compares a data map and its erasure plan with the live schema of the database. It reads the catalog once, and
// returns the findings. If there are no findings, the data map satisfies all rules. Rules lists the rules with their
// codes. The reader is the store of the application, or its app.Operator. The plan is the erasure plan of the data map.
//
// A finding of datamap.SeverityError means that an erasure would fail or would leave personal data behind.
// Errors returns such findings as an error. With this error, an application can refuse to start, and a test can
// fail.
//
// The findings are in the order of the declared tables and columns of the data map. Findings about other tables and
// columns come last, sorted by name. For each table or column, errors come before warnings. Run reads no row of the
// application and changes nothing. The database evaluates its CHECK constraints on examples of surrogates. Run the
// migrations of the application before. The tables of habeas are not needed.
//
// Findings about missing foreign keys, and about missing indexes, are parts of one warning if they concern many tables.
//
// The findings that a person has accepted (datamap.DataMap.Accepted) are apart in the result, each with its reason and
// its end. An acceptance that has ended is itself a finding, and the finding that it accepted comes back. An acceptance
// that matches no finding, or several, is a notice.
//
// Run returns domain.ErrConfiguration if a parameter is missing, or if an acceptance has no reason or no end. It
// returns domain.ErrManifest if a store cannot carry out the plan with the data map. It returns the error of the reader
// if the reader fails.
func Run(
	ctx context.Context, reader ports.CatalogReader, dataMap datamap.DataMap, plan datamap.Plan, o Options,
) (Result, error) {
	_, result, err := run(ctx, reader, dataMap, plan, o)
	return result, err
}

// run does the same as Run, and also returns the schema that it has compared.
func run(
	ctx context.Context, reader ports.CatalogReader, dataMap datamap.DataMap, plan datamap.Plan, o Options,
) (*schema, Result, error) {
	if err := validate(reader, dataMap, plan); err != nil {
		return nil, Result{}, err
	}
	catalog, err := reader.Catalog(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	isDrafted := slices.ContainsFunc(dataMap.Decisions(), func(d datamap.Decision) bool { return len(d.Options) > 0 })
	found := newSchema(dataMap, plan, catalog, o.Manifest || isDrafted)
	found.now = cmp.Or(o.Clock, ports.Clock(system.Clock{})).Now()
	if found.registers, err = o.registers(ctx); err != nil {
		return nil, Result{}, err
	}
	if err := found.decideConditions(ctx, reader); err != nil {
		return nil, Result{}, err
	}
	for _, group := range []func(*schema){
		(*schema).checkTables, (*schema).checkDecisions, (*schema).checkColumns, (*schema).checkAccess,
		(*schema).checkSurrogates, (*schema).checkConditions, (*schema).checkUniques,
		(*schema).checkKeys, (*schema).checkDeletions, (*schema).checkPaths, (*schema).checkTriggers,
		(*schema).checkCopies, (*schema).checkIndexes, (*schema).checkEnforcement, (*schema).checkForeignKeys,
		(*schema).checkSecrets, (*schema).checkRefs, (*schema).checkLives, (*schema).checkAccount,
		(*schema).checkUndecided, (*schema).checkExposures,
		(*schema).checkPublications, (*schema).checkConflicts, (*schema).checkEncoding,
	} {
		group(found)
	}
	if err := found.checkPartitions(ctx, reader); err != nil {
		return nil, Result{}, err
	}
	uncounted, err := found.checkRows(ctx, o.Rows)
	if err != nil {
		return nil, Result{}, err
	}
	found.foldForeignKeys()
	found.foldIndexes()
	found.foldEqual()
	found.sort()
	result := Result{Accepted: []AcceptedFinding{}, LeftOut: found.leftOut(), Uncounted: uncounted}
	if accepted := dataMap.Accepted(); len(accepted) > 0 {
		result.Accepted = found.accept(accepted)
	}
	result.Findings = found.findings
	return found, result, nil
}

func validate(reader ports.CatalogReader, dataMap datamap.DataMap, erasure datamap.Plan) error {
	switch {
	case reader == nil:
		return domain.Misconfigured("check", "the catalog reader is missing")
	case dataMap.IsZero():
		return domain.Misconfigured("check", "the data map is missing")
	case erasure.Steps == nil:
		return domain.Misconfigured("check", "the plan is missing")
	}
	if problems := datamap.CheckAcceptances(dataMap.Accepted()); len(problems) > 0 {
		return domain.Misconfigured("check", problems[0].String())
	}
	_, err := plan.CheckSteps(dataMap, erasure.Local())
	return err
}

// registers reports whether the application calls Registered. Before the first migration of habeas, no table tells.
func (o Options) registers(ctx context.Context) (bool, error) {
	if o.Registers == nil {
		return false, nil
	}
	calls, err := o.Registers(ctx)
	if err != nil && ctx.Err() == nil {
		return false, nil // the rules then report too much rather than too little
	}
	return calls, err
}

// place is the place of a finding: a table, and possibly a column and an object such as a constraint.
type place struct{ table, column, object string }

// report adds a finding. The texts are its reason and its remedy, which are sentences. Texts that are missing are those
// of the rule. If an earlier finding has the same code and place, report adds nothing, because a check may run several
// times for one table.
func (s *schema) report(code string, at place, texts ...string) {
	s.reportAs(severityOf(code), code, at, texts...)
}

// reportAs is report for a finding whose severity differs from Rule.Severity.
func (s *schema) reportAs(severity datamap.Severity, code string, at place, texts ...string) {
	if slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
		return f.Code == code && at == place{f.Table, f.Column, f.Object}
	}) {
		return
	}
	ofRule := rules[indexOf(code)].texts
	texts = append(texts, ofRule[max(0, len(ofRule)-2+len(texts)):]...)
	s.findings = append(s.findings, datamap.Finding{
		Code: code, Severity: severity, Table: at.table, Column: at.column, Object: at.object,
		Reason: texts[0], Remedy: inWords(texts[1], s.manifest),
	})
}

// reported reports whether there is already a finding about the table with one of the codes.
func (s *schema) reported(table string, codes ...string) bool {
	return slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
		return f.Table == table && slices.Contains(codes, f.Code)
	})
}

func (s *schema) sort() {
	declared := s.Declared()
	place := func(f datamap.Finding) (table, column int) {
		table = slices.IndexFunc(declared, func(t datamap.Table) bool { return t.Name == f.Table })
		if table < 0 {
			return len(declared), 0
		}
		if f.Column == "" {
			return table, -1
		}
		columns := declared[table].Columns
		column = slices.IndexFunc(columns, func(c datamap.Column) bool { return c.Name == f.Column })
		if column < 0 {
			column = len(columns)
		}
		return table, column
	}
	slices.SortStableFunc(s.findings, func(a, b datamap.Finding) int {
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
