// Package export collects everything that is held about a subject (Art. 15 GDPR), from the application's own tables
// and from external systems, into one bundle.
package export

import (
	"context"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/audit"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// DefaultResolverTimeout bounds how long one external system is waited for.
const DefaultResolverTimeout = 10 * time.Second

// Config is what an Exporter is made of. All fields are required but ResolverTimeout, which must not be negative.
type Config struct {
	Clock           ports.Clock
	IDs             ports.IDSource
	DataMap         domain.DataMap
	Resolvers       *resolvers.Set
	ResolverTimeout time.Duration // for each external system; 0 means DefaultResolverTimeout
}

// Exporter answers export requests. It is safe for concurrent use; each call works in the session it is given.
type Exporter struct {
	audit     audit.Stamper
	dataMap   domain.DataMap
	resolvers *resolvers.Set
	timeout   time.Duration
}

// NewExporter returns an exporter. A field that is missing or wrong is domain.ErrConfiguration.
func NewExporter(c Config) (*Exporter, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() || c.Resolvers == nil || c.ResolverTimeout < 0 {
		return nil, &domain.Error{
			Code: domain.ErrConfiguration, Op: "exporter",
			Message: "every field of its Config but ResolverTimeout is required, and that must not be negative",
		}
	}
	if c.ResolverTimeout == 0 {
		c.ResolverTimeout = DefaultResolverTimeout
	}
	return &Exporter{audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.DataMap, c.Resolvers, c.ResolverTimeout}, nil
}

// Export returns the subject's bundle: the rows of the application's tables in the order of the data map, then the
// records of each external system in the order of registration.
//
// External systems are asked first, all at once, before the session's first statement, so that a slow one keeps no
// connection busy. One that fails is named in IncompleteSources and fails nothing; a failure of the database fails
// the export. The audit trail gets export_requested, which outlives a failure, and export_completed.
//
// A subject that does not fit the data map, or has a ref of an unknown kind, is domain.ErrSubject and leaves no trace.
func (e *Exporter) Export(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ExportBundle, error) {
	calls, skipped, err := resolvers.Admit(e.dataMap, e.resolvers, subject)
	if err != nil {
		return domain.ExportBundle{}, err
	}
	requested := e.audit.Event(domain.EventExportRequested, subject.ID, domain.Payload{
		"refs": len(subject.Refs), "resolvers": len(calls),
	})
	if err := s.Audit().AppendEvidence(ctx, requested); err != nil {
		return domain.ExportBundle{}, err
	}

	external, incomplete := e.ask(ctx, calls)
	if err := ctx.Err(); err != nil {
		return domain.ExportBundle{}, &domain.Error{Op: "export", Message: "ended by its context", Err: err}
	}
	records := []domain.ExportRecord{}
	err = s.Subjects().Export(ctx, subject.ID, func(record domain.ExportRecord) error {
		records = append(records, record)
		return nil
	})
	if err != nil {
		return domain.ExportBundle{}, err
	}
	records = append(records, external...)

	completed := e.audit.Event(domain.EventExportCompleted, subject.ID, domain.Payload{
		"records":            len(records),
		"incomplete_sources": strings.Join(incomplete, ","),
		"skipped_resolvers":  strings.Join(skipped, ","),
	})
	if err := s.Audit().Append(ctx, completed); err != nil {
		return domain.ExportBundle{}, err
	}
	return domain.ExportBundle{
		SubjectID:         subject.ID,
		GeneratedAt:       completed.OccurredAt,
		SchemaVersion:     domain.ExportSchemaVersion,
		Records:           records,
		IncompleteSources: incomplete,
	}, nil
}
