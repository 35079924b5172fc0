package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// refusing is an external system that refuses every call to erase.
type refusing struct{ ports.Resolver }

func (refusing) Name() string { return "crm" }

func (refusing) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, errors.New("down")
}

func (refusing) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	return false, &domain.ResolverError{Resolver: "crm", Message: "refuses"}
}

// operated returns an integration, a subject, and a context with an operator. The database contains one person, the
// subject. The only external system knows the subject by an id (ref), and refuses every call.
func operated(t *testing.T) (*app.Integration, domain.Subject, context.Context) {
	t.Helper()
	_, db := newIntegration(t)
	databases.Insert(t, db, &shop.Customer{ID: 1, Email: "anna@example.org"})
	gdpr, err := app.New(app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{refusing{}}})
	must(t, err)
	subject := fixture.MustSubject(t, "1", domain.SubjectRef{Kind: "crm", Value: "c-1"})
	ctx, err := domain.WithOperator(t.Context(), "dpo")
	must(t, err)
	return gdpr, subject, ctx
}

func record(t *testing.T, ctx context.Context, gdpr *app.Integration, id domain.SubjectID, purpose string) {
	t.Helper()
	must(t, gdpr.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Consent.Record(ctx, s, id, domain.ConsentDecision{
			Purpose: purpose, PolicyVersion: "1", Granted: true, Source: "desk",
		})
		return err
	}))
}

func TestEveryEventOfACallByAnOperatorHasItsID(t *testing.T) {
	gdpr, subject, ctx := operated(t)
	stack := gdpr.Stack()
	record(t, ctx, gdpr, subject.ID, "news")
	must(t, stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := stack.Restriction.Record(ctx, s, subject.ID, domain.RestrictionDecision{Restricted: true, Source: "desk"})
		return err
	}))
	must(t, stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := stack.Rectifier.RectifySubject(ctx, s, subject, domain.Corrections{domain.CategoryContact: "a@example.org"})
		return err
	}))
	_, err := gdpr.Operator().Export(ctx, subject, &bytes.Buffer{})
	must(t, err)
	_, err = gdpr.Operator().Erase(ctx, subject)
	must(t, err)
	_, err = stack.Runner.RunOnce(t.Context()) // the call of a worker, without an operator
	must(t, err)
	abandoned, err := gdpr.Operator().Abandoned(ctx, nil, 10)
	must(t, err)
	if len(abandoned) != 1 {
		t.Fatalf("%d entries were given up", len(abandoned))
	}
	requeued, err := gdpr.Operator().Requeue(ctx, abandoned[0].EntryID)
	must(t, err)
	_, err = stack.Runner.RunOnce(t.Context())
	must(t, err)
	matching, err := gdpr.Operator().RequeueMatching(ctx, domain.OutboxFilter{Resolver: "crm"}, 10)
	must(t, err)
	_, err = stack.Runner.RunOnce(t.Context())
	must(t, err)
	discarded, err := gdpr.Operator().Discard(ctx, "done by hand", abandoned[0].EntryID)
	must(t, err)
	if len(requeued) != 1 || len(matching) != 1 || len(discarded) != 1 {
		t.Errorf("requeued %d and %d, discarded %d", len(requeued), len(matching), len(discarded))
	}
	failing, stop := context.WithCancel(ctx)
	err = stack.Sessions.Do(failing, func(ctx context.Context, s ports.Session) error {
		if _, err := stack.Eraser.Erase(ctx, s, subject); err != nil {
			return err
		}
		stop()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}

	events, err := gdpr.Operator().Trail(t.Context(), subject.ID)
	must(t, err)
	seen := map[domain.EventType]int{}
	for _, event := range events {
		ofWorker := event.EventType == domain.EventErasureStepFailed && event.Payload["external"] == true
		if operator := event.Payload[domain.PayloadOperator]; (operator == "dpo") == ofWorker {
			t.Errorf("%s has the operator %v", event.EventType, operator)
		}
		seen[event.EventType]++
	}
	for _, eventType := range []domain.EventType{
		domain.EventConsentGranted, domain.EventRestrictionPlaced, domain.EventRectificationCompleted,
		domain.EventExportRequested, domain.EventExportCompleted, domain.EventErasureRequested,
		domain.EventErasureStepSucceeded, domain.EventConsentWithdrawn, domain.EventErasureLocalCompleted,
		domain.EventErasureRequeued, domain.EventErasureDiscarded, domain.EventErasureCompleted,
	} {
		if seen[eventType] == 0 {
			t.Errorf("the trail lacks the event %s", eventType)
		}
	}
	if seen[domain.EventErasureRequested] != 2 { // the second event is the evidence of a failed erasure
		t.Errorf("%d events of requests", seen[domain.EventErasureRequested])
	}
}

func TestAnExportByAnOperatorIsOneLine(t *testing.T) {
	gdpr, subject, ctx := operated(t)
	var copied bytes.Buffer
	head, err := gdpr.Operator().Export(ctx, subject, &copied)
	must(t, err)
	var bundle domain.ExportBundle
	must(t, json.Unmarshal(copied.Bytes(), &bundle))
	if len(bundle.Records) != 1 || !strings.Contains(copied.String(), `"anna@example.org"`) ||
		strings.Index(copied.String(), "\n") != copied.Len()-1 {
		t.Errorf("copied %q", copied.String())
	}
	if len(head.IncompleteSources) != 1 || len(head.Records) != 0 || !head.GeneratedAt.Equal(bundle.GeneratedAt) {
		t.Errorf("returned %+v", head)
	}
}

// full is a writer that fails after the given number of bytes, like a full disk.
type full struct{ room int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestACopyThatCannotBeWrittenIsAnError(t *testing.T) {
	gdpr, subject, ctx := operated(t)
	_, err := gdpr.Operator().Export(ctx, subject, &full{})
	if !errors.Is(err, errFull) || strings.Contains(err.Error(), "space") {
		t.Errorf("got %v", err)
	}
	must(t, gdpr.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		for range 3000 { // more than the buffer of the export
			must(t, s.Consents().Append(ctx, domain.ConsentRecord{
				SubjectID: subject.ID, Purpose: strings.Repeat("x", 255), PolicyVersion: "1", Source: "desk",
			}))
		}
		return nil
	}))
	if _, err := gdpr.Operator().Export(ctx, subject, &full{room: 100 << 10}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	events, err := gdpr.Operator().Trail(ctx, subject.ID)
	must(t, err)
	if last := events[len(events)-1]; last.EventType != domain.EventExportRequested {
		t.Errorf("the last event of a broken export is %s", last.EventType)
	}
}

// No purpose is declared. See also the test of consent.Ledger.AllStatuses.
func TestAnOperatorReadsTheConsentsOfTheLedger(t *testing.T) {
	gdpr, subject, ctx := operated(t)
	record(t, ctx, gdpr, subject.ID, "former")
	all, err := gdpr.Operator().Consents(ctx, subject.ID)
	must(t, err)
	if len(all.Consents) != 1 || all.Consents[0].Purpose != "former" || !all.Consents[0].Granted {
		t.Errorf("got %+v", all)
	}
	history, err := gdpr.Operator().ConsentHistory(ctx, subject.ID, "former")
	must(t, err)
	if len(history) != 1 || !history[0].Granted {
		t.Errorf("history %v", history)
	}
	before, err := gdpr.Operator().ConsentAsOf(ctx, subject.ID, "former", history[0].RecordedAt.Add(-time.Microsecond))
	must(t, err)
	if before.Granted {
		t.Errorf("granted before %v", history[0].RecordedAt)
	}
}

func TestASubjectIsKnownByItsRowOrItsErasure(t *testing.T) {
	gdpr, subject, ctx := operated(t)
	nobody := fixture.MustID(t, "2")
	for _, want := range []domain.SubjectState{{Present: true}, {Present: true, Life: domain.LifeEnded}} {
		if got, err := gdpr.Operator().SubjectState(ctx, subject.ID); err != nil ||
			got.Present != want.Present || got.Life != want.Life {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		if got, err := gdpr.Operator().SubjectState(ctx, nobody); err != nil || got != (domain.SubjectState{}) {
			t.Errorf("nobody: %+v, %v", got, err)
		}
		_, err := gdpr.Operator().Erase(ctx, subject)
		must(t, err)
	}
}

func TestTheStatusIncludesMigrations(t *testing.T) {
	db := databases.SQLite(t)
	gdpr, err := app.New(app.Config{DB: db, Models: models})
	must(t, err)
	for _, want := range []struct {
		state    domain.MigrationState
		findings int
	}{{domain.MigrationPending, 1}, {domain.MigrationApplied, 0}} {
		migrations, err := gdpr.Operator().Migrations(t.Context())
		must(t, err)
		for _, migration := range migrations {
			if migration.State != want.state {
				t.Errorf("%s is %s, not %s", migration.Name, migration.State, want.state)
			}
		}
		status, err := gdpr.Operator().Status(t.Context())
		must(t, err)
		if len(status.Findings) != want.findings || len(status.PendingMigrations) != want.findings*len(migrations) {
			t.Errorf("got %+v", status)
		}
		must(t, gdpr.Migrate(t.Context()))
	}
	text, err := gdpr.Operator().MigrationSQL()
	must(t, err)
	if !strings.HasPrefix(text, "-- 0001_habeas.sql\n\n") || !strings.Contains(text, "CREATE TABLE habeas_outbox") {
		t.Errorf("the statements begin with %.60q", text)
	}
}

func TestAStackOfTheApplicationHasNoMigrations(t *testing.T) {
	gdpr, _ := newIntegration(t)
	wired := gdpr.Stack()
	integration, err := app.New(app.Config{Stack: &wired})
	must(t, err)
	_, listed := integration.Operator().Migrations(t.Context())
	_, text := integration.Operator().MigrationSQL()
	for _, err := range []error{listed, text, integration.Migrate(t.Context())} {
		if !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("got %v", err)
		}
	}
	if status, err := integration.Operator().Status(t.Context()); err != nil || len(status.Findings) > 0 {
		t.Errorf("%+v, %v", status, err)
	}
}

// Nothing tells whose the row is: it has no creation time. The call of Registered tells it.
func TestUnknownLivesShowInStatusAndHealth(t *testing.T) {
	gdpr, db := newIntegration(t)
	subject := fixture.MustSubject(t, "1")
	register := func() {
		t.Helper()
		_, err := db.NewInsert().Model(&shop.Customer{ID: 1, Email: "anna@example.org"}).On("CONFLICT (id) DO UPDATE").
			Set("email = EXCLUDED.email").Exec(t.Context())
		must(t, err)
	}
	expect := func(when string, unknown bool, codes ...string) {
		t.Helper()
		status, err := gdpr.Operator().Status(t.Context())
		must(t, err)
		var got []string
		for _, finding := range status.Findings {
			if got = append(got, finding.Code); !strings.Contains(finding.Remedy, "Registered") {
				t.Errorf("%s: the remedy is %q", when, finding.Remedy)
			}
		}
		if !slices.Equal(got, codes) {
			t.Errorf("%s: the findings are %q, want %q", when, got, codes)
		}
		fresh, err := app.New(app.Config{DB: db, Models: models}) // has no earlier count
		must(t, err)
		if state := fresh.Health(t.Context()); !state.Ready || state.Degraded != unknown {
			t.Errorf("%s: %+v", when, state)
		}
	}
	session := func(fn func(context.Context, ports.Session) error) {
		t.Helper()
		must(t, gdpr.Sessions().Do(t.Context(), fn))
	}
	register()
	expect("before an erasure", false)
	session(func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Eraser.Erase(ctx, s, subject)
		return err
	})
	expect("after an erasure", false)
	register()
	expect("after another registration", true, "lives-unknown")
	session(func(ctx context.Context, s ports.Session) error { return gdpr.Registered(ctx, s, subject) })
	expect("after the call of Registered", false)
}
