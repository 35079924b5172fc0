package sqltext

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

const (
	// dueInPostgres is the due instant of an entry in the index of open entries. New entries sort first.
	dueInPostgres = "COALESCE(next_attempt_at, '-infinity')"

	// everyTarget is a recursive common table expression of the resolvers and operations that have open entries. It steps
	// from one to the next in the index (a loose index scan).
	everyTarget = `
		targets (resolver, operation) AS (
			(SELECT resolver, operation FROM {outbox}
			WHERE stage = 0 AND {one by one}
			ORDER BY resolver, operation LIMIT 1)
			UNION ALL
			SELECT next.resolver, next.operation FROM targets CROSS JOIN LATERAL (
				SELECT resolver, operation FROM {outbox}
				WHERE stage = 0 AND {one by one} AND (resolver, operation) > (targets.resolver, targets.operation)
				ORDER BY resolver, operation LIMIT 1) AS next)`

	// dueOfSystems locks only the rows that it takes, because the limit ends it. Each system gets its share first. Then
	// each system takes entries after its share, until the limit is reached. Within a system, the levels are:
	//
	//   - 1 and 2: the halves of new entries and of retries
	//   - 3: the entries that a wrong clock put off
	//   - 4 and 5: the rest of both halves
	//
	// The numbers that the planner has to know are part of the text. The entries whose last attempt lies in the future
	// come last.
	dueOfSystems = `
		due AS MATERIALIZED (
			SELECT e.entry_id FROM (
				SELECT e.entry_id FROM ({systems}) AS s CROSS JOIN LATERAL (
					SELECT x.entry_id FROM (
						SELECT t.operation, r.low, r.since, r.high, r.passed, r.most
						FROM ({targets}) AS t CROSS JOIN LATERAL (VALUES
							({fresh}, CAST('-infinity' AS timestamptz), t.since, CAST('-infinity' AS timestamptz), 0, t.half),
							({retries}, {after new}, '-infinity', CAST($1 AS timestamptz), 0, t.half),
							(3, CAST($5 AS timestamptz), 'infinity', 'infinity', 0, t.half),
							(4, '-infinity', t.since, '-infinity', t.half, {limit}),
							(5, {after new}, '-infinity', CAST($1 AS timestamptz), t.half, {limit})
						) AS r (level, low, since, high, passed, most)
						WHERE t.place = s.place
						ORDER BY r.level, t.number
					) AS k CROSS JOIN LATERAL (
						SELECT y.entry_id FROM (
							SELECT entry_id FROM {outbox}
							WHERE stage = 0 AND resolver = s.resolver AND operation = k.operation
								AND ({due}, enqueued_at) >= (k.low, k.since) AND {due} <= k.high
								AND {one by one}
							ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
						) AS y OFFSET k.passed LIMIT k.most
					) AS x OFFSET s.passed LIMIT s.most
				) AS e
				UNION ALL
				SELECT e.entry_id FROM (
					SELECT entry_id FROM {outbox}
					WHERE stage = 0 AND last_attempt_at > CAST($3 AS timestamptz){of systems}
					ORDER BY last_attempt_at LIMIT {limit} FOR UPDATE SKIP LOCKED
				) AS e
			) AS e LIMIT $2)`

	// afterNew is the lower bound of the due instants of retries.
	afterNew = `GREATEST(t.since, CAST('0001-01-01' AS timestamptz))`

	// unclaimedInPostgres searches each target separately, so that the entries of one target do not hide the entries of
	// another.
	unclaimedInPostgres = `
		WITH RECURSIVE ` + everyTarget + `,
		due AS MATERIALIZED (
			SELECT e.entry_id FROM targets CROSS JOIN LATERAL (
				SELECT * FROM (
					SELECT entry_id, enqueued_at FROM {outbox}
					WHERE ` + isUnclaimed + ` AND {due} = '-infinity' AND {one by one}
						AND resolver = targets.resolver AND operation = targets.operation
					ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
				) AS fresh
				UNION ALL
				SELECT * FROM (
					SELECT entry_id, enqueued_at FROM {outbox}
					WHERE ` + isUnclaimed + ` AND {due} > '-infinity' AND {due} < $1 AND {one by one}
						AND resolver = targets.resolver AND operation = targets.operation
					ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
				) AS retries
			) AS e
			ORDER BY e.enqueued_at, e.entry_id LIMIT $2)`
)

// due returns a statement that locks the entries, and skips entries that another transaction has locked.
func (p postgres) due(tables Tables, c Claim, args *Args) string {
	if c.isSpan() {
		return p.dueWithin(tables, c, args)
	}
	limit := strconv.Itoa(c.limit)
	text, systems, targets := "WITH "+dueOfSystems, p.systems(c, args), p.targets(c, args)
	if len(c.systems) == 0 {
		text = "WITH RECURSIVE " + everyTarget + ", " + dueOfSystems
		systems = "SELECT 1 AS place, resolver, operation AS only, 0 AS passed, " + limit + " AS most FROM targets"
		targets = "SELECT 1 AS place, 1 AS number, s.only AS operation, CAST('-infinity' AS timestamptz) AS since, " +
			strconv.Itoa((c.limit+1)/2) + " AS half"
	}
	fresh, retries := c.ranks()
	return tables.in(text, "systems", systems, "targets", targets, "of systems", isOfSystems(c, args),
		"fresh", fresh, "retries", retries, "after new", afterNew, "limit", limit,
		"due", dueInPostgres, "one by one", p.oneByOne("entry_id"))
}

// systems returns the rows of the systems of a claim. Each system occurs first with its share, then with the range
// after its share.
func (postgres) systems(c Claim, args *Args) string {
	var rows []string
	for turn := range min(2, len(c.systems)) {
		for i, s := range c.systems {
			passed, most := 0, s.share
			if turn > 0 {
				passed, most = s.share, s.most-s.share
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

// targets returns the rows of the targets of all systems.
func (p postgres) targets(c Claim, args *Args) string {
	var rows []string
	for i, s := range c.systems {
		for j, target := range s.targets {
			rows = append(rows, "("+strings.Join([]string{
				strconv.Itoa(i), strconv.Itoa(j), args.add(string(target.Operation), "text"),
				args.add(p.since(target), "timestamptz"), args.add(s.half(), "integer"),
			}, ", ")+")")
		}
	}
	return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS t (place, number, operation, since, half)"
}

// since returns the instant from which a claim searches a target.
func (p postgres) since(target domain.OutboxTarget) any {
	if target.DueFrom.IsZero() {
		return "-infinity"
	}
	return p.Instant(target.DueFrom)
}

// unclaimed returns a statement that locks the entries, and skips entries that another transaction has locked.
func (p postgres) unclaimed(tables Tables, limit int) string {
	return tables.in(unclaimedInPostgres,
		"limit", strconv.Itoa(limit), "due", dueInPostgres, "one by one", p.oneByOne("entry_id"))
}

// amongst returns a condition that makes the database look up each value separately.
func (p postgres) amongst(column, query string) string {
	return column + " = ANY (ARRAY(" + query + ")) AND " + p.oneByOne(column)
}

// ofOperations returns a condition that makes the database look up each operation in the index by subject, even if the
// planner estimates that the table has few entries.
func (p postgres) ofOperations(tables Tables, list string) string {
	return p.amongst("entry_id", tables.in(`
		SELECT e.entry_id FROM ({list}) AS o (subject, operation) CROSS JOIN LATERAL (
			SELECT entry_id FROM {outbox}
			WHERE subject_id = o.subject AND operation = o.operation AND status <> 'succeeded' AND {one by one}
			OFFSET 0) AS e`, "list", list, "one by one", p.oneByOne("entry_id")))
}

// oneByOne is always true and costs almost nothing to evaluate. Planners estimate a high cost for it and therefore look
// up rows in an index instead of reading the whole table. Without it, planners would read the table while it is small,
// and would keep that plan after the table has grown. Planners also estimate that it holds for half of the rows, and
// therefore join those rows by a hash.
func (postgres) oneByOne(column string) string {
	return fill(`
		CASE WHEN octet_length({column}) < 0
			THEN (SELECT count(*) FROM generate_series(1, octet_length({column}))) = 0
			ELSE TRUE END`, "column", column)
}

// elements returns a query that reads the parameter as a jsonb array.
func (postgres) elements(parameter string) string {
	return "SELECT jsonb_array_elements_text(CAST(" + parameter + " AS jsonb))"
}

// beginning returns negative infinity.
func (postgres) beginning() string { return "'-infinity'" }
