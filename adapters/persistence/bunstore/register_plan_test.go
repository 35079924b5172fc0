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

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

const (
	// Of n requests, each hundredth one is open, and each tenth one has a reference. A subject has five.
	fillRequests = `
		INSERT INTO habeas_requests (number, subject_id, kind, state, channel, reference, received_at, entered_at, due_at,
			suspended_at, suspended_days, partly, attempts, closed_at, version)
		SELECT 'N' || (10000000 + n), 'S' || (n % (1 + {n} / 5)), CASE WHEN n % 100 = 0 THEN 'access' ELSE 'erasure' END,
			CASE WHEN n % 100 <> 0 THEN 'fulfilled' WHEN n % 300 = 0 THEN 'on_hold' ELSE 'awaiting_subject' END,
			'operator', CASE WHEN n % 10 = 0 THEN 'R' || n END, {at}, {at}, CASE WHEN n % 500 <> 0 THEN {at} END,
			CASE WHEN n % 500 = 0 THEN {at} END, 0, FALSE, 0, CASE WHEN n % 100 <> 0 THEN {at} END, 2
		FROM {numbers}`

	// Each tenth hold stands.
	fillHolds = `
		INSERT INTO habeas_holds (hold_id, subject_id, ground, placed_by, placed_at, review_at, lifted_at)
		SELECT 'H' || n, 'S' || n, 'legal_claims', 'dpo', {at}, {at}, CASE WHEN n % 10 <> 0 THEN {at} END FROM {numbers}`
)

// fillRegister adds n requests and a tenth as many holds. It returns the parameter for an instant.
func fillRegister(t testing.TB, db *bun.DB, n int) (instant func(time.Time) any) {
	t.Helper()
	at, numbers := "timestamptz '2024-03-01 08:00:00Z' + n * interval '1 minute'", "generate_series(1, {n}) AS n"
	instant = func(at time.Time) any { return at }
	if db.Dialect().Name() == dialect.SQLite {
		at = "strftime('%Y-%m-%dT%H:%M:%S.000000Z', '2024-03-01 08:00:00', n || ' minutes')"
		numbers = "(WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < {n})" +
			" SELECT n FROM numbers)"
		instant = func(at time.Time) any { return at.Format("2006-01-02T15:04:05.000000Z") }
	}
	for text, n := range map[string]int{fillRequests: n, fillHolds: n / 10} {
		text = strings.NewReplacer("{at}", at, "{numbers}", numbers).Replace(text)
		execute(t, db, strings.ReplaceAll(text, "{n}", strconv.Itoa(n)))
	}
	return instant
}

// read is a read of the register, with the parameters of its statement and the indexes that may find its rows.
type read struct {
	name    string
	run     func(ctx context.Context, s ports.Register) error
	args    []any
	indexes []string
}

// registerReads returns the reads that must not depend on the number of closed requests.
func registerReads(t testing.TB, instant func(time.Time) any) []read {
	t.Helper()
	of := subjectID(t, "S7")
	list := func(q request.Query) func(context.Context, ports.Register) error {
		return func(ctx context.Context, s ports.Register) error {
			q.Limit = 50
			return errOf(s.Requests.List(ctx, q))
		}
	}
	at := noon
	after := func(at time.Time) *request.Position { return &request.Position{At: at, Number: "N10000100"} }
	week := at.Add(7 * 24 * time.Hour)
	return []read{
		{"open", list(request.Query{}), []any{50}, []string{"_due"}},
		{"due within a week", list(request.Query{DueBefore: week}), []any{instant(week), 50}, []string{"_due"}},
		{
			"open of a kind and a state, behind one",
			list(request.Query{Kind: "access", State: "on_hold", After: after(at)}),
			[]any{instant(at), "N10000100", "access", "on_hold", 50},
			[]string{"_on_hold"},
		},
		{
			"open, behind one that is suspended", list(request.Query{After: after(time.Time{})}),
			[]any{"N10000100", 50},
			[]string{"_due"},
		},
		{"closed", list(request.Query{Closed: true}), []any{50}, []string{"_closed"}},
		{
			"closed, behind one", list(request.Query{Closed: true, After: after(at)}),
			[]any{instant(at), "N10000100", 50},
			[]string{"_closed"},
		},
		{"of a subject, for an operator", list(request.Query{SubjectID: of}), []any{"S7", 50}, []string{"_of_subject"}},
		{"of a reference", list(request.Query{Reference: "R70"}), []any{"R70", 50}, []string{"_reference"}},
		{"counts", func(ctx context.Context, s ports.Register) error {
			return errOf(s.Requests.Counts(ctx, at))
		}, []any{instant(at), instant(week), request.MaxCount}, []string{"_due", "_on_hold"}},
		{"standing", func(ctx context.Context, s ports.Register) error {
			return errOf(s.Requests.Standing(ctx, of, at))
		}, []any{"S7", instant(at)}, []string{"requests_of_subject", "holds_of_subject"}},
		{"of a subject", func(ctx context.Context, s ports.Register) error {
			return errOf(s.Requests.Of(ctx, of))
		}, []any{"S7", request.MaxPage}, []string{"_of_subject"}},
		{"one", func(ctx context.Context, s ports.Register) error {
			return errOf(s.Requests.Find(ctx, "N10000100"))
		}, []any{"N10000100"}, []string{"habeas_requests_"}},
		{"purge", func(ctx context.Context, s ports.Register) error {
			return errOf(s.Requests.Purge(ctx, noon.AddDate(-1, 0, 0), 100))
		}, []any{instant(noon.AddDate(-1, 0, 0)), 100}, []string{"_closed", "holds_of_subject"}},
		{"holds of a subject", func(ctx context.Context, s ports.Register) error {
			return errOf(s.Holds.Of(ctx, of))
		}, []any{"S7"}, []string{"holds_of_subject"}},
		{"holds to review", func(ctx context.Context, s ports.Register) error {
			return errOf(s.Holds.List(ctx, at, 50))
		}, []any{instant(at), 50}, []string{"holds_review"}},
	}
}

// isPage reports whether a read returns one page of a list that may be long.
func isPage(of read) bool {
	return slices.Contains([]string{"_due", "_on_hold", "_closed"}, of.indexes[0]) && of.name != "counts"
}

func isOnTheRegister(text string) bool {
	return strings.Contains(text, "FROM habeas_requests") || strings.Contains(text, "FROM habeas_holds")
}

// The lists of an operator and the numbers of requests must not cost more with each closed request, with or without
// statistics in the database.
func TestTheRegisterIsReadByIndexes(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		instant := fillRegister(t, db, 20_000)
		store := newStore(t, databases.WithHook(db, hook))
		scans := []string{
			"Seq Scan on habeas_requests", "Seq Scan on habeas_holds", "SCAN habeas_requests\n", "SCAN habeas_holds\n",
			"SCAN r\n", "SCAN h\n",
		}
		sorts := []string{"Sort Key", "TEMP B-TREE"}
		for _, analyzed := range []bool{false, true} {
			for _, read := range registerReads(t, instant) {
				texts := hook.during(t, func() {
					must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
						return read.run(ctx, s.Register())
					}))
				})
				text := texts[slices.IndexFunc(texts, isOnTheRegister)]
				plan := (box{db: db}).plan(t, text, read.args...)
				has := func(part string) bool { return strings.Contains(plan, part) }
				misses := func(index string) bool { return !has(index) }
				if slices.ContainsFunc(scans, has) || analyzed && (slices.ContainsFunc(read.indexes, misses) ||
					isPage(read) && slices.ContainsFunc(sorts, has)) {
					t.Errorf("%s, analyzed %v: %s\n%s", read.name, analyzed, text, plan)
				}
			}
			execute(t, db, "ANALYZE")
		}
	})
}
