package memory_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
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

func TestAWriteWaitsNoLongerThanItsContext(t *testing.T) {
	store, id := newShop(t), subject(t, "b", "1")
	writes := map[string]func(context.Context, ports.Session) error{
		"a write": func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Lock(ctx, id, noon)
			return err
		},
		"a commit": func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, event("e", id)) },
	}
	whileWriting(t, store, func() {
		for name, write := range writes {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if err := store.Do(ctx, write); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v", name, err)
			}
			cancel()
			ctx, cancel = context.WithCancel(t.Context())
			cancel()
			if err := store.Do(ctx, write); !errors.Is(err, context.Canceled) || domain.ErrorClass(err) != "canceled" {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
	if len(trail(t, store, id)) > 0 {
		t.Error("something was committed")
	}
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

func TestAnExportReadsOneSnapshot(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	insert(t, store, "orders", memory.Row{"id": 1, "tenant": "a", "person": 1, "note": "before"})
	seen := 0
	do(t, store, func(ctx context.Context, s ports.Session) error {
		return s.Subjects().Export(ctx, id, func(record domain.ExportRecord) error {
			if record.Source == "people" && record.Field == "name" {
				insert(t, store, "orders", memory.Row{"id": 2, "tenant": "a", "person": 1})
				_, err := apply(store, id, anonymizes("orders", "note"))
				must(t, err)
			}
			if record.Source == "orders" {
				seen++
				if record.Value != "before" {
					t.Errorf("the note is %v", record.Value)
				}
			}
			return nil
		})
	})
	if seen != 1 {
		t.Errorf("%d orders", seen)
	}
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

// However a session ends, it releases the write lock, so that the next session can write.
func TestTheWriteLockIsReleased(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	ends := map[string]func(cancel func()) error{
		"with an error":      func(func()) error { return errBoom },
		"with a panic":       func(func()) error { panic(errBoom) },
		"with its goroutine": func(func()) error { runtime.Goexit(); return nil },
		"with its context":   func(cancel func()) error { cancel(); return nil },
		"with a commit":      func(func()) error { return nil },
	}
	var wg sync.WaitGroup
	for name, end := range ends {
		wg.Go(func() {
			defer func() { _ = recover() }()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			_ = store.Do(ctx, func(ctx context.Context, s ports.Session) error {
				if _, err := s.Subjects().Lock(ctx, id, noon); err != nil {
					return err
				}
				if err := s.Audit().AppendEvidence(ctx, event(name, id)); err != nil {
					return err
				}
				return end(cancel)
			})
		})
	}
	wg.Wait()
	if _, times := store.Erased(id); times != 1 {
		t.Errorf("%d sessions committed, want 1", times)
	}
	if events := trail(t, store, id); len(events) != len(ends) {
		t.Errorf("evidence of %d sessions, want %d", len(events), len(ends))
	}
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

func TestConcurrentSessionsLoseNothing(t *testing.T) {
	const writers, each = 8, 25
	store, id := newShop(t), subject(t, "a", "1")
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				name := strconv.Itoa(w) + "-" + strconv.Itoa(i)
				err := store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
					history, err := s.Consents().History(ctx, id, "p")
					if err == nil {
						err = s.Consents().Append(ctx, domain.ConsentRecord{SubjectID: id, Purpose: "p", RecordedAt: noon})
					}
					if err == nil {
						err = s.Audit().Append(ctx, event(name, id))
					}
					if err == nil && i%2 == 0 {
						_, err = s.Subjects().Apply(ctx, id, []datamap.Step{anonymizes("people", "name")})
					}
					if i%5 == 0 && len(history) >= 0 {
						err = errors.Join(err, errBoom) // rolled back
					}
					return err
				})
				if err != nil && !errors.Is(err, errBoom) {
					t.Error(err)
				}
				if err := store.Insert("orders", memory.Row{"id": 1000*w + i, "tenant": "a", "person": 1}); err != nil {
					t.Error(err)
				}
				_, _ = store.Rows("people")
			}
		})
	}
	wg.Wait()
	committed := writers * each * 4 / 5
	if events := trail(t, store, id); len(events) != committed {
		t.Errorf("%d events, want %d", len(events), committed)
	}
	do(t, store, func(ctx context.Context, s ports.Session) error {
		history, err := s.Consents().History(ctx, id, "p")
		if len(history) != committed {
			t.Errorf("%d records, want %d", len(history), committed)
		}
		return err
	})
	if n := len(rows(t, store, "orders")); n != writers*each {
		t.Errorf("%d orders", n)
	}
}
