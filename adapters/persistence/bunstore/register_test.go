package bunstore_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// An application whose rows have no creation times needs Registered most: nothing else tells a new person from an
// erased one.
func TestRegisterNeedsNoCreationTime(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		execute(t, db, "CREATE TABLE people (id BIGINT PRIMARY KEY)", "INSERT INTO people (id) VALUES (7)")
		dataMap := fixture.MustMap(t, datamap.Table{
			Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
		})
		store := storeOf(t, db, dataMap, bunstore.Options{})
		id := subjectID(t, "7")
		for _, step := range []func(context.Context, ports.Session) error{
			func(ctx context.Context, s ports.Session) error { return errOf(s.Subjects().Lock(ctx, id, began)) },
			func(ctx context.Context, s ports.Session) error { return s.Subjects().Register(ctx, id, began) },
			func(ctx context.Context, s ports.Session) error {
				state, err := s.Subjects().State(ctx, id)
				if state.Life != domain.LifeNew {
					t.Errorf("the life after Register is %q", state.Life)
				}
				return err
			},
		} {
			must(t, store.Do(t.Context(), step))
		}
	})
}

// On a database that can only be read, such as a standby, State works in the first session of a process, too, whether a
// process has recorded the data map before or not.
func TestStateOnlyReads(t *testing.T) {
	t.Parallel()
	for _, recorded := range []bool{true, false} {
		databases.Each(t, func(t *testing.T, db *bun.DB) {
			must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
			store := newStore(t, db)
			if recorded {
				lock(t, store, "1")
			} else {
				execute(t, db, "INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures, intake)"+
					" VALUES ('1', '2024-03-01T12:00:00.000000Z', 1, 1)")
			}
			db.SetMaxOpenConns(1)
			only := "SET default_transaction_read_only = on"
			if db.Dialect().Name() == dialect.SQLite {
				only = "PRAGMA query_only = 1"
			}
			execute(t, db, only)
			fresh := newStore(t, db)
			for id, want := range map[string]domain.Life{"1": domain.LifeEnded, "2": ""} {
				var state domain.SubjectState
				must(t, fresh.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
					state, err = s.Subjects().State(ctx, subjectID(t, id))
					return err
				}))
				if state.Life != want || state.Present {
					t.Errorf("recorded %v: the state of %s is %+v", recorded, id, state)
				}
			}
		})
	}
}
