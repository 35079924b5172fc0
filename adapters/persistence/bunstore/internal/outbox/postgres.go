package outbox

import (
	"math/bits"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/scan"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

type postgres struct{}

const (
	// dueInPostgres is the expression for the due instant of an outbox entry. The index of open entries contains the same
	// expression. A new entry sorts first, because it has no next attempt.
	dueInPostgres = "COALESCE(next_attempt_at, '-infinity')"

	// openTargets is a recursive common table expression of the targets (resolver and operation) that have open outbox
	// entries. Each recursion reads only the next target from the index (a loose index scan).
	openTargets = `
		targets (resolver, operation) AS (
			(SELECT resolver, operation FROM {outbox}
			WHERE stage = 0 AND {prefer index}
			ORDER BY resolver, operation LIMIT 1)
			UNION ALL
			SELECT next.resolver, next.operation FROM targets CROSS JOIN LATERAL (
				SELECT resolver, operation FROM {outbox}
				WHERE stage = 0 AND {prefer index} AND (resolver, operation) > (targets.resolver, targets.operation)
				ORDER BY resolver, operation LIMIT 1) AS next)`

	// dueInTurn selects and locks the due outbox entries of a claim. $5 is a JSON array of takes. The inner LIMIT {most}
	// and LIMIT {takes} are numbers in the text, because the planner must know them. They are at least as high as the
	// numbers of the takes, and as the number of takes. The outer LIMIT stops the scan, so the statement locks only the
	// entries that it selects.
	//
	// The retries of a take have three parts: retries that are due, entries whose next attempt is later than $4, and
	// entries whose last attempt is later than the end of the new lease ($2). A wrong clock has written the instants of
	// the last two parts. The conditions of the last part are a CASE expression, so that the planner chooses the index of
	// the last attempts.
	dueInTurn = `
		WITH due AS MATERIALIZED (
			SELECT e.entry_id FROM (
				SELECT * FROM jsonb_to_recordset(CAST($5 AS jsonb)) AS t (
					resolver text, operation text, fresh integer, retries integer,
					fresh_from timestamptz, retries_from timestamptz, until timestamptz
				) LIMIT {takes}
			) AS take CROSS JOIN LATERAL (
				(SELECT f.entry_id FROM (
					SELECT entry_id FROM {outbox}
					WHERE {of take} AND {due} = '-infinity' AND enqueued_at >= take.fresh_from AND enqueued_at <= take.until
						AND {prefer index}
					ORDER BY {due}, enqueued_at, entry_id LIMIT {most} FOR UPDATE SKIP LOCKED
				) AS f LIMIT take.fresh)
				UNION ALL
				(SELECT r.entry_id FROM (
					SELECT * FROM (
						SELECT entry_id FROM {outbox}
						WHERE {of take} AND {due} >= GREATEST(take.retries_from, CAST('0001-01-01' AS timestamptz))
							AND {due} <= LEAST(take.until, CAST($1 AS timestamptz)) AND {prefer index}
						ORDER BY {due}, enqueued_at, entry_id LIMIT {most} FOR UPDATE SKIP LOCKED
					) AS overdue
					UNION ALL
					SELECT * FROM (
						SELECT entry_id FROM {outbox}
						WHERE {of take} AND {due} > CAST($4 AS timestamptz) AND {prefer index}
						ORDER BY {due}, enqueued_at, entry_id LIMIT {most} FOR UPDATE SKIP LOCKED
					) AS postponed
					UNION ALL
					SELECT * FROM (
						SELECT entry_id FROM {outbox}
						WHERE stage = 0 AND last_attempt_at > CAST($2 AS timestamptz)
							AND CASE WHEN resolver = take.resolver AND operation = take.operation
								AND {due} > CAST($1 AS timestamptz) AND {due} <= CAST($4 AS timestamptz) THEN TRUE ELSE FALSE END
						ORDER BY last_attempt_at LIMIT {most} FOR UPDATE SKIP LOCKED
					) AS tried_later
				) AS r LIMIT take.retries)
			) AS e)`

	// deadRows counts the dead rows of an outbox that may be partitioned.
	deadRows = `
		SELECT CAST(COALESCE(sum(pg_stat_get_dead_tuples(o.relid)), 0) AS bigint) FROM (
			SELECT CAST(to_regclass({outbox name}) AS oid)
			UNION SELECT CAST(relid AS oid) FROM pg_partition_tree(to_regclass({outbox name}))
		) AS o (relid)`

	// unclaimedInPostgres reads up to {limit} new outbox entries and up to {limit} retries of each target (resolver and
	// operation) in the order of the index. It then selects the oldest $2 of these entries.
	unclaimedInPostgres = `
		WITH RECURSIVE ` + openTargets + `,
		due AS MATERIALIZED (
			SELECT e.entry_id FROM targets CROSS JOIN LATERAL (
				SELECT * FROM (
					SELECT entry_id, enqueued_at FROM {outbox}
					WHERE ` + isUnclaimed + ` AND {due} = '-infinity' AND {prefer index}
						AND resolver = targets.resolver AND operation = targets.operation
					ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
				) AS fresh
				UNION ALL
				SELECT * FROM (
					SELECT entry_id, enqueued_at FROM {outbox}
					WHERE ` + isUnclaimed + ` AND {due} > '-infinity' AND {due} < $1 AND {prefer index}
						AND resolver = targets.resolver AND operation = targets.operation
					ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
				) AS retries
			) AS e
			ORDER BY e.enqueued_at, e.entry_id LIMIT $2)`
)

// dueEntries returns a statement that locks the due outbox entries, and skips entries that another transaction has
// locked.
func (postgres) dueEntries(tables syntax.Tables, takes []scan.BoundedTake, args *syntax.Args) (string, error) {
	type row struct {
		Resolver    string `json:"resolver"`
		Operation   string `json:"operation"`
		Fresh       int    `json:"fresh"`
		Retries     int    `json:"retries"`
		FreshFrom   any    `json:"fresh_from"`
		RetriesFrom any    `json:"retries_from"`
		Until       any    `json:"until"`
	}
	bound := func(at time.Time, unbounded string) any {
		if at.IsZero() {
			return unbounded
		}
		return syntax.Postgres.Instant(at)
	}
	rows, most := make([]row, len(takes)), 0
	for i, t := range takes {
		rows[i] = row{
			t.Resolver, string(t.Operation), max(0, t.Fresh), max(0, t.Retries),
			bound(t.FreshFrom, "-infinity"), bound(t.RetriesFrom, "-infinity"), bound(t.Until, "infinity"),
		}
		most = max(most, t.Fresh, t.Retries)
	}
	list, err := syntax.JSON("outbox", rows)
	*args = append(*args, list)
	return tables.Fill(dueInTurn,
		"of take", "stage = 0 AND resolver = take.resolver AND operation = take.operation",
		"most", powerOfTwo(most), "takes", powerOfTwo(len(takes)),
		"due", dueInPostgres, "prefer index", syntax.Postgres.PreferIndex("entry_id")), err
}

// powerOfTwo returns the lowest power of two that is not below n, as a number for the text of a statement. The database
// thus prepares few different statements.
func powerOfTwo(n int) string { return strconv.Itoa(1 << bits.Len(uint(max(1, n)-1))) }

// unclaimedEntries returns a statement that locks the unclaimed outbox entries, and skips entries that another
// transaction has locked.
func (postgres) unclaimedEntries(tables syntax.Tables, limit int) string {
	return tables.Fill(unclaimedInPostgres,
		"limit", strconv.Itoa(limit), "due", dueInPostgres, "prefer index", syntax.Postgres.PreferIndex("entry_id"))
}

// isOfOperations returns a condition that makes PostgreSQL look up the entries of each pair (subject and operation) in
// an index, even if the planner estimates that the table has few rows.
func (postgres) isOfOperations(tables syntax.Tables, pairs string) string {
	return syntax.Postgres.IsInQuery("entry_id", tables.Fill(`
		SELECT e.entry_id FROM ({pairs}) AS o (subject, operation) CROSS JOIN LATERAL (
			SELECT entry_id FROM {outbox}
			WHERE subject_id = o.subject AND operation = o.operation AND status <> 'succeeded' AND {prefer index}
			OFFSET 0) AS e`, "pairs", pairs, "prefer index", syntax.Postgres.PreferIndex("entry_id")))
}

func (postgres) earliestInstant() string { return "'-infinity'" }

// notification returns a statement that notifies the channel to which package pgxlisten listens.
func (postgres) notification(tables syntax.Tables) string {
	return "SELECT pg_notify(" + syntax.Literal(tables.Prefix+"outbox") + ", '')"
}
