package app

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/duties"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/ports"
)

// The methods of this file are for operators, such as support staff, a data protection officer or the engineer on call.
// The commands of package cli call these methods, and an application can call them from its own pages. Each method
// except Purge uses one session without a timeout. No method checks whether its caller is authorized. If ctx comes from
// domain.WithOperator, the audit events have the id of the operator.

// Export writes a copy of the subject's data to w, in the format of GET /export. It returns the domain.ExportBundle
// without its records, because the records are only written to w. See httpapi.WriteExport.
func (i *Integration) Export(ctx context.Context, subject domain.Subject, w io.Writer) (domain.ExportBundle, error) {
	return httpapi.WriteExport(ctx, w, i.sessions, i.stack.Exporter, subject)
}

// Known returns whether the subject's table has a row of the subject, and the life of the id: after an erasure, whether
// the row belongs to the erased person (see domain.Life). It only reads and waits for no lock, so that it also works on
// a standby. It does not see an erasure that is not committed yet.
func (i *Integration) Known(ctx context.Context, id domain.SubjectID) (state domain.SubjectState, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		state, err = s.Subjects().State(ctx, id)
		return err
	})
	return state, err
}

// Registered tells habeas that the application has registered a person under the id. Call it in the transaction of the
// registration (see Join), after the insert of the subject's row, and before the first consent or
// restriction of the person is recorded. The records of an earlier person with the same id then never count for the new
// person. Without this call, habeas recognizes a new person by the creation time of the row only (see domain.Life). It
// is not necessary if ids are never given again. It returns domain.ErrSubject if the subject does not fit the data map,
// and domain.ErrConflict if the subject's table has no row of the subject.
func (i *Integration) Registered(ctx context.Context, s ports.Session, subject domain.Subject) error {
	if err := i.stack.DataMap.CheckSubject(subject); err != nil {
		return err
	}
	return lives.Register(ctx, s, subject.ID, i.clock.Now())
}

// Trail returns the audit events of a subject in the order in which they were recorded.
func (i *Integration) Trail(ctx context.Context, id domain.SubjectID) (events []domain.AuditEvent, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		if err = domain.CheckCall("trail", id, nil); err == nil {
			events, err = s.Audit().Trail(ctx, id)
		}
		return err
	})
	return events, err
}

// Consents returns the current consent of a subject for each purpose of Config.Purposes, and then the consents of the
// subject for purposes that Config.Purposes does not list.
func (i *Integration) Consents(ctx context.Context, id domain.SubjectID) (all domain.ConsentStatuses, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		if all, err = i.stack.Consent.Statuses(ctx, s, id); err != nil {
			return err
		}
		records, err := s.Consents().InForce(ctx, id)
		declared := i.stack.Consent.Purposes().Names()
		all.Consents = all.Consents[:len(declared)] // the rest are grants only
		for _, record := range records {
			if !slices.Contains(declared, record.Purpose) {
				all.Consents = append(all.Consents, domain.ConsentStatusOf(id, record.Purpose, &record))
			}
		}
		return err
	})
	return all, err
}

// ConsentHistory returns every consent decision for a purpose under an id, in the order in which they were recorded. It
// includes the decisions of earlier people with the same id: show it to operators only.
func (i *Integration) ConsentHistory(
	ctx context.Context, id domain.SubjectID, purpose string,
) (records []domain.ConsentRecord, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		records, err = i.stack.Consent.HistoryOfAllLives(ctx, s, id, purpose)
		return err
	})
	return records, err
}

// ConsentAsOf returns the consent for a purpose that was in force at the given past instant.
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

// Plan returns the erasure plan. The caller must not modify it.
func (i *Integration) Plan() domain.Plan { return i.stack.Eraser.Plan() }

// Status returns the state of the outbox and of the background duties, and findings that need the attention of a
// person. See saga.Runner.Status, duties.Findings and lives.Finding. Status reads the marks of all erasures. If
// migrations are pending, Status adds a finding with the code migration-pending. It does not check migrations if
// Config.Stack is set.
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
	if i.store == nil || len(pending) < len(migrations) { // without any migration, the outbox does not exist
		err := i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			if status, err = i.stack.Runner.Status(ctx, s); err != nil {
				return err
			}
			status.Duties, err = i.duties.Read(ctx, s)
			return err
		})
		if err != nil {
			return domain.Status{}, err
		}
		status.Findings = append(status.Findings, duties.Findings(status.Duties, status.At)...)
	}
	if len(pending) == 0 {
		unknown, err := lives.Count(ctx, i.sessions)
		if err != nil {
			return domain.Status{}, err
		}
		if finding, found := lives.Finding(unknown); found {
			status.Findings = append(status.Findings, finding)
		}
	}
	if len(pending) > 0 {
		status.PendingMigrations = pending
		status.Findings = append(status.Findings, pendingMigrations(pending))
	}
	status.Map = i.tables.Name
	return status, nil
}

func pendingMigrations(names []string) domain.Finding {
	return domain.Finding{
		Code: "migration-pending", Severity: domain.SeverityError,
		Reason: "These migrations of the tables of habeas are pending: " + strings.Join(names, ", ") + ".",
		Remedy: "Run the migrations.",
	}
}

// Migrate creates the tables of habeas, or updates them to the current version. See bunstore.Migrate. It returns a
// domain.ForeignMapError if the tables belong to another data map (see AcceptMap), and domain.ErrConfiguration if
// Config.Stack is set.
func (i *Integration) Migrate(ctx context.Context) error {
	if i.store == nil {
		return noDatabase()
	}
	if err := bunstore.Migrate(ctx, i.db, i.tables); err != nil {
		return err
	}
	_, err := i.Installation(ctx)
	return err
}

// Migrations returns the migrations that Migrate applies, in their order, each with its state. It returns
// domain.ErrConfiguration if Config.Stack is set.
func (i *Integration) Migrations(ctx context.Context) ([]domain.Migration, error) {
	if i.store == nil {
		return nil, noDatabase()
	}
	return bunstore.MigrationStates(ctx, i.db, i.tables)
}

// MigrationSQL returns the statements of all migrations in order, in the SQL dialect of the database, for the tables of
// Config.Name. A comment with the file name precedes the statements of each file. MigrationSQL opens no connection. It
// returns domain.ErrConfiguration if Config.Stack is set.
func (i *Integration) MigrationSQL() (string, error) {
	if i.store == nil {
		return "", noDatabase()
	}
	return bunstore.MigrationText(i.db, i.tables.Name)
}

func noDatabase() error {
	return domain.Misconfigured("app", "Config.Stack is set: migrate the store of that stack")
}
