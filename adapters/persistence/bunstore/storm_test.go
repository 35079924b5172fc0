package bunstore_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// A storm is many sessions of one person at once. They hold one connection, and one place in the queue of writers, so
// that another person does not wait for the whole storm. The pool has two connections: one for the storm, and one for
// the other person.
func TestAStormOfOnePersonLeavesConnectionsToOthers(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		db.SetMaxOpenConns(2)
		a := newApplication(t, db, nil, (*guest)(nil))
		stormy, other := subjectID(t, "1"), subjectID(t, "2")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		erase := a.operations()["an erasure"](stormy)
		must(t, a.store.Do(ctx, erase))
		var storm sync.WaitGroup
		var begun, ended atomic.Int64
		holds, release := make(chan struct{}), make(chan struct{})
		storm.Go(func() {
			err := a.store.Do(ctx, inTurn(erase, func(context.Context, ports.Session) error {
				close(holds)
				<-release
				return nil
			}))
			if err != nil {
				t.Error(err)
			}
		})
		<-holds
		const sessions = 64
		for i := range sessions {
			session := []func(context.Context, ports.Session) error{erase, consenting(stormy), restricting(stormy)}[i%3]
			storm.Go(func() {
				attempts := 0
				err := a.store.Do(ctx, func(ctx context.Context, s ports.Session) error {
					attempts++
					begun.Add(1)
					return session(ctx, s)
				})
				ended.Add(1)
				if err != nil || attempts != 1 {
					t.Errorf("%d attempts: %v", attempts, err)
				}
			})
		}
		for begun.Load() < sessions {
			runtime.Gosched()
		}
		consented := make(chan error, 1)
		others := make(chan struct{})
		go func() {
			consented <- a.store.Do(ctx, inTurn(func(context.Context, ports.Session) error {
				close(others)
				return nil
			}, consenting(other)))
		}()
		<-others
		if db.Dialect().Name() == dialect.PG {
			if err := errors.Join(<-consented, a.store.Do(ctx, hasConsent(t, other))); err != nil {
				t.Errorf("another person waits for the storm: %v", err)
			}
			close(release)
		} else { // the storm has the write lock of the database
			must(t, a.store.Do(ctx, func(ctx context.Context, s ports.Session) error {
				return errOf(s.Consents().Latest(ctx, other, "news", nil))
			}))
			close(release)
			if err := <-consented; err != nil || ended.Load() > sessions/2 {
				t.Errorf("another person waits for %d sessions of the storm: %v", ended.Load(), err)
			}
		}
		storm.Wait()
	})
}

func hasConsent(t *testing.T, id domain.SubjectID) func(context.Context, ports.Session) error {
	t.Helper()
	return func(ctx context.Context, s ports.Session) error {
		record, err := s.Consents().Latest(ctx, id, "news", nil)
		if err == nil && record == nil {
			t.Error("the consent is not recorded")
		}
		return err
	}
}
