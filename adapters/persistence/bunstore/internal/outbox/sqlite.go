package outbox

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/scan"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

type sqlite struct{}

const (
	// dueInSQLite is the expression for the due instant of an outbox entry. The index of open entries contains the same
	// expression. A new entry sorts first, because it has no next attempt.
	dueInSQLite = "COALESCE(next_attempt_at, '')"

	// freshInSQLite and retriesInSQLite select the due outbox entries of a take, the first to take first. The retries
	// have three parts: retries that are due, entries whose next attempt is later than $4, and entries whose last attempt
	// is later than the end of the new lease ($2). A wrong clock has written the instants of the last two parts.
	freshInSQLite = `
		SELECT entry_id FROM (
			SELECT entry_id FROM {open entries} AND {due} = '' ORDER BY {due}, enqueued_at, entry_id LIMIT {fresh})`

	retriesInSQLite = `
		SELECT entry_id FROM (
			SELECT entry_id FROM (
				SELECT entry_id FROM {open entries} AND {due} > '' AND {due} <= $1
				ORDER BY {due}, enqueued_at, entry_id LIMIT {retries})
			UNION ALL
			SELECT entry_id FROM (
				SELECT entry_id FROM {open entries} AND {due} > $4 ORDER BY {due}, enqueued_at, entry_id LIMIT {retries})
			UNION ALL
			SELECT entry_id FROM (
				SELECT entry_id FROM {outbox} INDEXED BY {prefix}outbox_tried
				WHERE stage = 0 AND last_attempt_at > $2 AND resolver = {resolver} AND operation = {operation}
					AND {due} > $1 AND {due} <= $4
				ORDER BY last_attempt_at LIMIT {retries})
			LIMIT {retries})`

	// openInSQLite has an index hint, because the planner could choose another index.
	openInSQLite = `
		{outbox} INDEXED BY {prefix}outbox_open WHERE stage = 0 AND resolver = {resolver} AND operation = {operation}`

	unclaimedInSQLite = `
		WITH due AS (
			SELECT entry_id FROM {outbox} INDEXED BY {prefix}outbox_open
			WHERE ` + isUnclaimed + `
			ORDER BY enqueued_at, entry_id LIMIT $2)`
)

// dueEntries returns a statement without row locks, because SQLite has only one writing transaction at a time. It
// ignores the bounds of the takes, because SQLite removes dead rows immediately.
func (sqlite) dueEntries(tables syntax.Tables, takes []scan.BoundedTake, args *syntax.Args) (string, error) {
	var parts []string
	for _, take := range takes {
		resolver, operation := args.Add(take.Resolver, "text"), args.Add(string(take.Operation), "text")
		for _, part := range []struct {
			text string
			most int
		}{{freshInSQLite, take.Fresh}, {retriesInSQLite, take.Retries}} {
			if part.most <= 0 {
				continue
			}
			most := args.Add(part.most, "integer")
			part.text = strings.ReplaceAll(part.text, "{open entries}", strings.TrimSpace(openInSQLite))
			parts = append(parts, tables.Fill(part.text, "resolver", resolver, "operation", operation, "due", dueInSQLite,
				"fresh", most, "retries", most))
		}
	}
	return "WITH due AS (" + strings.Join(parts, " UNION ALL ") + ")", nil
}

func (sqlite) unclaimedEntries(tables syntax.Tables, _ int) string {
	return tables.Fill(unclaimedInSQLite)
}

// isOfOperations returns a condition with status <> 'succeeded', like the definition of the partial index by subject,
// because SQLite otherwise does not use this index.
func (sqlite) isOfOperations(_ syntax.Tables, pairs string) string {
	return "status <> 'succeeded' AND (subject_id, operation) IN (" + pairs + ")"
}

func (sqlite) earliestInstant() string           { return "''" }
func (sqlite) notification(syntax.Tables) string { return "" }
