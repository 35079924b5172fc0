package bunstore_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// marksOf returns the subjects of the marks that match the query, and the intake number of the last of these marks.
func marksOf(t testing.TB, sessions ports.SessionFactory, query domain.MarkQuery) (ids []string, last int64) {
	t.Helper()
	must(t, sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		found, err := s.Erased().Marks(ctx, query)
		ids, last = nil, query.After
		for _, mark := range found {
			ids, last = append(ids, mark.SubjectID.String()), mark.Intake
		}
		return err
	}))
	return ids, last
}

// lock locks a subject. Locking adds a mark.
func lock(t testing.TB, sessions ports.SessionFactory, id string) {
	t.Helper()
	must(t, sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return errOf(s.Subjects().Lock(ctx, subjectID(t, id), noon))
	}))
}

func TestAReaderOfMarksMissesNoConcurrentErasure(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.PostgreSQL(t), 0)
	const erasers, each = 4, 60
	var erasing sync.WaitGroup
	var failed, ended atomic.Bool
	for eraser := range erasers {
		erasing.Go(func() {
			for i := range each {
				err := s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
					id := subjectID(t, strconv.Itoa(1000+eraser*each+i))
					return errOf(session.Subjects().Lock(ctx, id, noon))
				})
				if err != nil {
					failed.Store(true)
				}
			}
		})
	}
	go func() {
		erasing.Wait()
		ended.Store(true)
	}()
	seen, query, pages := map[string]bool{}, domain.MarkQuery{Limit: 7}, 0
	for {
		all := ended.Load()
		var ids []string
		ids, query.After = marksOf(t, s.store, query)
		for _, id := range ids {
			if seen[id] {
				t.Errorf("a mark is listed twice")
			}
			seen[id] = true
		}
		if len(ids) > 0 && !all {
			pages++
		}
		if all && len(ids) == 0 {
			break
		}
	}
	if failed.Load() || len(seen) != erasers*each {
		t.Errorf("of %d erasures, the marks of %d are listed", erasers*each, len(seen))
	}
	t.Logf("%d pages were read during the erasures", pages)
}

func TestMarksAreNotListedWhereCommitsAreNotSeen(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.PostgreSQL(t), 0)
	tx, err := s.db.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	execute(t, tx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	joined, err := s.store.Join(tx)
	must(t, err)
	err = joined.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
		_, err := session.Erased().Marks(ctx, domain.MarkQuery{Limit: 1})
		return err
	})
	if !errors.Is(err, domain.ErrSession) {
		t.Errorf("got %v", err)
	}
}

// Until an erasure commits, a list of erasure marks omits all marks with higher intake numbers than the mark of this
// erasure. Marks in other schemas are listed.
func TestAnErasureDelaysTheMarksOfItsSchema(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	s := newShop(t, db, 0)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{Schema: "other"}))
	other := storeOf(t, db, mapOf(t, db, models), bunstore.Options{Schema: "other"})
	for _, sessions := range []ports.SessionFactory{s.store, other} {
		lock(t, sessions, "1")
	}
	must(t, s.inHostTransaction(t, func(_ context.Context, _ bun.Tx, joined ports.SessionFactory) error {
		lock(t, joined, "2")
		for _, sessions := range []ports.SessionFactory{s.store, other} {
			lock(t, sessions, "3")
		}
		if ids, _ := marksOf(t, s.store, domain.MarkQuery{Limit: 9}); !slices.Equal(ids, []string{"1"}) {
			t.Errorf("of the same schema the marks of %v are listed", ids)
		}
		if ids, _ := marksOf(t, other, domain.MarkQuery{Limit: 9}); !slices.Equal(ids, []string{"1", "3"}) {
			t.Errorf("of the other schema the marks of %v are listed", ids)
		}
		return nil
	}))
	if ids, _ := marksOf(t, s.store, domain.MarkQuery{Limit: 9}); !slices.Equal(ids, []string{"1", "2", "3"}) {
		t.Errorf("at the end the marks of %v are listed", ids)
	}
}
