package bunstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/verification"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// lockOfMark takes the lock that an open mark has, without a mark.
const lockOfMark = `SELECT pg_advisory_xact_lock_shared(
	CAST(CAST(CAST(CAST('habeas_subject_erasures' AS regclass) AS oid) AS bigint) & 2147483647 AS integer), 0)`

type lines struct{ bytes.Buffer }

func (*lines) Name() string { return "lines" }
func (l *lines) Append(_ context.Context, text []byte) error {
	_, err := l.Write(text)
	return err
}
func (l *lines) Open(context.Context) (io.ReadCloser, error) { return io.NopCloser(&l.Buffer), nil }

func verifierOf(t *testing.T, store *bunstore.Store, db *bun.DB) *verification.Verifier {
	t.Helper()
	dataMap := mapOf(t, db, models[:1])
	plan := planOf(t, dataMap)
	verifier, err := verification.NewVerifier(verification.Config{
		Sessions: store, Clock: system.Clock{}, IDs: &system.IDs{}, DataMap: dataMap, Plan: plan,
	})
	must(t, err)
	return verifier
}

// A role that cannot write marks takes the lock of an open mark, and keeps it. The journal reads on. It waits for a
// session whose role can write marks, and says so after its patience.
func TestALockOfAnotherRoleHoldsUpNoReader(t *testing.T) {
	t.Parallel()
	db, admin, role := asRole(t)
	store := newStore(t, admin)
	written := &lines{}
	writer, err := journal.NewWriter(journal.Config{
		Sessions: store, Journal: written, Patience: time.Hour, Clock: system.Clock{},
	})
	must(t, err)
	eraseAt := func(id string, at time.Time) {
		t.Helper()
		must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Lock(ctx, subjectID(t, id), at)
			return err
		}))
	}
	hold := func(by *bun.DB) bun.Tx {
		t.Helper()
		tx, err := by.BeginTx(t.Context(), nil)
		must(t, err)
		_, err = tx.ExecContext(t.Context(), lockOfMark)
		must(t, err)
		return tx
	}
	execute(t, admin, "REVOKE INSERT ON habeas_subject_erasures FROM "+role)
	stranger := hold(db)
	eraseAt("1", noon)
	if n, _, err := writer.RunOnce(t.Context()); n != 1 || err != nil {
		t.Errorf("%d lines, %v", n, err)
	}
	must(t, stranger.Rollback())

	execute(t, admin, "GRANT INSERT (subject_id) ON habeas_subject_erasures TO "+role)
	writes := hold(db)
	eraseAt("2", time.Now()) // now
	if n, _, err := writer.RunOnce(t.Context()); n != 0 || err != nil {
		t.Errorf("%d lines, %v", n, err)
	}
	eraseAt("3", noon)
	if n, _, err := writer.RunOnce(t.Context()); n != 0 || !errors.Is(err, domain.ErrBehind) {
		t.Errorf("%d lines, %v", n, err)
	}
	verifier := verifierOf(t, store, admin)
	for {
		verified, more, err := verifier.RunOnce(t.Context(), time.Hour)
		if !more {
			if len(verified) > 0 || !errors.Is(err, domain.ErrBehind) {
				t.Errorf("verified %d erasures, %v", len(verified), err)
			}
			break
		}
	}
	must(t, writes.Rollback())
	if n, _, err := writer.RunOnce(t.Context()); n != 2 || err != nil {
		t.Errorf("%d lines, %v", n, err)
	}
}
