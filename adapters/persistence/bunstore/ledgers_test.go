package bunstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// Triggers of the database refuse changes to the ledgers (consents and restrictions), so that even the application
// cannot make such changes by mistake.
func TestTheLedgersRefuseEveryChangeExceptTheClearingOfAReason(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		s.do(t, func(ctx context.Context, session ports.Session) error {
			if _, err := s.consent.Record(ctx, session, s.alice.ID, grant("news")); err != nil {
				return err
			}
			_, err := s.restriction.Record(ctx, session, s.alice.ID, domain.RestrictionDecision{
				Restricted: true, Reason: pointer("wrong"), Purpose: pointer("news"), Source: "test",
			})
			return err
		})
		attempts := []string{
			"DELETE FROM habeas_consent_records", "DELETE FROM habeas_restriction_records",
			"UPDATE habeas_restriction_records SET reason = 'other'",
			"UPDATE habeas_restriction_records SET reason = reason",
		}
		for column, value := range map[string]string{
			"subject_id": "'2'", "purpose": "'ads'", "policy_version": "'v9'", "granted": "FALSE", "source": "'x'",
			"recorded_at": "'2020-01-01T00:00:00.000000Z'",
		} {
			attempts = append(attempts, "UPDATE habeas_consent_records SET "+column+" = "+value,
				"UPDATE habeas_consent_records SET "+column+" = "+column)
		}
		for column, value := range map[string]string{
			"subject_id": "'2'", "purpose": "NULL", "restricted": "FALSE", "source": "'x'",
			"recorded_at": "'2020-01-01T00:00:00.000000Z'",
		} {
			attempts = append(attempts, "UPDATE habeas_restriction_records SET reason = NULL, "+column+" = "+value)
		}
		if db.Dialect().Name() == dialect.PG {
			attempts = append(attempts, "TRUNCATE habeas_consent_records", "TRUNCATE habeas_restriction_records",
				asReplica+"DELETE FROM habeas_consent_records", asReplica+"DELETE FROM habeas_restriction_records",
				"INSERT INTO habeas_consent_records AS c (seq, subject_id, purpose, policy_version, granted, recorded_at, source)"+
					" OVERRIDING SYSTEM VALUE VALUES (1, '1', 'news', 'v', FALSE, now(), 'x') "+
					"ON CONFLICT (seq) DO UPDATE SET granted = FALSE")
		} else {
			attempts = append(attempts, "UPDATE habeas_restriction_records SET reason = NULL, seq = 100",
				"INSERT OR REPLACE INTO habeas_consent_records VALUES (1, '1', 'news', 'v', FALSE, 'now', 'x')",
				"INSERT OR REPLACE INTO habeas_restriction_records VALUES (1, '1', 'news', FALSE, NULL, 'now', 'x')",
				"UPDATE OR REPLACE habeas_consent_records SET seq = 1")
		}
		for _, attempt := range attempts {
			if _, err := db.ExecContext(t.Context(), attempt); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("%s: %v", attempt, err)
			}
		}
		execute(t, db, "UPDATE habeas_restriction_records SET reason = NULL")
		s.do(t, func(ctx context.Context, session ports.Session) error {
			status, err := s.consent.Status(ctx, session, s.alice.ID, "news")
			if !status.Granted {
				t.Errorf("consent %+v", status)
			}
			_, record, latestErr := session.Restrictions().Latest(ctx, s.alice.ID, pointer("news"))
			if record == nil || !record.Restricted || record.Reason != nil {
				t.Errorf("restriction %+v, %v", record, latestErr)
			}
			return err
		})
	})
}

// The sequences must have no cache. A sequence with a cache would let a connection take a lower number after another
// connection has committed a higher one, so that the numbers would not show the order of the records.
func TestTheSequencesOfTheLedgersHaveNoCache(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.PostgreSQL(t), 1)
	for _, table := range []string{"habeas_consent_records", "habeas_restriction_records"} {
		var cache, step int
		must(t, s.db.NewRaw("SELECT seqcache, seqincrement FROM pg_sequence WHERE seqrelid ="+
			" CAST(pg_get_serial_sequence(?, 'seq') AS regclass)", table).Scan(t.Context(), &cache, &step))
		if cache != 1 || step != 1 {
			t.Errorf("%s: %d numbers are kept by a connection, and it steps by %d", table, cache, step)
		}
	}
}

// Session A buffers a record, and session B then appends and commits a record. Session A sends its record after that,
// so its record must be the latest.
func TestOverlappingSessionsAreOrderedByTheirAppends(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		record := func(version string, granted bool, at time.Time) domain.ConsentRecord {
			return domain.ConsentRecord{
				SubjectID: s.alice.ID, Purpose: "news", PolicyVersion: version, Granted: granted, RecordedAt: at, Source: "api",
			}
		}
		now := time.Now()
		s.do(t, func(ctx context.Context, session ports.Session) error {
			must(t, session.Consents().Append(ctx, record("held back", false, now)))
			s.do(t, func(ctx context.Context, session ports.Session) error { // from a node whose clock is ahead
				return session.Consents().Append(ctx, record("in between", true, now.Add(time.Hour)))
			})
			return nil
		})
		s.do(t, func(ctx context.Context, session ports.Session) error {
			latest, err := session.Consents().Latest(ctx, s.alice.ID, "news", nil)
			if latest == nil || latest.PolicyVersion != "held back" {
				t.Errorf("got %+v", latest)
			}
			return err
		})
	})
}
