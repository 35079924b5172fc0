package attack

import (
	"context"
	"fmt"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/databases"
)

// A withdrawal in a transaction of the host that is acknowledged (commits) after a grant must be in force.
func TestAWithdrawalThatCommitsLastIsInForce(t *testing.T) {
	db := databases.PostgreSQL(t)
	gdpr, _ := integrate(t, db, app.Config{})
	ctx := t.Context()
	must(t, db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		joined, err := gdpr.Join(tx)
		must(t, err)
		record(t, joined, gdpr, "news", false)
		record(t, gdpr.Stack().Sessions, gdpr, "news", true) // acknowledged now
		return nil
	})) // the withdrawal is acknowledged now, last
	if s := status(t, gdpr.Stack().Sessions, gdpr, "news"); s.Granted {
		t.Error("the withdrawal that was acknowledged last is not in force")
	}
}

// A grant that is in flight when the erasure commits is in force after it.
func TestAGrantInFlightDoesNotSurviveAnErasure(t *testing.T) {
	db := databases.PostgreSQL(t)
	gdpr, _ := integrate(t, db, app.Config{})
	ctx := t.Context()
	_, err := db.Exec("INSERT INTO persons (id, email) VALUES (1, 'a')")
	must(t, err)
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	joined, err := gdpr.Join(tx)
	must(t, err)
	record(t, joined, gdpr, "news", true)
	done := make(chan error, 1)
	go func() {
		subject, _ := domain.NewSubject("1")
		done <- gdpr.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			_, err := gdpr.Stack().Eraser.Erase(ctx, s, subject)
			return err
		})
	}()
	must(t, <-done)
	must(t, tx.Commit())
	if s := status(t, gdpr.Stack().Sessions, gdpr, "news"); s.Granted {
		t.Error("the grant, which was taken in before the erasure, survives it")
	}
}

// A restriction, after the erasure of its subject, holds for whoever gets the id later.
func TestARestrictionAfterAnErasure(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		gdpr, _ := integrate(t, db, app.Config{})
		ctx, id := t.Context(), subjectID(t, "1")
		stack := gdpr.Stack()
		do := func(f func(ctx context.Context, s ports.Session) error) {
			t.Helper()
			must(t, stack.Sessions.Do(ctx, f))
		}
		do(func(ctx context.Context, s ports.Session) error {
			reason := "secret"
			_, err := stack.Restriction.Record(ctx, s, id, domain.RestrictionDecision{Restricted: true, Reason: &reason, Source: "x"})
			return err
		})
		do(func(ctx context.Context, s ports.Session) error {
			_, err := stack.Eraser.Erase(ctx, s, domain.Subject{ID: id})
			return err
		})
		do(func(ctx context.Context, s ports.Session) error {
			st, err := stack.Restriction.Status(ctx, s, id, nil)
			t.Logf("restricted after the erasure: %v", st.Restricted)
			h, err2 := s.Restrictions().History(ctx, id, nil)
			must(t, err2)
			for _, r := range h {
				if r.Reason != nil {
					t.Error("the reason survives")
				}
			}
			return err
		})
	})
}

// A purpose that is no longer declared: consent was given, and cannot be withdrawn.
func TestARetiredPurposeCanBeWithdrawn(t *testing.T) {
	db := databases.SQLite(t)
	before, _ := integrate(t, db, app.Config{})
	record(t, before.Stack().Sessions, before, "old", true)
	gdpr, _ := integrate(t, db, app.Config{Purposes: []domain.Purpose{{Name: "new"}}})
	err := gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Consent.Record(ctx, s, subjectID(t, "1"), domain.ConsentDecision{
			Purpose: "old", PolicyVersion: "1", Granted: false, Source: "test",
		})
		return err
	})
	if err != nil {
		t.Errorf("a withdrawal is refused: %v", err)
	}
}

// The ledgers, and all that SQL can try.
func TestLedgersRefuseChanges(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		gdpr, _ := integrate(t, db, app.Config{})
		record(t, gdpr.Stack().Sessions, gdpr, "news", false)
		must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			reason := "r"
			_, err := gdpr.Stack().Restriction.Record(ctx, s, subjectID(t, "1"), domain.RestrictionDecision{Restricted: true, Reason: &reason, Source: "x"})
			return err
		}))
		statements := []string{
			"UPDATE habeas_consent_records SET granted = TRUE",
			"UPDATE habeas_consent_records SET granted = granted",
			"DELETE FROM habeas_consent_records",
			"UPDATE habeas_restriction_records SET reason = 'x'",
			"UPDATE habeas_restriction_records SET reason = reason",
			"UPDATE habeas_restriction_records SET reason = NULL, restricted = FALSE",
			"DELETE FROM habeas_restriction_records",
			"DELETE FROM habeas_audit_events",
		}
		if db.Dialect().Name().String() == "sqlite" {
			cols := "(seq, subject_id, purpose, policy_version, granted, recorded_at, source) VALUES (%s, '1', 'news', '1', TRUE, 'x', 'x')"
			for _, seq := range []string{"1", "'1'", "1.0"} {
				statements = append(statements, "INSERT OR REPLACE INTO habeas_consent_records "+fmt.Sprintf(cols, seq),
					"REPLACE INTO habeas_consent_records "+fmt.Sprintf(cols, seq),
					"INSERT INTO habeas_consent_records "+fmt.Sprintf(cols, seq)+" ON CONFLICT (seq) DO UPDATE SET granted = TRUE")
			}
			statements = append(statements, "UPDATE OR REPLACE habeas_audit_events SET event_type = 'x'",
				"INSERT OR REPLACE INTO habeas_restriction_records (seq, subject_id, restricted, recorded_at, source) VALUES (1, '1', 0, 'x', 'x')",
				"UPDATE OR REPLACE habeas_restriction_records SET seq = 5")
		} else {
			statements = append(statements, "TRUNCATE habeas_consent_records", "TRUNCATE habeas_restriction_records",
				"INSERT INTO habeas_consent_records (seq, subject_id, purpose, policy_version, granted, recorded_at, source) OVERRIDING SYSTEM VALUE VALUES (1, '1', 'news', '1', TRUE, now(), 'x') ON CONFLICT (seq) DO UPDATE SET granted = TRUE",
				"MERGE INTO habeas_consent_records AS r USING (SELECT 1) AS x ON TRUE WHEN MATCHED THEN DELETE")
		}
		for _, statement := range statements {
			if result, err := db.DB.Exec(statement); err == nil {
				n, _ := result.RowsAffected()
				t.Errorf("is accepted (%d rows): %s", n, statement)
			}
		}
		if s := status(t, gdpr.Stack().Sessions, gdpr, "news"); s.Granted {
			t.Error("changed")
		}
	})
}
