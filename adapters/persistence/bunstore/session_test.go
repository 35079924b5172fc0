package bunstore_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

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

func TestAnErrorRollsBackAndIsReturned(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		err := s.store.Do(context.Background(), func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.Record(ctx, session, s.alice.ID, grant("p"))
			must(t, err)
			if _, err := s.consent.Status(ctx, session, s.alice.ID, "p"); err != nil { // sends the buffered rows
				return err
			}
			return errHost
		})
		if !errors.Is(err, errHost) {
			t.Errorf("got %v", err)
		}
		if s.granted(t, "p") || len(s.trail(t, s.alice.ID)) > 0 {
			t.Error("something outlived the rollback")
		}
	})
}

func TestAPanicRollsBackAndContinues(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		func() {
			defer func() {
				if recover() != errHost { //nolint:errorlint // the panic must continue with the same value
					t.Error("the panic did not go on")
				}
			}()
			_ = s.store.Do(context.Background(), func(ctx context.Context, session ports.Session) error {
				must(t, errOf(session.Subjects().Lock(ctx, s.alice.ID, time.Now())))
				_, err := s.consent.Record(ctx, session, s.alice.ID, grant("p"))
				must(t, err)
				panic(errHost)
			})
		}()
		if s.granted(t, "p") {
			t.Error("something outlived the rollback")
		}
		s.do(t, func(ctx context.Context, session ports.Session) error { // the lock has been released
			return errOf(session.Subjects().Lock(ctx, s.alice.ID, time.Now()))
		})
	})
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

func TestAContextThatEndsBeforeTheCommitRollsBack(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		for _, write := range []bool{false, true} {
			ctx, cancel := context.WithCancel(context.Background())
			err := s.store.Do(ctx, func(ctx context.Context, session ports.Session) error {
				if write {
					must(t, errOf(session.Subjects().Lock(ctx, s.alice.ID, time.Now())))
				}
				_, err := s.consent.Record(ctx, session, s.alice.ID, grant("p"))
				cancel()
				return err
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("after a write %v: got %v", write, err)
			}
		}
		if s.granted(t, "p") {
			t.Error("something outlived the rollback")
		}
	})
}

func TestAStatementInterruptedByTheContextSaysSo(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		ctx, cancel := context.WithCancel(context.Background())
		err := s.store.Do(ctx, func(ctx context.Context, session ports.Session) error {
			cancel()
			return errOf(session.Subjects().Lock(ctx, s.alice.ID, time.Now()))
		})
		if !errors.Is(err, context.Canceled) || domain.ErrorClass(err) != "canceled" {
			t.Errorf("got %v", err)
		}
	})
}

func TestANestedSessionIsAnError(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		nothing := func(context.Context, ports.Session) error { return nil }
		err := s.store.Do(context.Background(), func(ctx context.Context, _ ports.Session) error {
			return s.store.Do(ctx, nothing)
		})
		if !errors.Is(err, domain.ErrSession) {
			t.Errorf("got %v", err)
		}
	})
}

func TestASessionThatHasEndedReturnsAnError(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		var session ports.Session
		s.do(t, func(_ context.Context, open ports.Session) error {
			session = open
			return nil
		})
		ctx, id := context.Background(), s.alice.ID
		uses := map[string]func() error{
			"append":   func() error { _, err := s.consent.Record(ctx, session, id, grant("p")); return err },
			"read":     func() error { _, err := s.consent.Status(ctx, session, id, "p"); return err },
			"write":    func() error { return errOf(session.Subjects().Lock(ctx, id, time.Now())) },
			"export":   func() error { return session.Subjects().Export(ctx, id, nil) },
			"evidence": func() error { return session.Audit().AppendEvidence(ctx, domain.AuditEvent{}) },
			"trail":    func() error { _, err := session.Audit().Trail(ctx, id); return err },
		}
		for name, use := range uses {
			if err := use(); !errors.Is(err, domain.ErrSession) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

func TestASessionOpensNoConnectionBeforeItsFirstStatement(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		db.SetMaxOpenConns(1)
		s.do(t, func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.Record(ctx, session, s.alice.ID, grant("p"))
			must(t, err)
			if used := db.Stats().InUse; used > 0 {
				t.Errorf("%d connections are in use", used)
			}
			return nil
		})
	})
}

func TestReadsSeeBufferedRows(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		s.do(t, func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.Record(ctx, session, s.alice.ID, grant("p"))
			must(t, err)
			history, err := s.consent.History(ctx, session, s.alice.ID, "p")
			must(t, err)
			trail, err := session.Audit().Trail(ctx, s.alice.ID)
			must(t, err)
			purpose := "p"
			_, err = s.restriction.Record(ctx, session, s.alice.ID,
				domain.RestrictionDecision{Purpose: &purpose, Restricted: true, Source: "api"})
			must(t, err)
			status, err := s.restriction.Status(ctx, session, s.alice.ID, &purpose)
			must(t, err)
			if len(history) != 1 || len(trail) != 1 || !status.Restricted {
				t.Errorf("history %d, trail %d, restricted %v", len(history), len(trail), status.Restricted)
			}
			return nil
		})
	})
}

func TestASessionBuffersALimitedNumberOfRows(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		const many = 1200
		s.do(t, func(ctx context.Context, session ports.Session) error {
			for i := range many {
				if _, err := s.consent.Record(ctx, session, s.alice.ID, grant(strconv.Itoa(i))); err != nil {
					return err
				}
			}
			return nil
		})
		if trail := s.trail(t, s.alice.ID); len(trail) != many {
			t.Errorf("%d events", len(trail))
		}
		if !s.granted(t, "0") || !s.granted(t, strconv.Itoa(many-1)) {
			t.Error("a record is missing")
		}
	})
}

func TestInstantsAreUTCWithMicroseconds(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		zone := time.FixedZone("away", 5*3600)
		for i, at := range []time.Time{
			time.Date(2026, 1, 2, 3, 4, 5, 678901000, zone), time.Date(2026, 1, 2, 3, 4, 6, 0, zone),
		} {
			s.do(t, func(ctx context.Context, session ports.Session) error {
				record := domain.ConsentRecord{
					SubjectID: s.alice.ID, Purpose: "p", PolicyVersion: "1", Granted: true, RecordedAt: at, Source: "api",
				}
				must(t, session.Consents().Append(ctx, record))
				history, err := session.Consents().History(ctx, s.alice.ID, "p")
				must(t, err)
				if got := history[i].RecordedAt; !got.Equal(at) || got.Location() != time.UTC {
					t.Errorf("%v became %v", at, got)
				}
				return nil
			})
		}
	})
}

func TestLatestReturnsTheRecordThatWasAppendedLast(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var records []domain.ConsentRecord
		for i, decision := range []struct {
			after   int
			granted bool
		}{{1, true}, {0, true}, {1, false}, {1, true}, {2, true}, {2, true}, {3, false}} {
			records = append(records, domain.ConsentRecord{
				SubjectID: s.alice.ID, Purpose: "p", PolicyVersion: strconv.Itoa(i), Granted: decision.granted,
				RecordedAt: start.Add(time.Duration(decision.after) * time.Microsecond), Source: "api",
			})
		}
		s.do(t, func(ctx context.Context, session ports.Session) error {
			for _, record := range records {
				must(t, session.Consents().Append(ctx, record))
			}
			for after := range 4 {
				asOf := start.Add(time.Duration(after) * time.Microsecond)
				var want *domain.ConsentRecord
				for i, record := range records {
					if !record.RecordedAt.After(asOf) {
						want = &records[i]
					}
				}
				got, err := session.Consents().Latest(ctx, s.alice.ID, "p", &asOf)
				must(t, err)
				if got == nil || *got != *want {
					t.Errorf("as of %d µs: got %+v, want %+v", after, got, want)
				}
			}
			history, err := session.Consents().History(ctx, s.alice.ID, "p")
			must(t, err)
			if !slices.Equal(history, records) {
				t.Errorf("history %+v", history)
			}
			return nil
		})
	})
}
