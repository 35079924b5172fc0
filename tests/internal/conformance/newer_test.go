package conformance

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// While a process of a later version migrates, processes of this version work, and others of them start with Migrate.
func TestNewerTablesTakeNoProcessOutOfService(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		types := postgresTypes()
		if db.Dialect().Name().String() != "pg" {
			types = sqliteTypes()
		}
		makeTables(t, db, types)
		store := newStore(t, db, nil)
		migrated, failures := make(chan struct{}), make(chan error, 4)
		var workers sync.WaitGroup
		for worker := range cap(failures) {
			workers.Go(func() { failures <- work(t.Context(), store, strconv.Itoa(worker), migrated) })
		}
		applyNext(t, db)
		before := migrationsOf(t, db)
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		close(migrated)
		workers.Wait()
		close(failures)
		for err := range failures {
			if err != nil {
				t.Errorf("a process of this version failed: %v", err)
			}
		}
		if err := store.Probe(t.Context()); !errors.Is(err, domain.ErrNewerTables) {
			t.Errorf("the probe says %v", err)
		}
		if after := migrationsOf(t, db); !slices.Equal(after, before) || len(after) != 2 ||
			after[1] != (domain.Migration{Name: "0002_next.sql", State: domain.MigrationNewer}) {
			t.Errorf("the migrations are %v, and were %v", after, before)
		}
	})
}

// work exercises the rights of people until some rounds after migrated is closed.
func work(ctx context.Context, store *bunstore.Store, tenant string, migrated <-chan struct{}) error {
	after := 0
	for person := 1; after < 5; person++ {
		select {
		case <-migrated:
			after++
		default:
		}
		id, err := domain.NewSubjectID(tenant, strconv.Itoa(person))
		if err != nil {
			return err
		}
		record := domain.ConsentRecord{
			SubjectID: id, Purpose: "news", PolicyVersion: "1", Granted: true, RecordedAt: time.Unix(1, 0), Source: "api",
		}
		if err := store.Do(ctx, func(ctx context.Context, s ports.Session) error {
			return s.Consents().Append(ctx, record)
		}); err != nil {
			return err
		}
		if err := store.Do(ctx, func(ctx context.Context, s ports.Session) error {
			if _, err := s.Subjects().Lock(ctx, id, time.Unix(2, 0)); err != nil {
				return err
			}
			if _, err := s.Subjects().Apply(ctx, id, []datamap.Step{}); err != nil {
				return err
			}
			_, err := s.Consents().Latest(ctx, id, "news", nil)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// A process that works on newer tables repairs nothing: the later version may have replaced its functions.
func TestMigrateRepairsNothingOnNewerTables(t *testing.T) {
	db := databases.PostgreSQL(t)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	applyNext(t, db)
	databases.Execute(t, db, `DROP FUNCTION habeas_is_erased`)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	store := newStore(t, db, nil)
	fixture.WantCode(t, store.Probe(t.Context()), domain.ErrConfiguration)
	if err := store.Probe(t.Context()); errors.Is(err, domain.ErrNewerTables) {
		t.Error("the probe does not name the missing function")
	}
	databases.Execute(t, db, `DELETE FROM habeas_migrations WHERE name = '0002_next.sql'`)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	must(t, store.Probe(t.Context()))
}

func migrationsOf(t *testing.T, db *bun.DB) []domain.Migration {
	t.Helper()
	states, err := bunstore.MigrationStates(t.Context(), db, bunstore.Options{})
	must(t, err)
	return states
}
