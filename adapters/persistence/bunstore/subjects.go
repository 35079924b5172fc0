package bunstore

import (
	"context"
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
