package schemas

import (
	"context"
	"log/slog"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/check"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// application is an existing application with its own tables, to which habeas was added.
type application struct {
	*app.Integration
	db  *bun.DB
	log *fixture.Log
}

// open runs statements that create the tables and rows of the application, and then adds habeas.
func open(t testing.TB, db *bun.DB, config app.Config, statements ...string) *application {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	execute(t, db, statements...)
	log := &fixture.Log{}
	config.DB, config.Logger = db, slog.New(slog.NewTextHandler(log, nil))
	gdpr, err := app.New(config)
	must(t, err)
	return &application{gdpr, db, log}
}

func (a *application) check(ctx context.Context) (check.Result, error) {
	return check.Run(ctx, a.Operator(), a.DataMap(), a.Plan(), check.Options{Registers: a.Operator().Registers})
}

func (a *application) erase(
	ctx context.Context, id string, refs ...domain.SubjectRef,
) (result domain.ErasureResult, err error) {
	subject, err := domain.NewSubject(id, refs...)
	if err != nil {
		return result, err
	}
	err = a.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		result, err = a.Stack().Eraser.Erase(ctx, s, subject)
		return err
	})
	return result, err
}

func (a *application) export(ctx context.Context, id string) (bundle domain.ExportBundle, err error) {
	subject, err := domain.NewSubject(id)
	if err != nil {
		return bundle, err
	}
	err = a.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		bundle, err = a.Stack().Exporter.Export(ctx, s, subject)
		return err
	})
	return bundle, err
}

func (a *application) rectify(
	ctx context.Context, id string, corrections domain.Corrections, refs ...domain.SubjectRef,
) (result domain.RectificationResult, err error) {
	subject, err := domain.NewSubject(id, refs...)
	if err != nil {
		return result, err
	}
	err = a.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		result, err = a.Stack().Rectifier.RectifySubject(ctx, s, subject, corrections, rectification.AllColumns())
		return err
	})
	return result, err
}

// failed returns the payloads of the events erasure_step_failed in the audit trail of a subject.
func (a *application) failed(t testing.TB, id string) []domain.Payload {
	t.Helper()
	return a.failures(t, id, domain.EventErasureStepFailed)
}

// failures returns the payloads of the events of the given type in the audit trail of a subject.
func (a *application) failures(t testing.TB, id string, failure domain.EventType) (payloads []domain.Payload) {
	t.Helper()
	for _, event := range fixture.Trail(t, a.Stack().Sessions, fixture.MustID(t, id)) {
		if event.EventType == failure {
			payloads = append(payloads, event.Payload)
		}
	}
	return payloads
}

func (a *application) count(t testing.TB, query string) (n int) {
	t.Helper()
	must(t, a.db.DB.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

func (a *application) text(t testing.TB, query string) (text string) {
	t.Helper()
	must(t, a.db.DB.QueryRowContext(t.Context(), query).Scan(&text))
	return text
}

func isPostgres(db *bun.DB) bool { return db.Dialect().Name() == dialect.PG }

// onPostgres returns an empty PostgreSQL database, for tests that need concurrent transactions or features of
// PostgreSQL.
func onPostgres(t *testing.T) *bun.DB {
	t.Helper()
	return databases.PostgreSQL(t)
}

var execute = databases.Execute

var must = fixture.Must
