package app

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/ports"
)

// Schema has the methods for the data map, the tables of habeas, and the tables of the application.
type Schema struct {
	stack    Stack
	sessions ports.SessionFactory
	store    *bunstore.Store  // nil if Config.Stack is set
	db       *bun.DB          // the database of the store
	tables   bunstore.Options // the schema and the name of the tables of habeas
}

// DataMap returns the data map.
func (o *Schema) DataMap() datamap.DataMap { return o.stack.DataMap }

// Plan returns the erasure plan. The caller must not modify it.
func (o *Schema) Plan() datamap.Plan { return o.stack.Eraser.Plan() }

// Catalog returns the live schema of the application's database, for example for package check. See
// ports.CatalogReader. It returns domain.ErrConfiguration if the application set Config.Stack and that stack has no
// Catalog (see stack.Config.Catalog).
func (o *Schema) Catalog(ctx context.Context) (datamap.Catalog, error) {
	if o.stack.Catalog == nil {
		return datamap.Catalog{}, domain.Misconfigured("app", "the stack has no Catalog: set Catalog in stack.Config")
	}
	return o.stack.Catalog.Catalog(ctx)
}

// Satisfies evaluates a CHECK constraint of the application's database on rows of examples. See ports.CatalogReader. It
// returns domain.ErrConfiguration if the application set Config.Stack and that stack has no Catalog.
func (o *Schema) Satisfies(
	ctx context.Context, table string, check datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	if o.stack.Catalog == nil {
		return nil, domain.Misconfigured("app", "the stack has no Catalog: set Catalog in stack.Config")
	}
	return o.stack.Catalog.Satisfies(ctx, table, check, rows)
}

// CountRows counts rows of the application's tables for package check. See ports.RowCounter. It counts nothing if the
// application set Config.Stack.
func (o *Schema) CountRows(ctx context.Context, of datamap.RowQuestion) (datamap.RowCount, error) {
	if o.store == nil {
		return datamap.RowCount{}, nil
	}
	return o.store.CountRows(ctx, of)
}

// Registers reports whether the application has ever called Registered, for any person of the data map. It fails before
// the first migration of the tables of habeas.
func (o *Schema) Registers(ctx context.Context) (bool, error) {
	return lives.Registers(ctx, o.sessions)
}

// Migrate creates the tables of habeas, or updates them to the current version. See bunstore.Migrate. It returns a
// datamap.ForeignMapError if the tables belong to another data map (see AcceptMap), and domain.ErrConfiguration if
// Config.Stack is set.
func (o *Schema) Migrate(ctx context.Context) error {
	if o.store == nil {
		return noDatabase()
	}
	if err := bunstore.Migrate(ctx, o.db, o.tables); err != nil {
		return err
	}
	_, err := inSession(ctx, o.stack.Sessions, readInstallation) // of the migrated tables, also during an Override
	return err
}

// Migrations returns the migrations that Migrate applies, in their order, each with its state. It returns
// domain.ErrConfiguration if Config.Stack is set.
func (o *Schema) Migrations(ctx context.Context) ([]domain.Migration, error) {
	if o.store == nil {
		return nil, noDatabase()
	}
	return bunstore.MigrationStates(ctx, o.db, o.tables)
}

// MigrationSQL returns the statements of all migrations in order, in the SQL dialect of the database, for the tables of
// Config.Name. A comment with the file name precedes the statements of each file. MigrationSQL opens no connection. It
// returns domain.ErrConfiguration if Config.Stack is set.
func (o *Schema) MigrationSQL() (string, error) {
	if o.store == nil {
		return "", noDatabase()
	}
	return bunstore.MigrationText(o.db, o.tables.Name)
}

// Privileges returns what the role of the application needs on the tables of habeas. See bunstore.Privileges. It
// returns domain.ErrConfiguration if Config.Stack is set.
func (o *Schema) Privileges() ([]datamap.Privileges, error) {
	if o.store == nil {
		return nil, noDatabase()
	}
	return bunstore.Privileges(o.db, o.tables)
}

// Installation returns the identity of the tables of habeas, and the data map to which they belong. It returns a
// datamap.ForeignMapError if that is another data map.
func (o *Schema) Installation(ctx context.Context) (datamap.Installation, error) {
	return inSession(ctx, o.sessions, readInstallation)
}

// AcceptMap applies the pending migrations, records the data map of this program in the installation, and returns the
// data map that was recorded before. Call it once after the subject's table was renamed or the type of its key was
// changed. Do not call it for a further data map in the same database: its people would share the ledgers and the
// erasures of the people with the same ids. Give that data map a Config.Name instead. Running processes keep the
// comparison of their first session, so restart them. AcceptMap returns domain.ErrConfiguration if Config.Stack is set.
func (o *Schema) AcceptMap(ctx context.Context) (before datamap.Installation, err error) {
	if o.store == nil {
		return before, noDatabase()
	}
	if err := bunstore.Migrate(ctx, o.db, o.tables); err != nil {
		return before, err
	}
	return inSession(ctx, o.stack.Sessions, func(ctx context.Context, s ports.Session) (datamap.Installation, error) {
		return s.Installation().Accept(ctx)
	})
}

// RenewInstallation gives the tables of habeas a new identity and returns it. Call it in a clone of a database that
// lives on beside the original, before the clone is used. From then on, each of the two refuses the journal lines of
// the other, except the lines of erasures before the clone.
func (o *Schema) RenewInstallation(ctx context.Context) (datamap.Installation, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) (datamap.Installation, error) {
		return s.Installation().Renew(ctx)
	})
}

func readInstallation(ctx context.Context, s ports.Session) (datamap.Installation, error) {
	return s.Installation().Read(ctx)
}

func noDatabase() error {
	return domain.Misconfigured("app", "Config.Stack is set: migrate the store of that stack")
}
