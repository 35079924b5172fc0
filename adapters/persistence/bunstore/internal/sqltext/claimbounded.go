package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

const (
	// dueBounded selects and locks the due outbox entries of a claim. It requires that every target (resolver and
	// operation) limits the due instants with DueUntil. The statement reads only entries within these limits, and entries
	// that a wrong clock has postponed ({due} > $5). It does not divide the limit among the external systems, because few
	// entries are within the limits of the targets.
	dueBounded = `
		WITH due AS MATERIALIZED (
			SELECT entry_id FROM ({systems}) AS e LIMIT $2)`

	boundedBySystem = `SELECT * FROM (SELECT * FROM ({ranges}) AS r LIMIT {most}) AS s`

	boundedByTarget = `
		SELECT * FROM (
			SELECT entry_id FROM {outbox}
			WHERE {target} AND {due} = '-infinity' AND enqueued_at >= {from} AND enqueued_at <= {until} AND {prefer index}
			ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
		) AS fresh
		UNION ALL
		SELECT * FROM (
			SELECT entry_id FROM {outbox}
			WHERE {target} AND {due} >= GREATEST({from}, CAST('0001-01-01' AS timestamptz))
				AND {due} <= LEAST({until}, CAST($1 AS timestamptz)) AND {prefer index}
			ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
		) AS retries
		UNION ALL
		SELECT * FROM (
			SELECT entry_id FROM {outbox}
			WHERE {target} AND {due} > CAST($5 AS timestamptz) AND {prefer index}
			ORDER BY {due}, enqueued_at, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
		) AS put_off`
)

// isBounded reports whether the claim has targets (resolver and operation), and each target limits the due instants
// with DueUntil.
func (c Claim) isBounded() bool {
	unbounded := func(t domain.OutboxTarget) bool { return t.DueUntil.IsZero() }
	return len(c.systems) > 0 &&
		!slices.ContainsFunc(c.systems, func(s claimedSystem) bool { return slices.ContainsFunc(s.targets, unbounded) })
}

// dueWithinBounds returns the statement of dueEntries for a claim in which every target limits the due instants with
// DueUntil.
func (p postgres) dueWithinBounds(tables Tables, c Claim, args *Args) string {
	systems := make([]string, len(c.systems))
	for i, s := range c.systems {
		var ranges []string
		for _, target := range s.targets {
			of := "stage = 0 AND resolver = " + args.add(s.resolver, "text") +
				" AND operation = " + args.add(string(target.Operation), "text")
			from, until := args.add(p.dueFrom(target), "timestamptz"), args.add(p.Instant(target.DueUntil), "timestamptz")
			ranges = append(ranges, tables.fill(boundedByTarget, "target", of, "from", from, "until", until,
				"due", dueInPostgres, "limit", strconv.Itoa(c.limit), "prefer index", p.preferIndex("entry_id")))
		}
		systems[i] = fill(boundedBySystem,
			"ranges", strings.Join(ranges, " UNION ALL "), "most", args.add(s.maximum, "integer"))
	}
	return fill(dueBounded, "systems", strings.Join(systems, " UNION ALL "))
}
