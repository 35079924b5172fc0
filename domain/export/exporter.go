// Package export collects all data about a subject (Art. 15 GDPR) into one bundle. The data comes from the
// application's own tables and from external systems. See the example of [Exporter.Export].
package export

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// DefaultResolverTimeout is the default time limit of a call to an external system.
const DefaultResolverTimeout = 10 * time.Second

// Config holds the dependencies and the options of an Exporter. Clock, IDs and DataMap are required.
type Config struct {
	Clock           ports.Clock
	IDs             ports.IDSource
	DataMap         datamap.DataMap
	Resolvers       []ports.Resolver // the external systems; default none
	ResolverTimeout time.Duration    // limit of each call; 0 means DefaultResolverTimeout
	Observer        ports.Observer   // receives each call and the outcome of each export; default none

	// Admit waits until a call to a system may begin, and returns the function to call after the call, or at the deadline
	// of the call if the resolver ignores it. If it returns false, the export is incomplete. saga.Runner.Admit applies the
	// limits of the worker. The default nil admits every call.
	Admit func(ctx context.Context, system string) (leave func(), ok bool)

	// Recorded is called in the session of an export that carries out a request (domain.WithRequest), after its events.
	// register.Register.Exported records the request. The default is nil: no function is called.
	Recorded func(ctx context.Context, s ports.Session, id domain.SubjectID, incomplete bool) error

	// TempFile creates an empty file for the unread part of a large export, see Spool. Nobody else should be able to read
	// the file, and its Close should remove it. The default is nil: this part is held in memory.
	TempFile func() (File, error)
}

// Exporter carries out exports. It is safe for concurrent use. Each call works in the session that it receives.
type Exporter struct {
	audit     audit.Stamper
	dataMap   datamap.DataMap
	resolvers *resolvers.Set
	timeout   time.Duration
	observer  ports.Observer
	tempFile  func() (File, error)                                  // may be nil
	admit     func(context.Context, string) (leave func(), ok bool) // may be nil
	recorded  func(context.Context, ports.Session, domain.SubjectID, bool) error
}

// NewExporter returns an exporter. It returns domain.ErrConfiguration if a field is missing or invalid. It returns
// domain.ErrManifest if a column holds keys (datamap.Annotation.Ref) for a resolver that is not registered or does not
// implement ports.KeyResolver.
func NewExporter(c Config) (*Exporter, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() || c.ResolverTimeout < 0 {
		return nil, domain.Misconfigured("exporter",
			"Clock, IDs and DataMap are required, and ResolverTimeout must not be negative")
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return nil, err
	}
	if err := c.DataMap.ManifestError("data map", resolvers.CheckRefs(c.DataMap, set)); err != nil {
		return nil, err
	}
	timeout := cmp.Or(c.ResolverTimeout, DefaultResolverTimeout)
	return &Exporter{
		audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.DataMap, set, timeout, c.Observer, c.TempFile, c.Admit, c.Recorded,
	}, nil
}

// Export returns the subject's bundle in memory. See Stream for large exports. The bundle has the rows of the
// application's tables in the order of the data map, then the subject's records in the ledgers, and then the records of
// the external systems. Export takes these steps:
//
//  1. It calls the external systems for which the subject has a ref concurrently, before its first query. If the
//     session has made no query before, a slow system therefore holds no database connection.
//  2. It reads the keys of external systems that the subject's rows hold (datamap.Annotation.Ref), one page at a time.
//     It calls the system with up to datamap.MaxKeys keys per call. Each call has its own timeout. During a call, it
//     holds a database connection only if the session is a transaction of the application.
//  3. It reads the rows of the application. If a row is added or removed concurrently, the bundle may have the row
//     without its files, or the files without their row.
//
// If a call for keys fails, or if the records that a system returns for keys exceed 64 MiB, Export makes no further
// call to this system, and lists it in IncompleteSources. It keeps the records of the earlier calls. A system that
// fails, or that returns an invalid record (see domain.ExportRecord), is listed there, too, and does not fail the
// export. A failure of the database fails the export.
//
// Export records export_requested, even if the session rolls back, and export_completed. It returns domain.ErrSubject,
// and records nothing, if the subject does not fit the data map or has a ref of an unknown kind. A restriction of
// processing does not prevent an export; see package restriction.
func (e *Exporter) Export(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ExportBundle, error) {
	var bundle domain.ExportBundle
	err := e.Stream(ctx, s, subject,
		func(head domain.ExportBundle) error {
			bundle = head
			return nil
		},
		func(record domain.ExportRecord) error {
			bundle.Records = append(bundle.Records, record)
			return nil
		})
	if err != nil {
		return domain.ExportBundle{}, err
	}
	return bundle, nil
}

// Stream does the same as Export but holds no row of the application in memory. It first calls begin with a bundle that
// has no records. Then it calls yield for each record. If begin or yield returns an error, Stream ends and returns that
// error. Neither function may use the session. The bundle and the records are valid only after the session has
// committed. If the session factory runs the session again, begin and yield get the bundle and all records again.
func (e *Exporter) Stream(
	ctx context.Context, s ports.Session, subject domain.Subject,
	begin func(domain.ExportBundle) error, yield func(domain.ExportRecord) error,
) error {
	incomplete, err := e.stream(ctx, s, subject, begin, yield)
	right := observation.RightObserved{Right: observation.RightExport, Outcome: domain.OutcomeOf(err)}
	if err == nil && incomplete {
		right.Outcome = domain.OutcomeIncomplete
	}
	observe.Right(e.observer, s, right)
	return err
}

// stream carries out an export. It reports whether the records of an external system are incomplete.
func (e *Exporter) stream(
	ctx context.Context, s ports.Session, subject domain.Subject,
	begin func(domain.ExportBundle) error, yield func(domain.ExportRecord) error,
) (isIncomplete bool, err error) {
	calls, skipped, err := resolvers.Admit(e.dataMap, e.resolvers, subject)
	if err != nil {
		return false, err
	}
	operation, requested := e.audit.Begin(ctx, domain.EventExportRequested, subject.ID, domain.Payload{
		"refs": len(subject.Refs), "resolvers": len(calls),
	})
	if err := s.Audit().AppendEvidence(ctx, requested); err != nil {
		return false, err
	}

	external, incomplete := e.callSystems(ctx, calls)
	keys := keyExport{Exporter: e, session: s, id: subject.ID}
	if err := keys.export(ctx); err != nil {
		return false, err
	}
	external = append(external, keys.records...)
	incomplete = append(incomplete, resolvers.Without(keys.incomplete, incomplete)...)
	skipped = resolvers.Without(skipped, keys.systems)
	if err := ctx.Err(); err != nil {
		return false, &domain.Error{Op: "export", Message: "the context ended", Err: err}
	}
	err = begin(domain.ExportBundle{
		SubjectID:         subject.ID,
		Request:           domain.RequestOf(ctx),
		GeneratedAt:       domain.Instant(e.audit.Clock.Now()),
		SchemaVersion:     domain.ExportSchemaVersion,
		Records:           []domain.ExportRecord{},
		IncompleteSources: incomplete,
	})
	if err != nil {
		return false, err
	}
	records := 0
	counted := func(record domain.ExportRecord) error {
		records++
		return yield(record)
	}
	if err := s.Subjects().Export(ctx, subject.ID, counted); err != nil {
		return false, err
	}
	for _, record := range external {
		if err := counted(record); err != nil {
			return false, err
		}
	}
	completed := operation.Event(domain.EventExportCompleted, subject.ID, domain.Payload{
		"records":            records,
		"incomplete_sources": strings.Join(incomplete, ","),
		"skipped_resolvers":  strings.Join(skipped, ","),
	})
	if err := s.Audit().Append(ctx, completed); err != nil {
		return false, err
	}
	if e.recorded == nil || domain.RequestOf(ctx) == "" {
		return len(incomplete) > 0, nil
	}
	return len(incomplete) > 0, e.recorded(ctx, s, subject.ID, len(incomplete) > 0)
}
