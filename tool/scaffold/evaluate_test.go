package scaffold_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// onPostgres returns a given catalog. PostgreSQL evaluates the constraints.
type onPostgres struct {
	memory.Schema
	database *bunstore.Schema
}

func (o onPostgres) Satisfies(
	ctx context.Context, table string, check datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	return o.database.Satisfies(ctx, table, check, rows)
}

// evaluating returns a reader of the catalog. It creates the tables with their CHECK constraints in PostgreSQL.
func evaluating(t *testing.T, catalog datamap.Catalog) ports.CatalogReader {
	t.Helper()
	db := databases.PostgreSQL(t)
	for _, table := range catalog.Tables {
		var parts []string
		for _, column := range table.Columns {
			if slices.ContainsFunc(table.Checks, func(c datamap.CatalogCheck) bool {
				return slices.Contains(c.Columns, column.Name)
			}) {
				parts = append(parts, column.Name+" "+column.Declared)
			}
		}
		for _, check := range table.Checks {
			parts = append(parts, "CONSTRAINT "+check.Name+" "+check.Text)
		}
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+table.Name+" ("+strings.Join(parts, ", ")+")"); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := bunstore.NewSchema(db, bunstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return onPostgres{memory.NewSchema(catalog), schema}
}

// failing is a reader of a database that fails.
type failing struct {
	memory.Schema
	err error
}

func (f failing) Satisfies(
	context.Context, string, datamap.CatalogCheck, []map[string]any,
) ([]datamap.Verdict, error) {
	return nil, f.err
}

var ofAge = datamap.CatalogCheck{Name: "adult", Columns: []string{"age"}, Text: "CHECK ((age >= 18))"}

func TestADatabaseThatCannotBeReachedIsAnError(t *testing.T) {
	catalog := schema("users: id*, email, age:integer")
	catalog.Tables[0].Checks = []datamap.CatalogCheck{ofAge}
	reader := failing{memory.NewSchema(catalog), domain.ErrUnavailable}
	p, err := scaffold.Propose(t.Context(), reader, scaffold.Options{})
	if !errors.Is(err, domain.ErrUnavailable) || len(p.Tables) > 0 {
		t.Errorf("got %v, %v", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := scaffold.Propose(ctx, reader, scaffold.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
}

// A row of a guest has no email. An erasure would otherwise write one into it.
func TestASurrogateMustFitTheRowsInWhichTheCellIsNULL(t *testing.T) {
	catalog := schema("users: id*, name, email?, phone?, kind, checked_at:time?")
	catalog.Tables[0].Columns[5].Declared = "timestamptz"
	catalog.Tables[0].Checks = []datamap.CatalogCheck{
		{Name: "guests", Columns: []string{"kind", "email"}, Text: "CHECK (((kind <> 'guest'::text) OR (email IS NULL)))"},
		{
			Name: "phones", Columns: []string{"kind", "phone"},
			Text: "CHECK (((kind <> 'guest'::text) OR (phone = ''::text) OR (phone IS NULL)))",
		},
	}
	p := proposeWith(t, evaluating(t, catalog), scaffold.Options{})
	email, phone := p.column(t, "users.email").Personal, p.column(t, "users.phone").Personal
	if email.Strategy != domain.StrategyNull || phone.Strategy != domain.StrategyAnonymize {
		t.Errorf("email: %+v, phone: %+v", email, phone)
	}
}

// The proposal leaves what a constraint binds to other columns, unless the surrogates fit together. Of two columns, one
// of which must be NULL, only one becomes NULL.
func TestAConstraintOnSeveralColumnsDoesNotRefuseTheErasure(t *testing.T) {
	catalog := schema("users: id*, name, email?, phone?, kind, nickname?, street?, zip?, fax?, mobile?, login")
	catalog.Tables[0].Checks = []datamap.CatalogCheck{
		{Name: "one", Columns: []string{"email", "phone"}, Text: "CHECK ((num_nonnulls(email, phone) = 1))"},
		{
			Name: "named", Columns: []string{"kind", "nickname"},
			Text: "CHECK (((kind = 'named'::text) = (nickname IS NOT NULL)))",
		},
		{Name: "together", Columns: []string{"street", "zip"}, Text: "CHECK (((street IS NULL) = (zip IS NULL)))"},
		{Name: "guests", Columns: []string{"mobile", "login"}, Text: "CHECK (((login = 'guest'::text) = (mobile IS NULL)))"},
		{Name: "unread", Columns: []string{"kind", "fax"}, Text: "CHECK ((is_fax(kind, fax)))"},
	}
	catalog.Tables[0].Columns[len(catalog.Tables[0].Columns)-1].Generated = true // so that an erasure leaves the login
	db := catalog
	db.Tables = slices.Clone(catalog.Tables)
	db.Tables[0].Checks = catalog.Tables[0].Checks[:4]
	p := proposeWith(t, evaluating(t, db), scaffold.Options{})
	for column, isErased := range map[string]bool{
		"email": true, "phone": true, "nickname": false, "street": true, "zip": true, "fax": true,
		"mobile": false,
	} {
		if is := p.column(t, "users."+column).Personal != nil; is != isErased {
			t.Errorf("%s: erased %t", column, is)
		}
	}
	email, phone := p.column(t, "users.email").Personal, p.column(t, "users.phone").Personal
	if email.Strategy != domain.StrategyNull || phone.Strategy != domain.StrategyAnonymize {
		t.Errorf("email: %+v, phone: %+v", email, phone)
	}
	if p := propose(t, catalog); p.column(t, "users.fax").Personal != nil {
		t.Errorf("without a verdict: %+v", p.column(t, "users.fax"))
	}
}
