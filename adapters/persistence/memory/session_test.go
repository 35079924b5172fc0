package memory_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var errBoom = errors.New("boom")

// whileWriting calls fn while another session holds the write lock. After fn, that session ends.
func whileWriting(t testing.TB, store *memory.Store, fn func()) {
	t.Helper()
	locked, done := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Lock(ctx, subject(t, "a", "1"), noon)
			close(locked)
			<-done
			return err
		})
	})
	<-locked
	fn()
	close(done)
	wg.Wait()
}

func TestReadsAndAppendsDoNotWaitForAWriter(t *testing.T) {
	store, id := newShop(t), subject(t, "b", "1")
	whileWriting(t, store, func() {
		_ = store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Consents().Latest(ctx, id, "p", nil)
			must(t, err)
			_, _, err = s.Restrictions().Latest(ctx, id, nil)
			must(t, err)
			_, err = s.OutboxAdmin().Counts(ctx)
			must(t, err)
			must(t, s.Audit().Append(ctx, event("e", id)))
			must(t, s.Subjects().Export(ctx, id, func(domain.ExportRecord) error { return nil }))
			return errBoom // a commit would have to wait
		})
		if got := rows(t, store, "people"); len(got) != 2 {
			t.Errorf("%d rows", len(got))
		}
	})
}

func TestASessionOfAnotherStoreMayBeInside(t *testing.T) {
	one, other := newShop(t), newShop(t)
	do(t, one, func(ctx context.Context, _ ports.Session) error {
		nothing := func(context.Context, ports.Session) error { return nil }
		if err := one.Do(ctx, nothing); !errors.Is(err, domain.ErrSession) {
			t.Errorf("in a session of its own: %v", err)
		}
		return other.Do(ctx, nothing)
	})
}

func TestLostEvidenceIsReportedWithTheCause(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, event("taken", id)) })
	err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		must(t, s.Audit().AppendEvidence(ctx, event("taken", id)))
		return errBoom
	})
	if !errors.Is(err, errBoom) || !strings.Contains(err.Error(), "could not be written: conflict") {
		t.Errorf("got %v", err)
	}
}

func TestAnAppendIsReportedWhereItIsRead(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	appends := func(ctx context.Context, s ports.Session) error {
		return s.Audit().Append(ctx, event("e", id))
	}
	do(t, store, appends)
	err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		must(t, appends(ctx, s))
		if _, err := s.Audit().Trail(ctx, id); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("got %v", err)
		}
		return nil // nothing is committed nevertheless
	})
	if !errors.Is(err, domain.ErrConflict) {
		t.Errorf("the session: got %v", err)
	}
	if err := store.Do(t.Context(), appends); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("at the commit: got %v", err)
	}
}
