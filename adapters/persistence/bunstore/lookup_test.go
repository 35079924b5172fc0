package bunstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// A lookup (a read of the latest consent for a purpose) uses the driver's connection directly. If the server does not
// respond, the lookup must still end with its context and release the connection.
func TestALookupThatHangsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	db.SetMaxOpenConns(2)
	s := newShop(t, db, 1)
	look := func(ctx context.Context) error {
		return s.store.Do(ctx, func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.Status(ctx, session, s.alice.ID, "newsletter")
			return err
		})
	}
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = tx.ExecContext(t.Context(), "LOCK TABLE habeas_consent_records IN ACCESS EXCLUSIVE MODE")
	must(t, err)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err := look(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("with a deadline: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if err := look(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	must(t, tx.Rollback())
	must(t, look(t.Context()))
	if used := db.Stats().InUse; used > 0 {
		t.Errorf("%d connections are kept", used)
	}
}
