package bunstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

var errHost = errors.New("the application's own error")

func grant(purpose string) domain.ConsentDecision {
	return domain.ConsentDecision{Purpose: purpose, PolicyVersion: "1", Granted: true, Source: "api"}
}

func (s *shop) granted(t testing.TB, purpose string) bool {
	t.Helper()
	var status domain.ConsentStatus
	s.do(t, func(ctx context.Context, session ports.Session) (err error) {
		status, err = s.consent.Status(ctx, session, s.alice.ID, purpose)
		return err
	})
	return status.Granted
}

// trail returns the types of the subject's audit events.
func (s *shop) trail(t testing.TB, id domain.SubjectID) []domain.EventType {
	t.Helper()
	return fixture.TrailTypes(t, s.store, id)
}

func TestASwallowedStatementErrorFailsTheSession(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		_, err := db.NewDropTable().Model((*Item)(nil)).Exec(context.Background())
		must(t, err)
		err = s.store.Do(context.Background(), func(ctx context.Context, session ports.Session) error {
			_, _ = session.Subjects().Apply(ctx, s.alice.ID, []datamap.Step{{Target: "items", Strategy: domain.StrategyDelete}})
			_, _ = s.consent.Record(ctx, session, s.alice.ID, grant("p"))
			return nil
		})
		if err == nil {
			t.Error("the session committed")
		}
		if s.granted(t, "p") {
			t.Error("something outlived the failed statement")
		}
	})
}
