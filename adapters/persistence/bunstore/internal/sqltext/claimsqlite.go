package sqltext

import (
	"strconv"
	"strings"
	"time"
)

const (
	// dueInSQLite is the expression for the due instant of an outbox entry. The index of open entries contains the same
	// expression. A new entry sorts first, because it has no next attempt.
	dueInSQLite = "COALESCE(next_attempt_at, '')"

	// candidates selects up to $2 outbox entries of one target (resolver and operation) and one kind: new entries,
	// retries, or entries that a wrong clock has postponed. The column "place" is the index of the external system. The
	// column "turn" numbers the entries in the order of their due instants. The planner needs the index hint {index}.
	candidates = `
		SELECT entry_id, {place} AS place, {kind} AS kind, {most} AS most,
			row_number() OVER (ORDER BY due, enqueued_at, entry_id) AS turn
		FROM (
			SELECT entry_id, enqueued_at, {due} AS due FROM {outbox}{index}
			WHERE stage = 0{condition}
			ORDER BY {due}, enqueued_at, entry_id LIMIT $2)`

	// roundRobin selects outbox entries from the candidates in turns. The column "rank" numbers the candidates of an
	// external system: first one entry of each target (resolver and operation) and kind, then a second entry of each, and
	// so on. The statement selects the entries in the order of their ranks. Entries whose last attempt is later than the
	// end of the new lease ($3) come last. A wrong clock has recorded such an attempt.
	roundRobin = `
		WITH due AS (
			SELECT entry_id FROM (
				SELECT entry_id, place, rank FROM (
					SELECT entry_id, place, most, row_number() OVER (PARTITION BY place ORDER BY turn, kind) AS rank
					FROM ({candidates}))
				WHERE rank <= most
				UNION ALL
				SELECT entry_id, 0, 9223372036854775807 FROM (
					SELECT entry_id FROM {outbox}
					WHERE stage = 0 AND last_attempt_at > $3{of known targets}
					ORDER BY last_attempt_at LIMIT $2))
			GROUP BY entry_id
			ORDER BY min(rank), min(place) LIMIT $2)`

	unclaimedInSQLite = `
		WITH due AS (
			SELECT entry_id FROM {outbox} INDEXED BY {prefix}outbox_open
			WHERE ` + isUnclaimed + `
			ORDER BY enqueued_at, entry_id LIMIT $2)`
)

// dueEntries returns a statement without row locks, because SQLite has only one writing transaction at a time.
func (s sqlite) dueEntries(tables Tables, c Claim, args *Args) string {
	var all []string
	index := ""
	if len(c.systems) > 0 {
		index = " INDEXED BY " + tables.Prefix + "outbox_open"
	}
	add := func(place, most int, kind, condition string) {
		all = append(all, tables.fill(candidates, "place", strconv.Itoa(place), "kind", kind,
			"most", args.add(most, "integer"), "due", dueInSQLite, "index", index, "condition", condition))
	}
	fresh, retries := c.levels()
	addTarget := func(place, most int, since time.Time, condition string) {
		from := args.add(s.Instant(since), "text")
		add(place, most, fresh, condition+" AND "+dueInSQLite+" = '' AND enqueued_at >= "+from)
		add(place, most, retries,
			condition+" AND "+dueInSQLite+" > '' AND "+dueInSQLite+" >= "+from+" AND "+dueInSQLite+" <= $1")
		add(place, most, "3", condition+" AND "+dueInSQLite+" > $5")
	}
	if len(c.systems) == 0 {
		addTarget(0, c.limit, time.Time{}, "")
	}
	for i, system := range c.systems {
		for _, target := range system.targets {
			addTarget(i, system.maximum, target.DueFrom, " AND resolver = "+args.add(target.Resolver, "text")+
				" AND operation = "+args.add(string(target.Operation), "text"))
		}
	}
	return tables.fill(roundRobin,
		"candidates", strings.Join(all, " UNION ALL "), "of known targets", isOfKnownTargets(c, args))
}

func (sqlite) unclaimedEntries(tables Tables, _ int) string { return tables.fill(unclaimedInSQLite) }

// isInQuery returns the condition that a column has one of the values that a query returns. It uses IN, because SQLite
// then looks up each of these values separately in an index.
func (sqlite) isInQuery(column, query string) string { return column + " IN (" + query + ")" }

// isOfOperations returns a condition with status <> 'succeeded', like the definition of the partial index by subject,
// because SQLite otherwise does not use this index.
func (sqlite) isOfOperations(_ Tables, pairs string) string {
	return "status <> 'succeeded' AND (subject_id, operation) IN (" + pairs + ")"
}

// preferIndex returns TRUE (no further condition), because SQLite always prefers an index.
func (sqlite) preferIndex(string) string { return "TRUE" }

func (sqlite) arrayElements(parameter string) string {
	return "SELECT value FROM json_each(" + parameter + ")"
}

func (sqlite) earliestInstant() string { return "''" }
