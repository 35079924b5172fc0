package schemas

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// guest maps a view whose rows PostgreSQL may not be able to lock. The view reads the table all_guests.
type guest struct {
	bun.BaseModel `bun:"table:guests" subject:"trusted"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:retain,reason:'law'"`
}

type booking struct {
	bun.BaseModel `bun:"table:bookings"`
	ID            int64     `bun:"id,pk"`
	GuestID       int64     `bun:"guest_id"`
	Guest         *guest    `bun:"rel:belongs-to,join:guest_id=id"`
	Wish          string    `bun:"wish" pii:"communication,erasure:anonymize"`
	Bill          string    `bun:"bill" pii:"financial,erasure:retain,reason:'law',retain:10y,since:billed_at"`
	BilledAt      time.Time `bun:"billed_at"`
}

var (
	guestModels = []any{(*guest)(nil), (*booking)(nil)}
	guestTables = []string{
		"CREATE TABLE all_guests (id bigint PRIMARY KEY, email text)",
		"CREATE TABLE bookings (id bigint PRIMARY KEY, guest_id bigint, wish text, bill text, billed_at timestamptz)",
		"INSERT INTO all_guests VALUES (1, 'a@example.org'), (2, 'b@example.org'), (3, 'c@example.org')",
		"INSERT INTO bookings VALUES (1, 1, 'a', 'A', '2015-01-01'), (2, 2, 'b', 'B', '2015-01-01'), (3, 3, 'c', 'C', now())",
	}
	guestViews = map[string][]string{
		"columns":       {"CREATE VIEW guests AS SELECT id, email FROM all_guests"},
		"an inner join": {"CREATE VIEW guests AS SELECT g.id, g.email FROM all_guests g JOIN all_guests h USING (id)"},
		"a limit":       {"CREATE VIEW guests AS SELECT id, email FROM all_guests LIMIT 10"},
		"distinct":      {"CREATE VIEW guests AS SELECT DISTINCT id, email FROM all_guests"},
		"group by":      {"CREATE VIEW guests AS SELECT id, max(email) AS email FROM all_guests GROUP BY id"},
		"having":        {"CREATE VIEW guests AS SELECT id, email FROM all_guests GROUP BY id HAVING count(*) = 1"},
		"union": {
			"CREATE VIEW guests AS SELECT id, email FROM all_guests WHERE id = 1 UNION SELECT id, email FROM all_guests",
		},
		"intersect": {
			"CREATE VIEW guests AS SELECT id, email FROM all_guests INTERSECT ALL SELECT id, email FROM all_guests",
		},
		"a window function": {
			"CREATE VIEW guests AS SELECT id, first_value(email) OVER (PARTITION BY id) AS email FROM all_guests",
		},
		"a function of sets": {"CREATE VIEW guests AS SELECT id, email, generate_series(1, 1) FROM all_guests"},
		"an aggregate below": {
			"CREATE VIEW guests AS SELECT g.id, n.email FROM all_guests g" +
				" CROSS JOIN LATERAL (SELECT max(h.email) AS email FROM all_guests h WHERE h.id = g.id) n",
		},
		"a left join": {
			"CREATE VIEW guests AS SELECT g.id, g.email FROM all_guests g LEFT JOIN all_guests h ON h.id = g.id - 1",
		},
		"a full join": {
			"CREATE VIEW guests AS SELECT COALESCE(g.id, h.id) AS id, COALESCE(g.email, h.email) AS email" +
				" FROM all_guests g FULL JOIN all_guests h USING (id)",
		},
		"a view of such a view": {
			"CREATE VIEW single_guests AS SELECT DISTINCT id, email FROM all_guests",
			"CREATE VIEW guests AS SELECT id, email FROM single_guests",
		},
		"a materialized view": {"CREATE MATERIALIZED VIEW guests AS SELECT id, email FROM all_guests"},
		"a view of a materialized view": {
			"CREATE MATERIALIZED VIEW stored_guests AS SELECT id, email FROM all_guests",
			"CREATE VIEW guests AS SELECT id, email FROM stored_guests",
		},
		"a foreign table": {
			"CREATE EXTENSION file_fdw", "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
			"CREATE FOREIGN TABLE guests (id bigint, email text) SERVER files" +
				` OPTIONS (program 'printf "1,a@example.org\n2,b@example.org\n3,c@example.org\n"', format 'csv')`,
		},
	}
)

func TestASubjectTableThatCannotBeLockedHasAllRights(t *testing.T) {
	t.Parallel()
	for name, views := range guestViews {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := fixture.NewClock(time.Date(2020, 3, 1, 12, 0, 0, 0, time.UTC))
			a := open(t, onPostgres(t), app.Config{Models: guestModels, Clock: clock}, slices.Concat(guestTables, views)...)
			one, two, operator := fixture.MustSubject(t, "1"), fixture.MustSubject(t, "2"), a.Operator()
			must(t, a.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				_, granting := a.Stack().Consent.Record(ctx, s, one.ID,
					domain.ConsentDecision{Purpose: "news", PolicyVersion: "1", Granted: true, Source: "test"})
				_, restricting := a.Stack().Restriction.Record(ctx, s, one.ID,
					domain.RestrictionDecision{Restricted: true, Source: "test"})
				return errors.Join(granting, restricting, a.Registered(ctx, s, one), a.Registered(ctx, s, two))
			}))
			must(t, second(a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryCommunication: "wish"})))
			rehearsal, err := operator.Rehearse(t.Context(), one)
			if err != nil || rehearsal.Refused != nil {
				t.Errorf("the rehearsal found %+v, %v", rehearsal.Refused, err)
			}
			must(t, a.joined(t, a.erasing, nil, nil))
			must(t, second(a.erase(t.Context(), "2")))
			must(t, second(a.erase(t.Context(), "2"))) // an erasure may be repeated
			must(t, second(a.export(t.Context(), "1")))
			must(t, second(operator.Verify(t.Context(), one.ID)))
			must(t, second(operator.Verify(t.Context(), two.ID)))
			if got := a.text(t, "SELECT string_agg(left(wish, 5) || bill, ' ' ORDER BY id) FROM bookings"); got !=
				"anon-A anon-B cC" {
				t.Errorf("the bookings are %s", got)
			}
			clock.Advance(20 * 366 * 24 * time.Hour)
			report, err := operator.Sweep(t.Context(), nil)
			if got := a.text(t, "SELECT string_agg(left(bill, 5), ' ' ORDER BY id) FROM bookings"); err != nil ||
				report.Failed > 0 || got != "anon- anon- C" {
				t.Errorf("after a sweep, the bills are %s: %+v, %v", got, report, err)
			}
			var lines bytes.Buffer
			must(t, second(operator.Journal(t.Context(), &lines, journal.From{})))
			must(t, second(operator.Replay(t.Context(), &lines, app.ReplayOptions{
				RestoredTo: time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC),
			})))
			must(t, second(operator.Find(t.Context(), []string{"a@example.org"}, nil)))
		})
	}
}

// lockOf erases the person 1 in a transaction of the application. Before the commit, it reports whether the row is
// locked and fails unless another erasure of the person has to wait.
func (a *application) lockOf(t *testing.T) (locked bool) {
	t.Helper()
	must(t, a.joined(t, func(ctx context.Context, s ports.Session, subject domain.Subject) error {
		if err := a.erasing(ctx, s, subject); err != nil {
			return err
		}
		other := a.joined(t, a.erasing, []string{"SET LOCAL lock_timeout = 20"}, []string{"SELECT 1"})
		if !strings.Contains(errors.Unwrap(other).Error(), "lock timeout") {
			t.Errorf("another erasure: %v", other)
		}
		free := a.count(t, "SELECT count(*) FROM (SELECT FROM all_guests WHERE id = 1 FOR UPDATE SKIP LOCKED) AS free")
		locked = free == 0
		return nil
	}, nil, nil))
	return locked
}

// tries counts the statements that try whether rows can be locked.
type tries struct{ atomic.Int64 }

func (n *tries) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if strings.HasPrefix(event.Query, "EXPLAIN") {
		n.Add(1)
	}
	return ctx
}

func (*tries) AfterQuery(context.Context, *bun.QueryEvent) {}

// One process sees each change of the view, also of a view below it. It tries the same definitions only once.
func TestAViewThatCanBeLockedIsLockedFromThenOn(t *testing.T) {
	t.Parallel()
	const few, all = "CREATE OR REPLACE VIEW some_guests AS SELECT DISTINCT id, email FROM all_guests",
		"CREATE OR REPLACE VIEW some_guests AS SELECT id, email FROM all_guests"
	db, tried := onPostgres(t), &tries{}
	a := open(t, db, app.Config{Models: guestModels}, append(slices.Clone(guestTables), all,
		"CREATE VIEW guests AS SELECT id, email FROM some_guests")...)
	db.AddQueryHook(tried) //nolint:staticcheck // the application has the handle already
	for i, change := range []struct {
		statement string
		locked    bool
		tries     int64
	}{
		{"SELECT 1", true, 1},
		{few, false, 2},
		{"SELECT 1", false, 2},
		{all, true, 2},
		{"CREATE OR REPLACE VIEW guests AS SELECT DISTINCT id, email FROM some_guests", false, 3},
		{"CREATE OR REPLACE VIEW guests AS SELECT id, email FROM some_guests", true, 3},
		{
			"DROP VIEW guests; CREATE TABLE guests AS SELECT id, email FROM all_guests; ALTER TABLE guests ADD PRIMARY KEY (id)",
			false, 3,
		},
	} {
		execute(t, db, change.statement)
		must(t, second(a.erase(t.Context(), "2")))
		if locked := a.lockOf(t); locked != change.locked || tried.Load() != change.tries {
			t.Errorf("%d: locked %v after %d tries", i, locked, tried.Load())
		}
	}
}

// Triggers of the view carry out the step on the subject's row.
func TestAViewThatCannotBeLockedIsErasedThrough(t *testing.T) {
	t.Parallel()
	type lodger struct {
		bun.BaseModel `bun:"table:readers" subject:"trusted"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	}
	db := onPostgres(t)
	statements := viewOf(db, "readers", "id bigint PRIMARY KEY, email text", "(1, 'a@example.org'), (2, 'b@example.org')")
	for i := range statements {
		statements[i] = strings.Replace(statements[i], "AS SELECT id", "AS SELECT DISTINCT id", 1)
	}
	a := open(t, db, app.Config{Models: []any{(*lodger)(nil)}}, statements...)
	must(t, second(a.rectify(t.Context(), "1", corrected)))
	must(t, a.joined(t, a.erasing, nil, nil))
	if got := a.text(t, "SELECT string_agg(left(email, 5), ' ' ORDER BY id) FROM all_readers"); got != "anon- b@exa" {
		t.Errorf("the rows have %s", got)
	}
}

// PostgreSQL checks the privilege before it looks whether it can lock the rows.
func TestAViewThatCannotBeLockedNeedsThePrivilegeForALock(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"columns", "distinct", "union"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := onPostgres(t)
			a := open(t, db, app.Config{Models: guestModels}, slices.Concat(guestTables, guestViews[name])...)
			execute(t, db, "CREATE FUNCTION allow() RETURNS void LANGUAGE sql SECURITY DEFINER AS"+
				" 'GRANT UPDATE ON guests TO habeas_part'")
			restricted(t, db, "GRANT SELECT ON guests TO habeas_part")
			err := a.joined(t, a.erasing, nil, []string{"SELECT 1"})
			if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "guests: this role lacks the"+
				" privilege UPDATE") {
				t.Errorf("got %v", err)
			}
			execute(t, db, "SELECT allow()")
			must(t, a.joined(t, a.erasing, nil, nil))
		})
	}
}

// Rows of an intermediate table could move to another person if they are not locked.
func TestAnIntermediateViewThatCannotBeLockedIsRefused(t *testing.T) {
	t.Parallel()
	a := open(t, onPostgres(t), app.Config{Models: shop, TrustRowFilters: true}, append(shopTables(),
		"ALTER TABLE items DROP CONSTRAINT items_order_id_fkey", "ALTER TABLE orders RENAME TO all_orders",
		"CREATE VIEW orders AS SELECT DISTINCT * FROM all_orders")...)
	for how, err := range map[string]error{
		"alone": second(a.erase(t.Context(), "1")), "joined": a.joined(t, a.erasing, nil, nil),
	} {
		if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "orders: is a view") {
			t.Errorf("%s: got %v (%v)", how, err, errors.Unwrap(err))
		}
	}
}
