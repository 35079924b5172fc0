package bunstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// The steps run in one statement or one by one, and are verified where triggers fire.
func TestAnErasureStatesTheLatestEndHoweverItsStepsRun(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		execute(t, db, "CREATE TABLE members (id integer PRIMARY KEY, since text, kept text, email text)",
			"INSERT INTO members VALUES (1, '2024-05-06', 'kept', 'zoe')")
		m := dutyMap(t, datamap.Annotation{Retain: datamap.Period{Years: 10}, From: datamap.FromYearEnd})
		store, person := storeOf(t, db, m, bunstore.Options{}), fixture.MustID(t, "1")
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		erases := func(what string) func(context.Context, ports.Session) error {
			return func(ctx context.Context, s ports.Session) error {
				if _, err := s.Subjects().Lock(ctx, person, at); err != nil {
					return err
				}
				steps := plan.LocalAt(planOf(t, m), at)
				applied, err := s.Subjects().Apply(ctx, person, steps)
				if got := latestText(applied.Latest[len(steps)-1]["kept"]); got != "2034-12-31T23:00:00Z" {
					t.Errorf("%s: the erasure states the end %q", what, got)
				}
				return err
			}
		}
		must(t, store.Rehearse(t.Context(), erases("a rehearsal")))
		must(t, store.Do(t.Context(), erases("an erasure")))
		fires := "CREATE TRIGGER fires AFTER UPDATE ON members BEGIN SELECT 1; END"
		if db.Dialect().Name() == dialect.PG {
			execute(t, db, "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
			fires = "CREATE TRIGGER fires AFTER UPDATE ON members FOR EACH ROW EXECUTE FUNCTION nothing()"
		}
		execute(t, db, fires)
		must(t, store.Rehearse(t.Context(), erases("a rehearsal with a trigger")))
		must(t, store.Do(t.Context(), erases("an erasure with a trigger")))
	})
}
