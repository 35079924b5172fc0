package sqltext

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

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

	// dueBySystem selects and locks the due outbox entries of a claim. LIMIT stops the scan, so the statement locks only
	// the entries that it selects.
	//
	// A system is the external system of one resolver, and the column "place" is the index of the system. A target is a
	// resolver and an operation. The statement first selects the share of each system. It then selects further entries of
	// each system, until the limit of the claim is reached. The entries of a system have this order:
	//
	//   - levels 1 and 2: for each target, up to halfShare new entries and up to halfShare retries
	//   - level 3: entries whose next attempt is later than $5, because a wrong clock has postponed them
	//   - levels 4 and 5: the remaining new entries and retries
	//
	// At the end, the statement selects entries whose last attempt is later than the end of the new lease ($3). A wrong
	// clock has recorded such an attempt. {limit} is a number in the text and not a parameter, because the planner must
	// know the number.
	dueBySystem = `
		due AS MATERIALIZED (
			SELECT e.entry_id FROM (
				SELECT e.entry_id FROM ({systems}) AS s CROSS JOIN LATERAL (
					SELECT x.entry_id FROM (
						SELECT t.operation, r.low, r.since, r.high, r.passed, r.most
						FROM ({targets}) AS t CROSS JOIN LATERAL (VALUES
							({fresh}, CAST('-infinity' AS timestamptz), t.since, CAST('-infinity' AS timestamptz), 0, t.half),
							({retries}, {retries from}, '-infinity', CAST($1 AS timestamptz), 0, t.half),
							(3, CAST($5 AS timestamptz), 'infinity', 'infinity', 0, t.half),
							(4, '-infinity', t.since, '-infinity', t.half, {limit}),
							(5, {retries from}, '-infinity', CAST($1 AS timestamptz), t.half, {limit})
						) AS r (level, low, since, high, passed, most)
						WHERE t.place = s.place
						ORDER BY r.level, t.number
					) AS k CROSS JOIN LATERAL (
						SELECT y.entry_id FROM (
							SELECT entry_id FROM {outbox}
							WHERE stage = 0 AND resolver = s.resolver AND operation = k.operation
								AND ({due}, enqueued_at) >= (k.low, k.since) AND {due} <= k.high
								AND {prefer index}
							ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
						) AS y OFFSET k.passed LIMIT k.most
					) AS x OFFSET s.passed LIMIT s.most
				) AS e
				UNION ALL
				SELECT e.entry_id FROM (
					SELECT entry_id FROM {outbox}
					WHERE stage = 0 AND last_attempt_at > CAST($3 AS timestamptz){of known targets}
					ORDER BY last_attempt_at LIMIT {limit} FOR UPDATE SKIP LOCKED
				) AS e
			) AS e LIMIT $2)`

	// retriesFrom is the lower bound of the due instants of retried outbox entries. It excludes new entries, because their
	// due instant is negative infinity.
	retriesFrom = `GREATEST(t.since, CAST('0001-01-01' AS timestamptz))`

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
func (p postgres) dueEntries(tables Tables, c Claim, args *Args) string {
	if c.isBounded() {
		return p.dueWithinBounds(tables, c, args)
	}
	limit := strconv.Itoa(c.limit)
	text, systems, targets := "WITH "+dueBySystem, p.systemRows(c, args), p.targetRows(c, args)
	if len(c.systems) == 0 {
		text = "WITH RECURSIVE " + openTargets + ", " + dueBySystem
		systems = "SELECT 1 AS place, resolver, operation AS only, 0 AS passed, " + limit + " AS most FROM targets"
		targets = "SELECT 1 AS place, 1 AS number, s.only AS operation, CAST('-infinity' AS timestamptz) AS since, " +
			strconv.Itoa((c.limit+1)/2) + " AS half"
	}
	fresh, retries := c.levels()
	return tables.fill(text, "systems", systems, "targets", targets, "of known targets", isOfKnownTargets(c, args),
		"fresh", fresh, "retries", retries, "retries from", retriesFrom, "limit", limit,
		"due", dueInPostgres, "prefer index", p.preferIndex("entry_id"))
}

// systemRows returns the query for {systems} of dueBySystem. The query first returns a row for the share of each
// system, and then a row for the further entries of each system. If there is only one system, the query returns only
// the row for its share. The column "passed" is the number of outbox entries to skip. The column "most" is the maximum
// number of entries to select.
func (postgres) systemRows(c Claim, args *Args) string {
	var rows []string
	for turn := range min(2, len(c.systems)) {
		for i, s := range c.systems {
			passed, most := 0, s.share
			if turn > 0 {
				passed, most = s.share, s.maximum-s.share
			}
			rows = append(rows, "("+strings.Join([]string{
				strconv.Itoa(len(rows)), strconv.Itoa(i), args.add(s.resolver, "text"), args.add(passed, "integer"),
				args.add(most, "integer"),
			}, ", ")+")")
		}
	}
	return "SELECT place, resolver, passed, most FROM (VALUES " + strings.Join(rows, ", ") +
		") AS s (turn, place, resolver, passed, most) ORDER BY turn"
}

// targetRows returns the query for {targets} of dueBySystem. The query returns one row for each target (resolver and
// operation) of each system.
func (p postgres) targetRows(c Claim, args *Args) string {
	var rows []string
	for i, s := range c.systems {
		for j, target := range s.targets {
			rows = append(rows, "("+strings.Join([]string{
				strconv.Itoa(i), strconv.Itoa(j), args.add(string(target.Operation), "text"),
				args.add(p.dueFrom(target), "timestamptz"), args.add(s.halfShare(), "integer"),
			}, ", ")+")")
		}
	}
	return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS t (place, number, operation, since, half)"
}

// dueFrom returns the parameter for target.DueFrom, or negative infinity if target.DueFrom is zero.
func (p postgres) dueFrom(target domain.OutboxTarget) any {
	if target.DueFrom.IsZero() {
		return "-infinity"
	}
	return p.Instant(target.DueFrom)
}

// unclaimedEntries returns a statement that locks the unclaimed outbox entries, and skips entries that another
// transaction has locked.
func (p postgres) unclaimedEntries(tables Tables, limit int) string {
	return tables.fill(unclaimedInPostgres,
		"limit", strconv.Itoa(limit), "due", dueInPostgres, "prefer index", p.preferIndex("entry_id"))
}

// isInQuery returns the condition that a column has one of the values that a query returns. PostgreSQL looks up each of
// these values separately in an index.
func (p postgres) isInQuery(column, query string) string {
	return column + " = ANY (ARRAY(" + query + ")) AND " + p.preferIndex(column)
}

// isOfOperations returns a condition that makes PostgreSQL look up the entries of each pair (subject and operation) in
// an index, even if the planner estimates that the table has few rows.
func (p postgres) isOfOperations(tables Tables, pairs string) string {
	return p.isInQuery("entry_id", tables.fill(`
		SELECT e.entry_id FROM ({pairs}) AS o (subject, operation) CROSS JOIN LATERAL (
			SELECT entry_id FROM {outbox}
			WHERE subject_id = o.subject AND operation = o.operation AND status <> 'succeeded' AND {prefer index}
			OFFSET 0) AS e`, "pairs", pairs, "prefer index", p.preferIndex("entry_id")))
}

// preferIndex returns a condition that is always true and costs almost nothing to evaluate. Planners estimate a high
// cost for it, and therefore look up rows in an index instead of reading the complete table. Without the condition,
// planners would read the complete table while it is small, and would keep that plan after the table has grown.
// Planners also estimate that the condition is true for half of the rows, and therefore join these rows with a hash
// join.
func (postgres) preferIndex(column string) string {
	return fill(`
		CASE WHEN octet_length({column}) < 0
			THEN (SELECT count(*) FROM generate_series(1, octet_length({column}))) = 0
			ELSE TRUE END`, "column", column)
}

func (postgres) arrayElements(parameter string) string {
	return "SELECT jsonb_array_elements_text(CAST(" + parameter + " AS jsonb))"
}

func (postgres) earliestInstant() string { return "'-infinity'" }
