package outbox

import "github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"

// dialect has the differences between PostgreSQL and SQLite in the statements on the outbox.
type dialect interface {
	// dueEntries returns the beginning of a statement: a WITH clause that ends with the common table expression due,
	// which contains the ids of the outbox entries to claim. $1 is the instant of the claim, $2 the end of the lease, $3
	// the token of the lease, and $4 the result of domain.ClaimQuery.LatestNextAttempt. dueEntries appends further
	// parameters to args.
	dueEntries(tables syntax.Tables, takes []markedTake, args *syntax.Args) (string, error)

	// unclaimedEntries returns the beginning of a statement: a WITH clause that ends with the common table expression
	// due, which contains the ids of up to $2 outbox entries that match isUnclaimed, oldest first. The parameter limit
	// must equal $2.
	unclaimedEntries(tables syntax.Tables, limit int) string

	// isOfOperations returns a condition on outbox entries that is equivalent to
	//
	//	status <> 'succeeded' AND (subject_id, operation) IN (<pairs>)
	//
	// <pairs> is a subquery.
	isOfOperations(tables syntax.Tables, pairs string) string

	// notification returns the statement that wakes the workers of other processes.
	notification(tables syntax.Tables) string

	// earliestInstant returns a constant that is earlier than all instants. Earlier versions wrote this constant to the
	// column tried_since of a requeued outbox entry. It means the same as NULL: the entry was not claimed yet.
	earliestInstant() string
}

type postgres struct{}

type sqlite struct{}

// notification returns a statement that notifies the channel to which package pgxlisten listens.
func (postgres) notification(tables syntax.Tables) string {
	return "SELECT pg_notify(" + syntax.Literal(tables.Prefix+"outbox") + ", '')"
}

func (postgres) earliestInstant() string         { return "'-infinity'" }
func (sqlite) notification(syntax.Tables) string { return "" }
func (sqlite) earliestInstant() string           { return "''" }
