package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

const (
	// dueInSpan reads nothing outside the bounds, not even in the index. It has no shares, because the span is short.
	dueInSpan = `
		WITH due AS MATERIALIZED (
			SELECT entry_id FROM ({systems}) AS e LIMIT $2)`

	spanOfSystem = `SELECT * FROM (SELECT * FROM ({ranges}) AS r LIMIT {most}) AS s`

	spanOfTarget = `
		SELECT * FROM (
			SELECT entry_id FROM {outbox}
			WHERE {target} AND {due} = '-infinity' AND enqueued_at >= {from} AND enqueued_at <= {until} AND {one by one}
			ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
		) AS fresh
		UNION ALL
		SELECT * FROM (
			SELECT entry_id FROM {outbox}
			WHERE {target} AND {due} >= GREATEST({from}, CAST('0001-01-01' AS timestamptz))
				AND {due} <= LEAST({until}, CAST($1 AS timestamptz)) AND {one by one}
			ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
		) AS retries
		UNION ALL
		SELECT * FROM (
			SELECT entry_id FROM {outbox}
			WHERE {target} AND {due} > CAST($5 AS timestamptz) AND {one by one}
			ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
		) AS put_off`
)

// isSpan reports whether every target of a claim has an upper bound. A target without DueFrom starts at negative
// infinity.
func (c Claim) isSpan() bool {
	unbounded := func(t domain.OutboxTarget) bool { return t.DueUntil.IsZero() }
	return len(c.systems) > 0 &&
		!slices.ContainsFunc(c.systems, func(s claimedSystem) bool { return slices.ContainsFunc(s.targets, unbounded) })
}

// dueWithin returns the statement of the method due for a claim whose targets have bounds.
func (p postgres) dueWithin(tables Tables, c Claim, args *Args) string {
	systems := make([]string, len(c.systems))
	for i, s := range c.systems {
		var ranges []string
		for _, target := range s.targets {
			of := "stage = 0 AND resolver = " + args.add(s.resolver, "text") +
				" AND operation = " + args.add(string(target.Operation), "text")
			from, until := args.add(p.since(target), "timestamptz"), args.add(p.Instant(target.DueUntil), "timestamptz")
			ranges = append(ranges, tables.in(spanOfTarget, "target", of, "from", from, "until", until,
				"due", dueInPostgres, "limit", strconv.Itoa(c.limit), "one by one", p.oneByOne("entry_id")))
		}
		systems[i] = fill(spanOfSystem, "ranges", strings.Join(ranges, " UNION ALL "), "most", args.add(s.most, "integer"))
	}
	return fill(dueInSpan, "systems", strings.Join(systems, " UNION ALL "))
}
