package app

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// The methods of this file are for operators: support, a data protection officer, the engineer on call. They are the
// verbs of package cli, and an application calls them from pages of its own. Each is one session without a timeout of
// its own, but for Purge. None of them authorizes anything. With a context of domain.WithOperator, the events that they
// record have the operator's id.

// Export writes the copy of a subject's data to w, as GET /export does, and returns the bundle without its records. See
// httpapi.WriteExport.
func (i *Integration) Export(ctx context.Context, subject domain.Subject, w io.Writer) (domain.ExportBundle, error) {
	return httpapi.WriteExport(ctx, w, i.sessions, i.stack.Exporter, subject)
}

// Known returns what the store knows of a subject. It waits for an erasure of the subject that is under way.
func (i *Integration) Known(ctx context.Context, id domain.SubjectID) (state domain.SubjectState, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		state, err = s.Subjects().LockToRectify(ctx, id)
		return err
	})
	return state, err
}

// Trail returns the audit events of a subject in the order of intake.
func (i *Integration) Trail(ctx context.Context, id domain.SubjectID) (events []domain.AuditEvent, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		if err = domain.CheckCall("trail", id, nil); err == nil {
			events, err = s.Audit().Trail(ctx, id)
		}
		return err
	})
	return events, err
}

// Consents returns the consents in force: for each declared purpose, then for each other purpose in the subject's
// ledger.
func (i *Integration) Consents(ctx context.Context, id domain.SubjectID) (all domain.ConsentStatuses, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		if all, err = i.stack.Consent.Statuses(ctx, s, id); err != nil {
			return err
		}
		records, err := s.Consents().InForce(ctx, id)
		declared := i.stack.Consent.Purposes().Names()
		for _, record := range records {
			if !slices.Contains(declared, record.Purpose) {
				all.Consents = append(all.Consents, domain.ConsentStatusOf(id, record.Purpose, &record))
			}
		}
		return err
	})
	return all, err
}

// ConsentHistory returns every decision of a subject about a purpose in the order of intake.
func (i *Integration) ConsentHistory(
	ctx context.Context, id domain.SubjectID, purpose string,
) (records []domain.ConsentRecord, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		records, err = i.stack.Consent.History(ctx, s, id, purpose)
		return err
	})
	return records, err
}

// ConsentAsOf returns the consent for a purpose that was in force at an instant.
func (i *Integration) ConsentAsOf(
	ctx context.Context, id domain.SubjectID, purpose string, at time.Time,
) (status domain.ConsentStatus, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		status, err = i.stack.Consent.StatusAsOf(ctx, s, id, purpose, at)
		return err
	})
	return status, err
}

// DataMap returns the data map.
func (i *Integration) DataMap() domain.DataMap { return i.stack.DataMap }

// Plan returns the plan that every erasure follows. It must not be modified.
func (i *Integration) Plan() domain.Plan { return i.stack.Eraser.Plan() }

// Status returns what needs a person; see saga.Runner.Status. It adds the migrations that are pending, with the code
// migration-pending, unless the stack was prewired.
func (i *Integration) Status(ctx context.Context) (domain.Status, error) {
	var pending []string
	var migrations []domain.Migration
	if i.store != nil {
		var err error
		if migrations, err = i.Migrations(ctx); err != nil {
			return domain.Status{}, err
		}
	}
	for _, migration := range migrations {
		if migration.State == domain.MigrationPending {
			pending = append(pending, migration.Name)
		}
	}
	status := domain.NewStatus(time.Now())
	if i.store == nil || len(pending) < len(migrations) { // else there is no outbox to be read
		err := i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			status, err = i.stack.Runner.Status(ctx, s)
			return err
		})
		if err != nil {
			return domain.Status{}, err
		}
	}
	if len(pending) > 0 {
		status.PendingMigrations = pending
		status.Findings = append(status.Findings, pendingMigrations(pending))
	}
	return status, nil
}

func pendingMigrations(names []string) domain.Finding {
	return domain.Finding{
		Code: "migration-pending", Severity: domain.SeverityError,
		Reason: "The tables of habeas are not up to date: " + strings.Join(names, ", ") + ".",
		Remedy: "Run the migrations.",
	}
}

// Migrate makes the tables of habeas, or brings them up to date; see bunstore.Migrate. Returns domain.ErrConfiguration
// if the stack was prewired.
func (i *Integration) Migrate(ctx context.Context) error {
	if i.store == nil {
		return noDatabase()
	}
	return bunstore.Migrate(ctx, i.db, bunstore.Options{Schema: i.schema})
}

// Migrations returns the migrations that Migrate applies, in their order, and whether they were applied. Returns
// domain.ErrConfiguration if the stack was prewired.
func (i *Integration) Migrations(ctx context.Context) ([]domain.Migration, error) {
	if i.store == nil {
		return nil, noDatabase()
	}
	return bunstore.MigrationStates(ctx, i.db, bunstore.Options{Schema: i.schema})
}

// MigrationSQL returns the statements of all migrations in the dialect of the database, in their order, each file with
// its name in a comment above it. It opens no connection. Returns domain.ErrConfiguration if the stack was prewired.
func (i *Integration) MigrationSQL() (string, error) {
	if i.store == nil {
		return "", noDatabase()
	}
	files, err := bunstore.Migrations(i.db)
	if err != nil {
		return "", err
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", err
		}
		all.WriteString("-- " + name + "\n\n" + strings.TrimSpace(string(text)) + "\n")
	}
	return all.String(), nil
}

func noDatabase() error {
	return domain.Misconfigured("app", "a prewired stack brings its own store up to date")
}
