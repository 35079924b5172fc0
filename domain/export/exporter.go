// Package export collects everything that is held about a subject (Art. 15 GDPR), from the application's own tables
// and from external systems, into one bundle.
package export

import (
	"context"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// DefaultResolverTimeout bounds how long one external system is waited for.
const DefaultResolverTimeout = 10 * time.Second

// Config is what an Exporter is made of. Clock, IDs and DataMap are required.
type Config struct {
	Clock           ports.Clock
	IDs             ports.IDSource
	DataMap         domain.DataMap
	Resolvers       []ports.Resolver // the external systems, none by default
	ResolverTimeout time.Duration    // for each external system; 0 means DefaultResolverTimeout
	Observer        ports.Observer   // is told of each call and how each export ended, none by default
}

// Exporter answers export requests. It is safe for concurrent use; each call works in the session it is given.
type Exporter struct {
	audit     audit.Stamper
	dataMap   domain.DataMap
	resolvers *resolvers.Set
	timeout   time.Duration
	observer  ports.Observer
}

// NewExporter returns an exporter. Returns domain.ErrConfiguration if a field is missing or wrong, and
// domain.ErrManifest if a column holds keys (domain.Annotation.Ref) for which no resolver is a ports.KeyResolver of
// that name.
func NewExporter(c Config) (*Exporter, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() || c.ResolverTimeout < 0 {
		return nil, domain.Misconfigured("exporter",
			"Clock, IDs and DataMap are required, and ResolverTimeout must not be negative")
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return nil, err
	}
	if err := c.DataMap.Refused("data map", resolvers.CheckRefs(c.DataMap, set)); err != nil {
		return nil, err
	}
	if c.ResolverTimeout == 0 {
		c.ResolverTimeout = DefaultResolverTimeout
	}
	return &Exporter{audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.DataMap, set, c.ResolverTimeout, c.Observer}, nil
}

// Export returns the subject's bundle: the rows of the application's tables in the order of the data map, then the
// records of each external system in the order of registration. All of it is in memory; see Stream.
//
// External systems are asked first, all at once, before the session's first statement, so that a slow one keeps no
// connection busy. Then the keys of external systems are read that the subject's rows hold (domain.Annotation.Ref), a
// page at a time, and each system is asked for them, domain.MaxKeys in a call with the timeout of its own; between
// the pages no connection is kept, except in a transaction of the application. The rows are read last: a row that
// comes or goes meanwhile may be there without its files, or the other way round. A system whose call fails is asked
// no more, and neither is one whose records take more than 64 MiB; the records until then are kept. A system that
// fails, or returns a record that is not valid (see domain.ExportRecord), is named in IncompleteSources and does not
// fail the export; a failure of the database does. The audit trail gets export_requested, which outlives a failure,
// and export_completed.
//
// A subject that does not fit the data map, or has a ref of an unknown kind, is domain.ErrSubject and leaves no trace.
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

// Stream does the same as Export but keeps no row of the application in memory: it calls begin with the bundle without
// its records, then yield for each record. An error of either ends the export and is returned; neither may use the
// session. The bundle and the records are valid only once the session has committed. If the session is repeated, Stream
// passes all of them again.
func (e *Exporter) Stream(
	ctx context.Context, s ports.Session, subject domain.Subject,
	begin func(domain.ExportBundle) error, yield func(domain.ExportRecord) error,
) error {
	incomplete, err := e.stream(ctx, s, subject, begin, yield)
	right := domain.RightObserved{Right: domain.RightExport, Outcome: domain.OutcomeOK}
	if incomplete {
		right.Outcome = domain.OutcomeIncomplete
	}
	observe.Right(ctx, e.observer, s, right, err)
	return err
}

// stream reports whether a part of an external system is missing.
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

	external, incomplete := e.ask(ctx, calls)
	keys := keyExport{Exporter: e, session: s, id: subject.ID}
	if err := keys.ask(ctx); err != nil {
		return false, err
	}
	external = append(external, keys.records...)
	incomplete = append(incomplete, resolvers.Without(keys.incomplete, incomplete)...)
	skipped = resolvers.Without(skipped, keys.asked)
	if err := ctx.Err(); err != nil {
		return false, &domain.Error{Op: "export", Message: "ended by its context", Err: err}
	}
	err = begin(domain.ExportBundle{
		SubjectID:         subject.ID,
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
	return len(incomplete) > 0, s.Audit().Append(ctx, completed)
}
