package bunstore_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

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
		desk := domain.Take{Resolver: "desk", Operation: domain.OperationErase, Fresh: 50, Retries: 50}
		mail := domain.Take{Resolver: "mail", Operation: domain.OperationRectify, Fresh: 50, Retries: 50}
		at, ofClaim := any(noon), parametersOf(t, desk, "-infinity")
		scans := []string{"Seq Scan on habeas_outbox", "Sort Key: habeas_outbox_1.enqueued_at"}
		if db.Dialect().Name() == dialect.SQLite {
			at = "2024-03-01T12:00:00.000000Z"
			ofClaim = []any{
				at, "2024-03-01T12:01:00.000000Z", "token", "2024-03-02T12:00:00.000000Z",
				"desk", "erase", 50, 50, "mail", "rectify", 50, 50,
			}
			scans = []string{"SCAN habeas_outbox\n", "habeas_outbox_settled"}
		}
		var claimed []domain.OutboxEntry
		claims := hook.during(t, func() { claimed = b.claim(t, noon, desk, mail) })
		finds := hook.during(t, func() {
			b.do(t, func(ctx context.Context, o wholeOutbox) error {
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

// PostgreSQL compiles a statement to machine code if its estimated cost is above 100,000 (jit_above_cost). For a claim,
// this would take longer than the execution.
func TestTheEstimatedCostOfAClaimIsTooLowForCompilation(t *testing.T) {
	t.Parallel()
	hook := &statements{}
	db := databases.PostgreSQL(t)
	b := newBox(t, databases.WithHook(db, hook))
	b.fill(t, 20_000, domain.OutboxPending)
	execute(t, db, "ANALYZE habeas_outbox")
	take := domain.Take{Resolver: "desk", Operation: domain.OperationErase, Fresh: 180, Retries: 20}
	claim := hook.during(t, func() { b.claim(t, noon, take) })[1]
	plan, _, _ := strings.Cut(b.plan(t, claim, parametersOf(t, take, "-infinity")...), "\n")
	var first, all, rows float64
	estimate := plan[strings.Index(plan, "(cost="):]
	if _, err := fmt.Sscanf(estimate, "(cost=%f..%f rows=%f", &first, &all, &rows); err != nil {
		t.Fatalf("%v: %s", err, plan)
	}
	if all > 10_000 { // several takes must stay below the limit, too
		t.Errorf("the estimated cost is %.0f", all)
	}
}

func TestABatchTakesAFixedNumberOfStatements(t *testing.T) {
	t.Parallel()
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
			claiming := hook.during(t, func() { entries = b.claim(t, noon, upTo(50)...) })
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
