package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func sessionShowsNothingBeforeItsCommit(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	outside := t.Context()
	seen, reading := make(chan rowCounts, 1), sync.WaitGroup{}
	do(t, store, func(ctx context.Context, s ports.Session) error {
		if err := writeAndRead(ctx, s, id); err != nil {
			return err
		}
		reading.Go(func() {
			_ = store.Sessions.Do(outside, func(ctx context.Context, s ports.Session) error {
				found, err := countRows(ctx, s, id)
				if err == nil {
					select {
					case seen <- found:
					default: // an earlier attempt of the session has sent it
					}
				}
				return err
			})
		})
		select {
		case found := <-seen:
			assert(t, found == (rowCounts{}), "another session sees %+v before the commit", found)
		case <-time.After(grace): // a store may make readers wait
		}
		return nil
	})
	h.within(t, "reading during another session, which has ended", reading.Wait)
	expectRowCounts(t, store, id, countsAfter)
}

func sessionIsTriedAgainAfterADeadlock(t testing.TB, h StoreHarness) {
	store := h.open(t)
	people := []domain.SubjectID{subject(t, "acme", 1), subject(t, "acme", 2)}
	last := lockInOppositeOrder(t, h, store, people)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for i, person := range people {
			ids, err := trailOf(ctx, s, person)
			if err != nil {
				return err
			}
			want := []string{last[i]}
			assert(t, slices.Equal(ids, want), "of two sessions in a deadlock, one left the events %v, want %v", ids, want)
		}
		return nil
	})
}

// lockInOppositeOrder runs two sessions that lock two people in opposite order, which causes a deadlock. Both sessions
// must succeed after retries. Each attempt of a session appends an audit event about the person that it locks first.
// lockInOppositeOrder returns, for each session, the id of the event that the last attempt appended.
func lockInOppositeOrder(t testing.TB, h StoreHarness, store Store, people []domain.SubjectID) (last []string) {
	t.Helper()
	var waiting atomic.Int32
	bothLocked, ctx := make(chan struct{}), t.Context()
	last = make([]string, len(people))
	errs := make([]error, len(people))
	h.within(t, "two sessions that lock two people in opposite order", func() {
		var sessions sync.WaitGroup
		for i, first := range people {
			second, attempts := people[1-i], 0
			sessions.Go(func() {
				errs[i] = store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
					attempts++
					last[i] = fmt.Sprintf("session-%d-attempt-%d", i, attempts)
					if err := s.Audit().AppendEvidence(ctx, event(last[i], first)); err != nil {
						return err
					}
					if _, err := s.Subjects().Lock(ctx, first, noon); err != nil {
						return err
					}
					if waiting.Add(1) == 2 {
						close(bothLocked)
					}
					select {
					case <-bothLocked:
					case <-time.After(grace): // a store may make the second session wait
					}
					return errOf(s.Subjects().Lock(ctx, second, noon))
				})
			})
		}
		sessions.Wait()
	})
	for _, err := range errs {
		must(t, err == nil, "of two sessions in a deadlock, one failed: %v", err)
	}
	return last
}

const (
	goroutines = 16 // the number of concurrent callers
	rounds     = 4  // the number of sessions of each goroutine
)

func sessionFactoryIsSafeForConcurrentUse(t testing.TB, h StoreHarness) {
	store := h.open(t)
	ctx, everybody := t.Context(), subject(t, "acme", 99)
	var sessions sync.WaitGroup
	var arrived atomic.Int32
	all := make(chan struct{})
	for i := range goroutines {
		own := subject(t, "acme", int64(i))
		sessions.Go(func() {
			for round := range rounds {
				err := store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
					if arrived.Add(1) == goroutines {
						close(all)
					}
					select {
					case <-all:
					case <-time.After(grace): // a store may open one session at a time
					}
					written := errors.Join(s.Consents().Append(ctx, grant(own, "news", round)),
						s.Audit().Append(ctx, event(fmt.Sprintf("all-%d-%d", i, round), everybody)))
					history, err := s.Consents().History(ctx, own, "news")
					assert(t, written != nil || err != nil || len(history) == round+1,
						"a concurrent session sees %d records of its subject, want %d", len(history), round+1)
					return errors.Join(written, err)
				})
				assert(t, err == nil, "a concurrent session failed: %v", err)
			}
		})
	}
	sessions.Wait()
	do(t, store, func(ctx context.Context, s ports.Session) error {
		ids, err := trailOf(ctx, s, everybody)
		slices.Sort(ids)
		if ids = slices.Compact(ids); err == nil && len(ids) != goroutines*rounds {
			t.Errorf("%d sessions left %d events", goroutines*rounds, len(ids))
		}
		return err
	})
}
