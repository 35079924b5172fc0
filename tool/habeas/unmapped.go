package main

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

// openUnmapped opens the tables of habeas for commands that need no data map. A data map that is given counts, and is
// compared with the one of the tables.
func (s *settings) openUnmapped(ctx context.Context) (cli.Application, error) {
	if _, err := s.project(); err != nil {
		return nil, err
	}
	if _, err := s.dataMapFile(); err == nil {
		return s.open(ctx)
	}
	db, err := s.openDatabase()
	if err != nil {
		return nil, err
	}
	return &unmapped{db: db, tables: bunstore.Options{
		Schema: string(s.schema), Name: s.mapName(), Logger: errorLog(os.Stderr), TrustEncoding: s.trustEncoding,
	}}, nil
}

// unmapped is an application whose data map is not known. Its commands work on the tables of habeas that the name of
// the data map selects.
type unmapped struct {
	cli.Application // nil: the commands that need it are not called
	db              *bun.DB
	tables          bunstore.Options
	attached        *app.Integration
	missing         bool // the database has no tables of habeas of any data map
}

// attach opens the tables of habeas with the subject table that they have recorded. It returns nil if nothing is
// recorded: no session has written to the tables yet. It returns an error if no name is given and the database has
// tables of habeas for a data map with a name, because the same id is another person there.
func (u *unmapped) attach(ctx context.Context) (*app.Integration, error) {
	if u.attached != nil {
		return u.attached, nil
	}
	names, err := bunstore.InstalledNames(ctx, u.db, u.tables)
	if err != nil {
		return nil, err
	}
	if u.tables.Name == "" && (len(names) > 1 || len(names) == 1 && names[0] != "") {
		return nil, refused("the database has tables of habeas for these data maps: " + strings.Join(quoted(names), ", ") +
			". Name one with --name or HABEAS_NAME, or give the data map with --data-map")
	}
	u.missing = len(names) == 0
	installation, err := bunstore.ReadInstallation(ctx, u.db, u.tables)
	if err != nil || installation.SubjectTable == "" {
		return nil, err
	}
	u.attached, err = u.integrate(installation) //nolint:contextcheck // New logs without a context
	return u.attached, err
}

// dataMapOf returns a data map that consists of the recorded subject table with its key columns. It has no personal
// data, so do not erase or export with it. dataMapOf returns domain.ErrConfiguration if no table is recorded.
func dataMapOf(recorded datamap.Installation) (datamap.DataMap, error) {
	if recorded.SubjectTable == "" {
		return datamap.DataMap{}, domain.Misconfigured("installation", "no data map is recorded yet")
	}
	table := datamap.Table{Name: recorded.SubjectTable}
	for _, column := range recorded.KeyColumns {
		table.SubjectKey = append(table.SubjectKey, column.Name)
		table.Columns = append(table.Columns, datamap.Column{Name: column.Name, Type: column.Type})
	}
	table.PrimaryKey = table.SubjectKey
	return datamap.NewDataMap(table)
}

// integrate creates an application whose data map has only the recorded subject table.
func (u *unmapped) integrate(recorded datamap.Installation) (*app.Integration, error) {
	dataMap, err := dataMapOf(recorded)
	if err != nil {
		return nil, err
	}
	return app.New(app.Config{
		DB: u.db, DataMap: dataMap, Schema: u.tables.Schema, Name: u.tables.Name, Logger: slog.New(slog.DiscardHandler),
		TrustEncoding: u.tables.TrustEncoding,
	})
}

func quoted(names []string) []string {
	texts := make([]string, len(names))
	for i, name := range names {
		if texts[i] = strconv.Quote(name); name == "" {
			texts[i] = "the one without a name"
		}
	}
	return texts
}

// Migrate implements cli.Application. It does not compare the data map, and records none.
func (u *unmapped) Migrate(ctx context.Context) error { return bunstore.Migrate(ctx, u.db, u.tables) }

// Migrations implements cli.Application.
func (u *unmapped) Migrations(ctx context.Context) ([]domain.Migration, error) {
	return bunstore.MigrationStates(ctx, u.db, u.tables)
}

// MigrationSQL implements cli.Application.
func (u *unmapped) MigrationSQL() (string, error) {
	return bunstore.MigrationText(u.db, u.tables.Name)
}

// Privileges implements cli.Application.
func (u *unmapped) Privileges() ([]datamap.Privileges, error) {
	return bunstore.Privileges(u.db, u.tables)
}

// AcceptMap implements cli.Application.
func (*unmapped) AcceptMap(context.Context) (datamap.Installation, error) {
	return datamap.Installation{}, refused("--accept-map records a data map, which is missing: set --data-map or" +
		" HABEAS_DATA_MAP")
}

// SubjectState implements cli.Application. As long as the tables of habeas have recorded no data map, the table of
// subjects is not known, and no id counts as wrong.
func (u *unmapped) SubjectState(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	gdpr, err := u.attach(ctx)
	if err != nil || gdpr == nil {
		return domain.SubjectState{Present: err == nil}, err
	}
	return gdpr.Operator().SubjectState(ctx, id)
}

// Trail implements cli.Application.
func (u *unmapped) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	return attached(ctx, u, func(o *app.Operator) ([]domain.AuditEvent, error) { return o.Trail(ctx, id) })
}

// Find implements cli.Application. A database without tables of habeas can be searched, too.
func (u *unmapped) Find(
	ctx context.Context, values []string, progress func(search.Progress),
) (search.Result, error) {
	gdpr, err := u.attach(ctx)
	if err != nil && !u.missing {
		return search.Result{}, err
	}
	if gdpr == nil { // Find only reads, so that this data map is not recorded
		gdpr, err = u.integrate(datamap.Installation{ //nolint:contextcheck // New logs without a context
			SubjectTable: "unknown", KeyColumns: []datamap.KeyColumn{{Name: "id", Type: datamap.TypeText}},
		})
	}
	if err != nil {
		return search.Result{}, err
	}
	return gdpr.Operator().Find(ctx, values, progress)
}

// Status implements cli.Application. It only counts the entries of the outbox.
func (u *unmapped) Status(ctx context.Context) (saga.Status, error) {
	status := saga.NewStatus(time.Now())
	gdpr, err := u.attach(ctx)
	if err != nil || gdpr == nil {
		return status, err
	}
	err = gdpr.Sessions().Do(ctx, func(ctx context.Context, session ports.Session) (err error) {
		status, err = gdpr.Stack().Runner.Status(ctx, session)
		return err
	})
	return status, err
}

// Abandoned implements cli.Application.
func (u *unmapped) Abandoned(
	ctx context.Context, after *domain.OutboxEntry, limit int,
) ([]domain.OutboxEntry, error) {
	return attached(ctx, u, func(o *app.Operator) (entries, error) { return o.Abandoned(ctx, after, limit) })
}

// Requeue implements cli.Application.
func (u *unmapped) Requeue(ctx context.Context, ids ...string) ([]domain.OutboxEntry, error) {
	return attached(ctx, u, func(o *app.Operator) (entries, error) { return o.Requeue(ctx, ids...) })
}

// RequeueMatching implements cli.Application.
func (u *unmapped) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	return attached(ctx, u, func(o *app.Operator) (entries, error) { return o.RequeueMatching(ctx, filter, limit) })
}

// Discard implements cli.Application.
func (u *unmapped) Discard(ctx context.Context, reason string, ids ...string) ([]domain.OutboxEntry, error) {
	return attached(ctx, u, func(o *app.Operator) (entries, error) { return o.Discard(ctx, reason, ids...) })
}

// Purge implements cli.Application.
func (u *unmapped) Purge(ctx context.Context) (int64, error) {
	return attached(ctx, u, func(o *app.Operator) (int64, error) { return o.Purge(ctx) })
}

type entries = []domain.OutboxEntry

// attached returns the result of fn. If the tables of habeas have recorded no data map, no session has written to them,
// so that they are empty: attached then calls nothing.
func attached[T any](ctx context.Context, u *unmapped, fn func(*app.Operator) (T, error)) (result T, err error) {
	gdpr, err := u.attach(ctx)
	if err != nil || gdpr == nil {
		return result, err
	}
	return fn(gdpr.Operator())
}

// openMap reads the data map for the command map, which needs no database.
func (s *settings) openMap(context.Context) (cli.Application, error) {
	dataMap, err := s.readDataMap()
	if err != nil {
		return nil, err
	}
	plan, err := erasure.Planner{}.Plan(dataMap, dataMap.Refs())
	return drawn{dataMap: dataMap, plan: plan}, err
}

// drawn is an application without a database.
type drawn struct {
	cli.Application // nil: the command map does not call it
	dataMap         datamap.DataMap
	plan            datamap.Plan
}

// DataMap implements cli.Application.
func (d drawn) DataMap() datamap.DataMap { return d.dataMap }

// Plan implements cli.Application.
func (d drawn) Plan() datamap.Plan { return d.plan }
