package bunstore_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

var touched = regexp.MustCompile(`shared hit=(\d+)(?: read=(\d+))?`)

// pagesRead returns the number of pages that the database reads for a statement. It rolls the statement back.
func (b box) pagesRead(t *testing.T, text string, args ...any) int {
	t.Helper()
	tx, err := b.db.BeginTx(context.Background(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.Tx.QueryContext(context.Background(), "EXPLAIN (ANALYZE, BUFFERS) "+text, args...)
	must(t, err)
	defer rows.Close()
	pages := 0
	for rows.Next() {
		var line string
		must(t, rows.Scan(&line))
		if pages > 0 || !strings.Contains(line, "Buffers: ") {
			continue
		}
		for _, number := range touched.FindStringSubmatch(line)[1:] {
			n, _ := strconv.Atoi(number)
			pages += n
		}
	}
	must(t, rows.Err())
	return pages
}

// The cost of a claim must not depend on the number of outbox entries that are not due, or that belong to other
// resolvers.
func TestClaimsDoNotReadTheBacklog(t *testing.T) {
	t.Parallel()
	const many = 30_000
	for name, parked := range map[string]string{
		"that waits for a retry":            "'desk', 'failed', 3, '2024-03-01 11:00Z', '2024-03-01 13:00Z'",
		"that is leased":                    "'desk', 'in_flight', 1, '2024-03-01 11:59Z', '2024-03-01 12:00:01Z'",
		"of a system that is not known":     "'crm', 'pending', 0, NULL, NULL",
		"of an operation that is not known": "'forget', 'pending', 0, NULL, NULL",
	} {
		t.Run(name, func(t *testing.T) {
			hook := &statements{}
			db := databases.PostgreSQL(t)
			b := newBox(t, databases.WithHook(db, hook))
			desk := domain.Take{Resolver: "desk", Operation: domain.OperationErase, Fresh: 50, Retries: 50}
			claim := hook.during(t, func() { b.claim(t, noon, desk) })[1]
			touches := func() int { return b.pagesRead(t, claim, parametersOf(t, desk, "-infinity")...) }
			idle := touches()
			b.fill(t, 200, domain.OutboxPending)
			few := touches()
			b.park(t, db, many, parked)
			if got := touches(); got > 2*few { // each larger index may add one or two levels
				t.Errorf("a claim of 50 touches %d pages, and %d without a backlog", got, few)
			}
			for _, statement := range []string{
				"DELETE FROM habeas_outbox WHERE entry_id LIKE 'pending%'", "VACUUM ANALYZE habeas_outbox",
			} {
				execute(t, db, statement)
			}
			if got := touches(); got > idle+30 {
				t.Errorf("an idle claim touches %d pages, and %d without a backlog", got, idle)
			}
		})
	}
}

// parametersOf returns the parameters of a claim of one take on PostgreSQL, which reads the due instants from a mark
// on.
func parametersOf(t *testing.T, take domain.Take, from any) []any {
	t.Helper()
	takes, err := json.Marshal([]map[string]any{{
		"resolver": take.Resolver, "operation": take.Operation, "fresh": take.Fresh, "retries": take.Retries,
		"fresh_from": from, "retries_from": from,
	}})
	must(t, err)
	return []any{noon, noon.Add(lease), "token", noon.Add(domain.LongestWait), string(takes)}
}

// park inserts n outbox entries. sqlValues lists the SQL expressions of the resolver, the status, the number of
// attempts, and the times of the last and the next attempt.
func (b box) park(t *testing.T, db *bun.DB, n int, sqlValues string) {
	t.Helper()
	operation := "'erase'"
	if strings.HasPrefix(sqlValues, "'forget'") {
		operation, sqlValues = "'forget'", strings.Replace(sqlValues, "'forget'", "'desk'", 1)
	}
	_, err := db.NewRaw("INSERT INTO habeas_outbox (entry_id, subject_id, operation, enqueued_at, resolver, status,"+
		" attempts, last_attempt_at, next_attempt_at) SELECT 'parked' || n, 'p' || n, "+operation+
		", CAST('2024-03-01 07:00Z' AS timestamptz), "+sqlValues+" FROM generate_series(1, ?) AS n", n).Exec(t.Context())
	must(t, err)
}
