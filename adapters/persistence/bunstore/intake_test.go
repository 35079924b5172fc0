package bunstore_test

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// overlap runs two sessions concurrently. The first session calls inFirst in a transaction of the application. The
// second session calls inSecond. As soon as the second session waits for a lock or has ended, overlap calls each of
// later in the transaction and commits it. It reports whether the second session waited, and therefore committed last.
func (a *application) overlap(
	t *testing.T, inFirst, inSecond func(context.Context, ports.Session) error,
	later ...func(context.Context, ports.Session) error,
) (waited bool) {
	t.Helper()
	tx, err := a.db.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }() // if it was not committed, the other session would wait
	joined, err := a.store.Join(tx)
	must(t, err)
	must(t, joined.Do(t.Context(), inFirst))
	ended := make(chan error, 1)
	go func() { ended <- a.store.Do(t.Context(), inSecond) }()
	for !waited && len(ended) == 0 {
		must(t, a.db.QueryRowContext(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity"+
			" WHERE wait_event_type = 'Lock' AND datname = current_database())").Scan(&waited))
	}
	for _, step := range later {
		must(t, joined.Do(t.Context(), step))
	}
	must(t, tx.Commit())
	must(t, <-ended)
	return waited
}

func consentOf(t *testing.T, id string, granted bool) func(context.Context, ports.Session) error {
	t.Helper()
	record := domain.ConsentRecord{
		SubjectID: subjectID(t, id), Purpose: "news", PolicyVersion: "v", Granted: granted, Source: "test", RecordedAt: noon,
	}
	return func(ctx context.Context, s ports.Session) error { return s.Consents().Append(ctx, record) }
}

func TestConsentIsInForceInTheOrderOfCommits(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	a := newApplication(t, db, nil, (*visitor)(nil))
	grantIsLast := a.overlap(t, consentOf(t, "1", false), consentOf(t, "1", true))
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		latest, err := s.Consents().Latest(ctx, subjectID(t, "1"), "news", nil)
		if err == nil && latest.Granted != grantIsLast {
			t.Error("the record that was committed first is in force")
		}
		return err
	}))
}

func TestRestrictionsAreInForceInTheOrderOfCommits(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	a := newApplication(t, db, nil, (*visitor)(nil))
	restriction := func(restricted bool) func(context.Context, ports.Session) error {
		record := domain.RestrictionRecord{
			SubjectID: subjectID(t, "1"), Restricted: restricted, Source: "test", RecordedAt: noon,
		}
		return func(ctx context.Context, s ports.Session) error { return s.Restrictions().Append(ctx, record) }
	}
	endIsLast := a.overlap(t, restriction(true), restriction(false))
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		global, _, err := s.Restrictions().Latest(ctx, subjectID(t, "1"), nil)
		if err == nil && global.Restricted == endIsLast {
			t.Error("the record that was committed first is in force")
		}
		return err
	}))
}

// Another session has recorded a consent but not committed it. The erasure waits for that session, and then sees the
// consent.
func TestAnErasureSeesConsentInFlight(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	a := newApplication(t, db, nil, (*visitor)(nil))
	id, inForce := subjectID(t, "1"), []domain.ConsentRecord(nil)
	a.overlap(t, consentOf(t, "1", true), func(ctx context.Context, s ports.Session) (err error) {
		if _, err = s.Subjects().Lock(ctx, id, noon); err == nil {
			inForce, err = s.Consents().InForce(ctx, id)
		}
		return err
	})
	if len(inForce) != 1 || !inForce[0].Granted {
		t.Errorf("in force are %+v", inForce)
	}
}
