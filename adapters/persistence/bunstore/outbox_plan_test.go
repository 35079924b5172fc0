package bunstore_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// fill inserts n outbox entries with the status, each for a different subject.
func (b box) fill(t testing.TB, n int, status domain.OutboxStatus) {
	t.Helper()
	numbers := "generate_series(1, ?) AS n"
	if b.db.Dialect().Name() == dialect.SQLite {
		numbers = "(WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?) " +
			"SELECT n FROM numbers)"
	}
	_, err := b.db.NewRaw("INSERT INTO habeas_outbox"+
		" (entry_id, subject_id, resolver, operation, status, attempts, enqueued_at)"+
		" SELECT ? || (1000000 + n), ? || (1000000 + n), 'desk', 'erase', ?, 0, '2024-03-01T08:00:00.000000Z' FROM "+numbers,
		string(status), string(status), string(status), n).Exec(context.Background())
	must(t, err)
}

func (b box) plan(t testing.TB, text string, args ...any) string {
	t.Helper()
	explain := "EXPLAIN "
	if b.db.Dialect().Name() == dialect.SQLite {
		explain = "EXPLAIN QUERY PLAN "
	}
	rows, err := b.db.DB.QueryContext(context.Background(), explain+text, args...)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	var plan strings.Builder
	for rows.Next() {
		var line string
		fields := make([]any, len(columns))
		for i := range fields {
			fields[i] = new(any)
		}
		fields[len(fields)-1] = &line
		must(t, rows.Scan(fields...))
		plan.WriteString(line + "\n")
	}
	must(t, rows.Err())
	return plan.String()
}

// The cost of a claim, a settlement or a withdrawal must not grow with the number of settled outbox entries, with or
// without statistics in the database. Withdrawals matter because each erasure withdraws corrections.
func TestClaimsAndSettlementsDoNotReadSettledEntries(t *testing.T) { testPlans(t, true) }

// The query plan of a statement must be efficient for many outbox entries even if the outbox has only a few, because a
// database may cache the plan while the outbox grows.
func TestPlansForAFewEntriesAreThoseForMany(t *testing.T) { testPlans(t, false) }

func testPlans(t *testing.T, large bool) {
	t.Helper()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		b := newBox(t, databases.WithHook(db, hook))
		settledBefore := 100_000
		if db.Dialect().Name() == dialect.SQLite {
			settledBefore = 10_000 // enough for the statistics; with the race detector, more entries take minutes
		}
		if !large {
			settledBefore = 100
		}
		b.fill(t, settledBefore, domain.OutboxSucceeded)
		b.fill(t, min(settledBefore, 2000), domain.OutboxPending)
		at, until, latest := any(noon), any(noon.Add(lease)), any(noon.Add(domain.LongestWait))
		from := any(time.Time{})
		shares := []any{"desk", 0, 25, "mail", 0, 25, "desk", 25, 25, "mail", 25, 25, "erase", from, 13, "rectify", from, 13}
		scans := []string{"Seq Scan on habeas_outbox", "Sort Key: habeas_outbox_1.enqueued_at"}
		if db.Dialect().Name() == dialect.SQLite {
			at, until, latest = "2024-03-01T12:00:00.000000Z", "2024-03-01T12:01:00.000000Z", "2024-03-02T12:00:00.000000Z"
			from = "0001-01-01T00:00:00.000000Z"
			shares = []any{"desk", "erase", from, 50, 50, 50, "mail", "rectify", from, 50, 50, 50}
			scans = []string{"SCAN habeas_outbox\n", "habeas_outbox_settled"}
		}
		ofClaim := slices.Concat([]any{at, 50, until, "token", latest}, shares, []any{"desk", "erase", "mail", "rectify"})
		var claimed []domain.OutboxEntry
		known := []domain.OutboxTarget{
			{Resolver: "desk", Operation: domain.OperationErase}, {Resolver: "mail", Operation: domain.OperationRectify},
		}
		claims := hook.during(t, func() { claimed = b.claim(t, 50, noon, known...) })
		finds := hook.during(t, func() {
			b.do(t, func(ctx context.Context, o ports.Outbox) error {
				_, err := o.Unclaimed(ctx, noon, 50)
				return err
			})
		})
		var settlements []domain.Settlement
		var operations []any
		for _, entry := range claimed {
			settlements = append(settlements, succeeds(entry))
			operations = append(operations, entry.SubjectID.String(), string(entry.Operation))
		}
		settles := hook.during(t, func() { b.settle(t, settlements...) })
		withdraws := hook.during(t, func() { b.withdraw(t, "1") })
		if len(claims) != 3 || len(settles) != 4 || len(withdraws) != 3 || len(finds) != 3 {
			t.Fatalf("claim: %q\nsettle: %q\nwithdraw: %q", claims, settles, withdraws)
		}
		for _, analyzed := range []bool{false, true} {
			for plan, index := range map[string]string{
				b.plan(t, claims[1], ofClaim...):     "habeas_outbox_open",
				b.plan(t, settles[1], operations...): "habeas_outbox_unfinished",
				b.plan(t, withdraws[1], "1"):         "habeas_outbox_unfinished",
			} {
				unbounded := func(scan string) bool { return strings.Contains(plan, scan) }
				forbidden := scans
				if !analyzed { // without statistics, PostgreSQL 17 and later sort the open entries until autovacuum runs
					forbidden = scans[:1]
				}
				if !strings.Contains(plan, index) || slices.ContainsFunc(forbidden, unbounded) {
					t.Errorf("analyzed %v, want %s:\n%s", analyzed, index, plan)
				}
			}
			if plan := b.plan(t, finds[1], at, 50); !strings.Contains(plan, "habeas_outbox_open") ||
				strings.Contains(plan, scans[0]) {
				t.Errorf("analyzed %v:\n%s", analyzed, plan)
			}
			_, err := b.db.NewRaw("ANALYZE").Exec(context.Background())
			must(t, err)
		}
	})
}

func TestABatchTakesAFixedNumberOfStatements(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		b := newBox(t, databases.WithHook(db, hook))
		for name, of := range map[string]func(i int) string{
			"of as many subjects": strconv.Itoa,
			"of two subjects":     func(i int) string { return strconv.Itoa(i % 2) },
			"of one subject":      func(int) string { return "1" },
		} {
			entries := make([]domain.OutboxEntry, 50)
			for i := range entries {
				entries[i] = toErase(t, strconv.Itoa(i), of(i), 0)
				if i%3 == 0 {
					entries[i] = toRectify(t, strconv.Itoa(i), of(i), 0)
				}
			}
			b.enqueue(t, entries...)
			claiming := hook.during(t, func() { entries = b.claim(t, 50, noon) })
			if len(claiming) != 3 || len(entries) != 50 { // BEGIN, the claim, COMMIT
				t.Errorf("%s: %d were claimed by %q", name, len(entries), claiming)
			}
			settlements := make([]domain.Settlement, 50)
			for i, entry := range entries {
				settlements[i] = []domain.Settlement{
					succeeds(entry), fails(entry, noon.Add(lease)), abandons(entry), givesBack(entry), succeeds(entry),
				}[i%5]
			}
			settling := hook.during(t, func() {
				must(t, b.store.Do(context.Background(), func(ctx context.Context, session ports.Session) error {
					results, err := session.Outbox().Settle(ctx, settlements)
					for _, s := range settlements[:len(results)] {
						must(t, session.Audit().Append(ctx, domain.AuditEvent{
							EventID: name + s.Entry.EntryID, EventType: domain.EventErasureStepSucceeded, SubjectRef: s.Entry.SubjectID,
						}))
					}
					return err
				}))
			})
			if len(settling) != 5 { // BEGIN, the lock, the outcomes, the events, COMMIT
				t.Errorf("%s: settled by %q", name, settling)
			}
			_, err := b.db.NewRaw("DELETE FROM habeas_outbox").Exec(context.Background())
			must(t, err)
		}
	})
}
