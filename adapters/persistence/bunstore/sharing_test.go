package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// jam is a query hook. It blocks all statements that start with prefix, until the test calls close(j.release).
type jam struct {
	statements
	prefix  string
	blocked chan struct{} // receives one element for each blocked statement
	release chan struct{}
}

func newJam(prefix string) *jam {
	return &jam{prefix: prefix, blocked: make(chan struct{}, 100), release: make(chan struct{})}
}

func (j *jam) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if strings.HasPrefix(event.Query, j.prefix) {
		j.blocked <- struct{}{}
		<-j.release
	}
	return ctx
}

// runJammed runs sessions concurrently. It blocks the statements of the first two sessions until all other sessions
// wait for them. The store then combines the statements of the waiting sessions. runJammed returns the errors of the
// sessions and the texts of all statements.
func (j *jam) runJammed(t *testing.T, s *shop, sessions int, run func(i int) error) (errs []error, texts []string) {
	t.Helper()
	errs = make([]error, sessions)
	return errs, j.during(t, func() {
		var done sync.WaitGroup
		for i := range sessions {
			done.Go(func() { errs[i] = run(i) })
			if i < 2 {
				<-j.blocked
			}
		}
		for began := time.Now(); s.store.Waiting() < sessions-2; runtime.Gosched() {
			if time.Since(began) > time.Minute {
				t.Error("the sessions do not wait for others")
				break
			}
		}
		close(j.release)
		done.Wait()
	})
}

// withSharing replaces the store of the shop by a store with ShareStatements.
func (s *shop) withSharing(t testing.TB) *shop {
	t.Helper()
	dataMap, err := bunmodels.Read(s.db, models, nil)
	must(t, err)
	s.store, err = bunstore.New(s.db, dataMap, bunstore.Options{ShareStatements: true})
	must(t, err)
	recorded(t, s.store)
	return s
}

func subjectNumber(t testing.TB, i int) domain.SubjectID {
	t.Helper()
	return fixture.MustID(t, fmt.Sprint(i))
}

func TestConcurrentLookupsGetTheirOwnRecords(t *testing.T) {
	t.Parallel()
	hook := newJam("SELECT policy_version")
	s := newShop(t, databases.WithHook(databases.PostgreSQL(t), hook), 1).withSharing(t)
	const people = 18 // two sessions run first, and a batch has at most 16 sessions
	at := time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC)
	record := func(i int) domain.ConsentRecord {
		return domain.ConsentRecord{
			SubjectID: subjectNumber(t, i), Purpose: fmt.Sprintf(`"%d", \ 'é`, i%4), PolicyVersion: fmt.Sprint("v", i),
			Granted: i%3 > 0, RecordedAt: at.Add(time.Duration(i) * time.Hour), Source: "api",
		}
	}
	known := func(i int) bool { return i%5 > 0 }
	s.do(t, func(ctx context.Context, session ports.Session) error {
		for i := range people {
			older := record(i)
			older.PolicyVersion, older.RecordedAt = "older", older.RecordedAt.Add(time.Second) // from another clock
			if known(i) {
				if err := errors.Join(session.Consents().Append(ctx, older),
					session.Consents().Append(ctx, record(i))); err != nil {
					return err
				}
			}
		}
		return nil
	})
	records := make([]*domain.ConsentRecord, people)
	errs, texts := hook.runJammed(t, s, people, func(i int) error {
		return s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) (err error) {
			records[i], err = session.Consents().Latest(ctx, record(i).SubjectID, record(i).Purpose, nil)
			return err
		})
	})
	for i, got := range records {
		switch {
		case errs[i] != nil:
			t.Errorf("%d: %v", i, errs[i])
		case !known(i) && got != nil, known(i) && (got == nil || *got != record(i)):
			t.Errorf("%d: got %+v", i, got)
		}
	}
	if len(texts) != 3 {
		t.Fatalf("%d sessions made %d statements: %q", people, len(texts), texts)
	}
	execute(t, s.db, "INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at,"+
		" source) SELECT n, 'p', '1', TRUE, now(), 'api' FROM generate_series(1000, 20999) AS n",
		"INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures)"+
			" SELECT n, now(), 1 FROM generate_series(1000, 20999) AS n", "ANALYZE")
	shared := slices.IndexFunc(texts, func(text string) bool { return strings.Contains(text, "LATERAL") })
	plan := (box{db: s.db}).plan(t, texts[shared], `[["1","p"],["2","p"]]`)
	if !strings.Contains(plan, "habeas_consent_records_in_force") || strings.Contains(plan, "Seq Scan") {
		t.Errorf("they are not found by an index:\n%s", plan)
	}
}

// If the database refuses one lookup of a batch, the other lookups succeed.
func TestALookupThatFailsFailsAlone(t *testing.T) {
	t.Parallel()
	hook := newJam("SELECT policy_version")
	s := newShop(t, databases.WithHook(databases.PostgreSQL(t), hook), 1).withSharing(t)
	errs, _ := hook.runJammed(t, s, 6, func(i int) error {
		return s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
			purpose := "news"
			if i == 4 {
				purpose = "not a \x00 text"
			}
			_, err := session.Consents().Latest(ctx, subjectNumber(t, i), purpose, nil)
			return err
		})
	})
	for i, err := range errs {
		if (err != nil) != (i == 4) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestConcurrentAppendsKeepTheirOwnRows(t *testing.T) {
	t.Parallel()
	hook := newJam("WITH erased")
	s := newShop(t, databases.WithHook(databases.PostgreSQL(t), hook), 1).withSharing(t)
	const people = 18
	errs, texts := hook.runJammed(t, s, people, func(i int) error {
		return s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
			if i%2 == 0 {
				_, err := s.consent.Record(ctx, session, subjectNumber(t, i), grant(fmt.Sprint("purpose ", i)))
				return err
			}
			_, err := s.restriction.Record(ctx, session, subjectNumber(t, i),
				domain.RestrictionDecision{Restricted: true, Source: "api"})
			return err
		})
	})
	must(t, errors.Join(errs...))
	if len(texts) != 3 {
		t.Errorf("%d sessions made %d statements: %q", people, len(texts), texts)
	}
	for i := range people {
		want := domain.EventConsentGranted
		s.do(t, func(ctx context.Context, session ports.Session) error {
			if i%2 == 0 {
				records, err := session.Consents().History(ctx, subjectNumber(t, i), fmt.Sprint("purpose ", i))
				if len(records) != 1 || !records[0].Granted {
					t.Errorf("%d has consents %+v", i, records)
				}
				return err
			}
			want = domain.EventRestrictionPlaced
			records, err := session.Restrictions().History(ctx, subjectNumber(t, i), nil)
			if len(records) != 1 || !records[0].Restricted {
				t.Errorf("%d has restrictions %+v", i, records)
			}
			return err
		})
		if trail := s.trail(t, subjectNumber(t, i)); len(trail) != 1 || trail[0] != want {
			t.Errorf("%d has the trail %v", i, trail)
		}
	}
}

// If the database refuses the rows of one session of a batch, the other sessions succeed, and the database keeps no row
// of the failed session.
func TestAnAppendThatFailsFailsAlone(t *testing.T) {
	t.Parallel()
	hook := newJam("WITH erased")
	s := newShop(t, databases.WithHook(databases.PostgreSQL(t), hook), 1).withSharing(t)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	errs, _ := hook.runJammed(t, s, 6, func(i int) error {
		return s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
			id := subjectNumber(t, i)
			event := domain.AuditEvent{
				EventID:   fmt.Sprint("event ", min(i, 4)), // the last two have the same id
				EventType: domain.EventConsentGranted, SubjectRef: id, OccurredAt: at, Payload: domain.Payload{"source": "api"},
			}
			record := domain.ConsentRecord{
				SubjectID: id, Purpose: "news", PolicyVersion: "1", Granted: true, RecordedAt: at, Source: "api",
			}
			return errors.Join(session.Consents().Append(ctx, record), session.Audit().Append(ctx, event))
		})
	})
	failed := 0
	for i, err := range errs {
		trail := s.trail(t, subjectNumber(t, i))
		switch {
		case err == nil && len(trail) == 1:
		case i >= 4 && errors.Is(err, domain.ErrConflict) && len(trail) == 0:
			failed++
		default:
			t.Errorf("%d: %v, with the trail %v", i, err, trail)
		}
	}
	if failed != 1 {
		t.Errorf("%d sessions failed", failed)
	}
}

// concurrently runs sessions concurrently. It blocks their statements until every session has sent one, and fails the
// test if a session sends none.
func (j *jam) concurrently(t *testing.T, sessions int, run func(i int) error) {
	t.Helper()
	var done sync.WaitGroup
	for i := range sessions {
		done.Go(func() {
			if err := run(i); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	for i := range sessions {
		select {
		case <-j.blocked:
		case <-time.After(time.Minute):
			t.Errorf("only %d statements ran concurrently", i)
			close(j.release)
			done.Wait()
			return
		}
	}
	close(j.release)
	done.Wait()
}

// Without ShareStatements, no session's statement may run with the context of another session. A connection may depend
// on the context, for example to show the rows of one tenant.
func TestSessionsShareNothingByDefault(t *testing.T) {
	t.Parallel()
	for prefix, use := range map[string]func(ctx context.Context, s *shop, session ports.Session) error{
		"SELECT policy_version": func(ctx context.Context, s *shop, session ports.Session) error {
			_, err := session.Consents().Latest(ctx, s.alice.ID, "news", nil)
			return err
		},
		"WITH erased": func(ctx context.Context, s *shop, session ports.Session) error {
			_, err := s.consent.Record(ctx, session, s.alice.ID, grant("news"))
			return err
		},
	} {
		hook := newJam(prefix)
		s := newShop(t, databases.WithHook(databases.PostgreSQL(t), hook), 1)
		hook.concurrently(t, 5, func(int) error {
			return s.store.Do(t.Context(),
				func(ctx context.Context, session ports.Session) error { return use(ctx, s, session) })
		})
	}
}

// If several sessions share a statement, a session may not know whether its rows were written. A session with evidence
// (audit events to write again after a rollback) must therefore send its own statement. Otherwise, it could write its
// evidence twice.
func TestEvidenceSharesNoStatement(t *testing.T) {
	t.Parallel()
	hook := newJam("INSERT INTO habeas_audit_events")
	s := newShop(t, databases.WithHook(databases.PostgreSQL(t), hook), 1).withSharing(t)
	hook.concurrently(t, 5, func(i int) error {
		return s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
			return session.Audit().AppendEvidence(ctx, domain.AuditEvent{
				EventID: fmt.Sprint("event ", i), EventType: domain.EventExportRequested, SubjectRef: s.alice.ID,
				OccurredAt: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Payload: domain.Payload{},
			})
		})
	})
	if trail := s.trail(t, s.alice.ID); len(trail) != 5 {
		t.Errorf("trail %v", trail)
	}
}

// While all connections are busy, sessions do not combine their statements into one. Each session waits for its own
// connection.
func TestSessionsDoNotShareAPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	db.SetMaxOpenConns(1)
	s := newShop(t, db, 1).withSharing(t)
	if !s.store.Shares() {
		t.Fatal("nothing is shared")
	}
	must(t, s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
		if _, err := session.Subjects().Lock(ctx, s.alice.ID, noon); err != nil { // takes the connection
			return err
		}
		if s.store.Shares() {
			t.Error("statements are shared while all connections are busy")
		}
		return nil
	}))
}
