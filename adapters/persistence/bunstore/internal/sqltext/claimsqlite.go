package sqltext

import (
	"strconv"
	"strings"
	"time"
)

const (
	// dueInSQLite is the due instant of an entry in the index of open entries. New entries sort first.
	dueInSQLite = "COALESCE(next_attempt_at, '')"

	// candidates selects the entries of one place and one kind. The planner needs a hint for the index.
	candidates = `
		SELECT entry_id, {place} AS place, {kind} AS kind, {most} AS most,
			row_number() OVER (ORDER BY due, enqueued_at, entry_id) AS turn
		FROM (
			SELECT entry_id, enqueued_at, {due} AS due FROM {outbox}{index}
			WHERE stage = 0{condition}
			ORDER BY {due}, enqueued_at, entry_id LIMIT $2)`

	// dealtOut takes the candidates in turns (round robin), first among systems. The entries whose last attempt lies in
	// the future come last.
	dealtOut = `
		WITH due AS (
			SELECT entry_id FROM (
				SELECT entry_id, place, rank FROM (
					SELECT entry_id, place, most, row_number() OVER (PARTITION BY place ORDER BY turn, kind) AS rank
					FROM ({candidates}))
				WHERE rank <= most
				UNION ALL
				SELECT entry_id, 0, 1 FROM (
					SELECT entry_id FROM {outbox}
					WHERE stage = 0 AND last_attempt_at > $3{of systems}
					ORDER BY last_attempt_at LIMIT $2))
			GROUP BY entry_id
			ORDER BY min(rank), min(place) LIMIT $2)`

	unclaimedInSQLite = `
		WITH due AS (
			SELECT entry_id FROM {outbox} INDEXED BY habeas_outbox_open
			WHERE ` + isUnclaimed + `
			ORDER BY enqueued_at, entry_id LIMIT $2)`
)

// due returns a statement that does not lock rows, because a transaction that writes excludes all other writers.
func (s sqlite) due(tables Tables, c Claim, args *Args) string {
	var all []string
	index := ""
	if len(c.systems) > 0 {
		index = " INDEXED BY habeas_outbox_open"
	}
	add := func(place, most int, kind, condition string) {
		all = append(all, tables.in(candidates, "place", strconv.Itoa(place), "kind", kind,
			"most", args.add(most, "integer"), "due", dueInSQLite, "index", index, "condition", condition))
	}
	fresh, retries := c.ranks()
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
			addTarget(i, system.most, target.DueFrom, " AND resolver = "+args.add(target.Resolver, "text")+
				" AND operation = "+args.add(string(target.Operation), "text"))
		}
	}
	return tables.in(dealtOut, "candidates", strings.Join(all, " UNION ALL "), "of systems", isOfSystems(c, args))
}

// unclaimed returns a statement that searches all open entries.
func (sqlite) unclaimed(tables Tables, _ int) string { return tables.in(unclaimedInSQLite) }

// amongst returns a condition that is a plain IN, because SQLite then looks up each value separately.
func (sqlite) amongst(column, query string) string { return column + " IN (" + query + ")" }

// ofOperations returns a condition that repeats the condition of the partial index by subject, so that SQLite can use
// the index.
func (sqlite) ofOperations(_ Tables, list string) string {
	return "status <> 'succeeded' AND (subject_id, operation) IN (" + list + ")"
}

// oneByOne returns a constant, because SQLite looks up rows in an index by itself.
func (sqlite) oneByOne(string) string { return "TRUE" }

// elements returns a query that reads the parameter as a JSON array.
func (sqlite) elements(parameter string) string {
	return "SELECT value FROM json_each(" + parameter + ")"
}

// beginning returns the empty text.
func (sqlite) beginning() string { return "''" }
