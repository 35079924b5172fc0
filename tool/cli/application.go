package cli

import (
	"context"
	"io"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/ports"
)

// Application has the methods that the commands call. The parts of *app.Operator implement them, and their
// documentation describes them.
type Application interface {
	Subjects
	Outbox
	Retention
	Schema
}

// Subjects has the methods for one subject, and for values of a subject.
type Subjects interface {
	SubjectState(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error)
	Rehearse(ctx context.Context, subject domain.Subject) (datamap.Rehearsal, error)
	Preview(ctx context.Context, subject domain.Subject, limit int, show func(datamap.StepSample) error) (
		datamap.Rehearsal, error)
	Erase(ctx context.Context, subject domain.Subject) (domain.ErasureResult, error)
	EraseAsRehearsed(ctx context.Context, subject domain.Subject, fingerprint string) (domain.ErasureResult, error)
	Verify(ctx context.Context, id domain.SubjectID) (domain.Verification, error)
	ClearLeftOver(ctx context.Context, id domain.SubjectID) (domain.Verification, error)
	Export(ctx context.Context, subject domain.Subject, w io.Writer) (domain.ExportBundle, error)
	Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error)
	Consents(ctx context.Context, id domain.SubjectID) (domain.ConsentStatuses, error)
	ConsentHistory(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error)
	ConsentAsOf(ctx context.Context, id domain.SubjectID, purpose string, at time.Time) (domain.ConsentStatus, error)
	Find(ctx context.Context, values []string, progress func(search.Progress)) (search.Result, error)
}

// Outbox has the methods for the outbox, which is the table of calls to external systems.
type Outbox interface {
	Status(ctx context.Context) (saga.Status, error)
	Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error)
	Requeue(ctx context.Context, entryIDs ...string) ([]domain.OutboxEntry, error)
	RequeueMatching(ctx context.Context, filter domain.OutboxFilter, limit int) ([]domain.OutboxEntry, error)
	Discard(ctx context.Context, reason string, entryIDs ...string) ([]domain.OutboxEntry, error)
	Purge(ctx context.Context) (removed int64, err error)
}

// Retention has the methods that process all erased subjects. Sweep overwrites retained values whose retention period
// has ended. Journal lists the erasures. Replay repeats the erasures of a journal after the database was restored
// from a backup.
type Retention interface {
	Sweep(ctx context.Context, progress func(domain.SweepReport)) (domain.SweepReport, error)
	RehearseSweep(ctx context.Context, progress func(domain.SweepReport)) (domain.SweepReport, error)
	Journal(ctx context.Context, out io.Writer, from journal.From) (written int64, err error)
	Replay(ctx context.Context, lines io.Reader, options replay.Options) (domain.ReplayReport, error)
}

// Schema has the methods for the data map, the tables of habeas, and the tables of the application.
type Schema interface {
	ports.CatalogReader
	ports.RowCounter
	DataMap() datamap.DataMap
	Plan() datamap.Plan
	Registers(ctx context.Context) (bool, error)
	Migrate(ctx context.Context) error
	Migrations(ctx context.Context) ([]domain.Migration, error)
	MigrationSQL() (string, error)
	Privileges() ([]datamap.Privileges, error)
	AcceptMap(ctx context.Context) (before datamap.Installation, err error)
	Installation(ctx context.Context) (datamap.Installation, error)
	RenewInstallation(ctx context.Context) (datamap.Installation, error)
}

// Opener opens the application. A command tree calls its Opener at most once, before the first command that needs the
// application. An error of the Opener is reported like an error of the application.
type Opener func(ctx context.Context) (Application, error)

// Openers has the functions that open an application, or the part of it that a command needs. A command tree calls one
// of them at most once. See OpenParts.
type Openers struct {
	// Application opens the complete application. It is required.
	Application Opener
	// WithoutDataMap opens an application for the commands migrate, find, trail and outbox. They call only the methods of
	// Schema and Outbox, and Find, Trail and SubjectState. The data map of the application may be unknown: these commands
	// work on the tables of habeas. By default, these commands use Application.
	WithoutDataMap Opener
	// WithoutDatabase opens an application for the command map, which calls only DataMap and Plan. By default, the command
	// uses Application.
	WithoutDatabase Opener
	// Operator returns the id of the operator if neither --operator nor HABEAS_OPERATOR gives one, or "". It may be nil.
	Operator func() (string, error)
	// Manifest says that the data map is a manifest. lint then words its remedies for a manifest, not for struct tags.
	Manifest bool
}
