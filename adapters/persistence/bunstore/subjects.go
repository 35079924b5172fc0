package bunstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/habeas-data/habeas/domain"
)

type subjectStore struct{ *session }

func (s subjectStore) Lock(ctx context.Context, id domain.SubjectID, at time.Time) error {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return err
	}
	_, err := s.write(ctx, "lock subject", "INSERT INTO "+s.store.tables.erasures+" AS e (subject_id, erased_at, erasures)"+
		" VALUES ($1, $2, 1) ON CONFLICT (subject_id) DO UPDATE SET erased_at = excluded.erased_at, erasures = e.erasures + 1",
		id.String(), s.store.dialect.instant(at))
	return err
}

func (s subjectStore) Export(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	if s.tx != nil && !s.snapshot && !s.joined {
		return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come before any write of its session"}
	}
	if err := s.begin(ctx, true); err != nil {
		return err
	}
	for _, table := range s.store.dataMap.Tables() {
		if len(table.Personal()) == 0 {
			continue
		}
		export := newTableExport(s.store, table)
		var refused error
		err := s.read(ctx, "export: "+table.Name, func(rows *sql.Rows) error {
			return export.row(rows, func(record domain.ExportRecord) error {
				refused = yield(record)
				return refused
			})
		}, export.text, key...)
		if refused != nil {
			return refused // as yield gave it
		}
		if err != nil {
			return err
		}
	}
	return nil
}
