package bunstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

var errSome = errors.New("some failure")

// locked returns an SQLite database whose write lock belongs to another connection pool until the test calls release.
// The parameter settings is added to its URL.
func locked(t testing.TB, settings string) (db *bun.DB, store *bunstore.Store, release func()) {
	t.Helper()
	url := databases.SQLiteURL(filepath.Join(t.TempDir(), "db")) + settings
	db, other := openDB(t, "sqlite", url), openDB(t, "sqlite", url)
	newBox(t, db)
	conn, err := other.Conn(t.Context())
	must(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	return db, newStore(t, db), sync.OnceFunc(func() {
		_, err := conn.ExecContext(context.Background(), "ROLLBACK")
		must(t, err)
		must(t, conn.Close())
	})
}

func grantOf(t testing.TB, id string) func(context.Context, ports.Session) error {
	t.Helper()
	record := domain.ConsentRecord{SubjectID: subject(t, id), Purpose: "news", RecordedAt: noon, Source: "test"}
	return func(ctx context.Context, s ports.Session) error { return s.Consents().Append(ctx, record) }
}

func TestAnAppendThatWaitsForTheLockEndsWithItsContextAndWritesNothing(t *testing.T) {
	t.Parallel()
	db, store, release := locked(t, "")
	defer release()
	start := time.Now()
	for what, fn := range map[string]func(context.Context, ports.Session) error{
		"an append": grantOf(t, "1"),
		"a write": func(ctx context.Context, s ports.Session) error {
			return errOf(s.Subjects().Lock(ctx, subject(t, "1"), noon))
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := store.Do(ctx, fn); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if waited := time.Since(start); waited > 5*time.Second { // the busy_timeout is 10 s
		t.Errorf("waited %v", waited)
	}
	release()
	must(t, store.Do(t.Context(), grantOf(t, "2"))) // runs after the abandoned statement
	for db.Stats().InUse > 0 {                      // the abandoned statement has not ended
		runtime.Gosched()
	}
	var subjects []string
	must(t, db.NewRaw("SELECT subject_id FROM habeas_consent_records").Scan(t.Context(), &subjects))
	if !slices.Equal(subjects, []string{"2"}) {
		t.Errorf("consents of %q", subjects)
	}
}

func TestAReaderDoesNotWaitForTheLockEvenIfTheTransactionsOfTheDriverDo(t *testing.T) {
	t.Parallel()
	_, store, release := locked(t, "&_txlock=immediate")
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // the busy_timeout is 10 s
	defer cancel()
	must(t, store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		return s.Subjects().Export(ctx, subject(t, "1"), func(domain.ExportRecord) error { return nil })
	}))
}

func TestEvidenceThatWaitsForTheLockEndsWithItsTime(t *testing.T) {
	t.Parallel()
	_, store, release := locked(t, "")
	defer release()
	start := time.Now()
	err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		event := domain.AuditEvent{EventID: "e", EventType: domain.EventErasureRequested, SubjectRef: subject(t, "1")}
		return errors.Join(s.Audit().AppendEvidence(ctx, event), errSome)
	})
	if waited := time.Since(start); !errors.Is(err, errSome) || waited > 8*time.Second { // the busy_timeout is 10 s
		t.Errorf("got %v after %v", err, waited)
	}
}

// The store must queue concurrent writers, so that none of them fails or needs a retry. The busy_timeout is 0, so
// SQLite itself does not wait for the write lock.
func TestWritersOfOneStoreWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	newBox(t, openDB(t, "sqlite", databases.SQLiteURL(path)))
	db := openDB(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(0)&_pragma=synchronous(off)")
	store := newStore(t, db)
	var all sync.WaitGroup
	var runs atomic.Int64
	for i := range 20 {
		all.Go(func() {
			name := strconv.Itoa(i)
			for range 20 {
				if err := store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
					runs.Add(1)
					if i%2 == 0 {
						return grantOf(t, name)(ctx, s)
					}
					return errors.Join(errOf(s.Subjects().Lock(ctx, subject(t, name), noon)), grantOf(t, name)(ctx, s))
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if runs := runs.Load(); runs != 400 {
		t.Errorf("400 sessions were run %d times", runs)
	}
	if n, err := db.NewSelect().Table("habeas_consent_records").Count(t.Context()); n != 400 || err != nil {
		t.Errorf("%d consents, %v", n, err)
	}
}

func TestAWaitForTheTurnIsBoundedWithoutADeadline(t *testing.T) {
	t.Parallel()
	for name, connections := range map[string]int{"the turn to write": 2, "a connection": 1} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "db")
			newBox(t, openDB(t, "sqlite", databases.SQLiteURL(path)))
			synctest.Test(t, func(t *testing.T) {
				db := openDB(t, "sqlite", databases.SQLiteURL(path))
				db.SetMaxOpenConns(connections)
				store, runs := newStore(t, db), 0
				start := time.Now()
				for what, fn := range map[string]func(context.Context, ports.Session) error{
					"an append": grantOf(t, "1"),
					"a write": func(ctx context.Context, s ports.Session) error {
						return errOf(s.Subjects().Lock(ctx, subject(t, "1"), noon))
					},
				} {
					must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
						must(t, errOf(s.Subjects().Lock(ctx, subject(t, "0"), noon)))
						if err := store.Do(ctx, fn); !errors.Is(err, domain.ErrSession) {
							t.Errorf("%s in a context that derives: %v", what, err)
						}
						err := store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
							runs++
							return fn(ctx, s)
						})
						if !errors.Is(err, domain.ErrUnavailable) {
							t.Errorf("%s in another context: %v", what, err)
						}
						return nil
					}))
				}
				if waited := time.Since(start); waited != 2*30*time.Second || runs != 2 {
					t.Errorf("waited %v in %d runs", waited, runs)
				}
				must(t, store.Do(t.Context(), grantOf(t, "2")))
			})
		})
	}
}

func TestAWriterThatWaitsHoldsNoConnection(t *testing.T) {
	t.Parallel()
	db := openDB(t, "sqlite", databases.SQLiteURL(filepath.Join(t.TempDir(), "db")))
	db.SetMaxOpenConns(2)
	newBox(t, db)
	store := newStore(t, db)
	var all sync.WaitGroup
	must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subject(t, "0"), noon); err != nil {
			return err
		}
		for i := range 5 {
			all.Go(func() { must(t, store.Do(context.Background(), grantOf(t, strconv.Itoa(i)))) })
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return store.Do(ctx, func(ctx context.Context, s ports.Session) error { // reads on the remaining connection
			_, err := s.OutboxAdmin().Counts(ctx)
			return err
		})
	}))
	all.Wait()
}
