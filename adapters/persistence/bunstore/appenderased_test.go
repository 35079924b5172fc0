package bunstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// A session that only appends sends one statement. For an erased subject, this statement writes nothing, and another
// session writes all rows of the first one, the audit event included.
func TestAnAppendForAnErasedSubjectKeepsAllRows(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		store := newStore(t, db)
		lock(t, store, "1")
		for _, text := range []string{"1", "2"} {
			id := subjectID(t, text)
			must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				return errors.Join(
					s.Consents().Append(ctx, domain.ConsentRecord{
						SubjectID: id, Purpose: "news", PolicyVersion: "1", Granted: true, RecordedAt: noon, Source: "api",
					}),
					s.Audit().Append(ctx, domain.AuditEvent{
						EventID: "event of " + text, EventType: domain.EventConsentGranted, SubjectRef: id, OccurredAt: noon,
						Payload: domain.Payload{},
					}))
			}))
			must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				records, err := s.Consents().HistoryOfAllLives(ctx, id, "news")
				must(t, err)
				trail, err := s.Audit().Trail(ctx, id)
				if len(records) != 1 || len(trail) != 1 {
					t.Errorf("subject %s has %d records and %d events", text, len(records), len(trail))
				}
				return err
			}))
		}
	})
}
