package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// Outbox holds the statements on the outbox. A list is a JSON array of entry ids. Statements return entries with the
// columns of entryColumns.
type Outbox struct {
	Counts          string // returns the number of entries for each status
	DeadRows        string // returns the number of dead rows of the outbox, on PostgreSQL
	Backlog         string // by resolver and status: the number of entries, the first enqueued_at, the first due instant
	Abandoned       string // reads up to $1 abandoned entries, oldest first
	AbandonedAfter  string // like Abandoned, but only entries after the entry $3, which was enqueued at $2
	AbandonedInList string // reads the abandoned entries of the list $1
	FirstClaims     string // reads the claimed entries of the list $1: the id, and the instant of the first claim
	Withdraw        string // withdraws the corrections of the subject $1 that are not sent yet
	Requeue         string // requeues the abandoned erasures of the list $1
	Discard         string // discards the abandoned entries of the list $1
	Purge           string // deletes up to $2 entries that succeeded and were enqueued before $1

	w *Writer

	// Statements without the parts that depend on a call.
	claim, unreadable, unclaimed, requeueMatching, locked, settled string
}

// Each condition on the outbox repeats the condition of a partial index, so that succeeded entries do not slow down
// queries for other entries. The stage of an entry is 0 (pending, failed or in flight), 1 (abandoned) or 2 (succeeded).
//
// Each index starts with a different column, so that a planner can use only the index that was made for a query. With
// similar indexes, a planner could choose any of them while the outbox is empty, and keep its plan after the outbox has
// grown.
const (
	countEntries = `
		SELECT status, count(*) FROM {outbox} WHERE stage = 0 GROUP BY status
		UNION ALL
		SELECT CASE stage WHEN 1 THEN 'abandoned' ELSE 'succeeded' END, count(*) FROM {outbox}
		WHERE stage > 0 GROUP BY stage`

	backlog = `
		SELECT resolver, status, count(*), min(enqueued_at), min(COALESCE(next_attempt_at, enqueued_at)) FROM {outbox}
		WHERE stage = 0 GROUP BY resolver, status
		UNION ALL
		SELECT resolver, 'abandoned', count(*), NULL, NULL FROM {outbox}
		WHERE stage = 1 GROUP BY resolver`

	abandoned = `
		SELECT {entry} FROM {outbox}
		WHERE stage = 1
		ORDER BY enqueued_at, entry_id LIMIT $1`

	// abandonedAfter selects up to $1 abandoned outbox entries, oldest first. The selection starts after the entry with
	// the id $3, which was enqueued at $2. The statement prefers the stored enqueued_at to $2, because $2 is wrong if the
	// driver could not read the instant.
	abandonedAfter = `
		SELECT {entry} FROM {outbox}
		WHERE stage = 1 AND (enqueued_at, entry_id) >
			(COALESCE((SELECT enqueued_at FROM {outbox} WHERE entry_id = $3), $2), $3)
		ORDER BY enqueued_at, entry_id LIMIT $1`

	firstClaims = `SELECT entry_id, tried_since FROM {outbox} WHERE tried_since > {earliest instant} AND {in list}`

	purge = `
		DELETE FROM {outbox} WHERE entry_id IN (
			SELECT entry_id FROM {outbox}
			WHERE stage = 2 AND enqueued_at < $1
			ORDER BY enqueued_at, entry_id LIMIT $2)`

	// changeEntries locks outbox entries in the same order as lockOperations, so that the two statements cannot deadlock.
	changeEntries = `
		WITH chosen AS (
			SELECT entry_id AS chosen_id FROM {outbox}
			WHERE {condition}
			ORDER BY entry_id{for update})
		UPDATE {outbox} SET {changes}
		WHERE {chosen}
		RETURNING {entry}`

	withdrawn = `
		status = 'abandoned', last_error = 'erased', next_attempt_at = NULL, lease_token = NULL, ref = NULL,
		corrections = NULL`
	requeued = `
		status = 'pending', attempts = 0, last_attempt_at = NULL, next_attempt_at = NULL, last_error = NULL,
		tried_since = NULL`
	discarded = `
		status = 'succeeded', last_error = NULL, next_attempt_at = NULL, lease_token = NULL, ref = NULL,
		corrections = NULL`

	// matchingAbandoned selects the abandoned erasures that match a filter, oldest first.
	matchingAbandoned = `
		SELECT entry_id FROM {outbox}
		WHERE stage = 1 AND operation = 'erase'{filter}
		ORDER BY enqueued_at, entry_id LIMIT $1`

	// unsentCorrections is the condition for outbox entries with corrections that are not sent yet. The condition status
	// <> 'succeeded' is redundant. It repeats the condition of the partial index by subject, because SQLite otherwise does
	// not use this index.
	unsentCorrections = `
		subject_id = {subject} AND operation = 'rectify' AND status <> 'succeeded'
		AND status IN ('pending', 'failed', 'in_flight')`

	// Conditions for outbox entries that a statement finds by their ids. They are CASE expressions, so that a planner does
	// not choose an index for them.
	isStillUnfinished = `CASE status WHEN 'succeeded' THEN FALSE ELSE TRUE END`
	isStillAbandoned  = `CASE status WHEN 'abandoned' THEN TRUE ELSE FALSE END`

	// isUnclaimed is the condition that an outbox entry was due before $1, but no worker has claimed it. It excludes
	// entries whose last error already says so.
	isUnclaimed = `stage = 0 AND enqueued_at < $1 AND (next_attempt_at IS NULL OR next_attempt_at < $1)
		AND (last_error IS NULL OR last_error <> '` + domain.LastErrorUnclaimed + `')`

	claimEntries = `
		UPDATE {outbox} SET
			status = 'in_flight',
			attempts = CASE WHEN attempts < 2147483647 THEN attempts + 1 ELSE attempts END,
			last_attempt_at = $1, next_attempt_at = $2, lease_token = $3,
			tried_since = CASE WHEN tried_since > {earliest instant} THEN tried_since ELSE $1 END
		WHERE {due}
		RETURNING {entry}`

	// abandonUnreadable abandons outbox entries that cannot be read. For an erasure, it keeps the column ref, so that an
	// operator can repair and requeue the entry.
	abandonUnreadable = `
		UPDATE {outbox} SET
			status = 'abandoned', last_error = '` + domain.LastErrorUnreadable + `', next_attempt_at = NULL,
			lease_token = NULL, ref = CASE WHEN operation = 'rectify' THEN NULL ELSE ref END, corrections = NULL
		WHERE entry_id IN (`

	markUnclaimed = `
		UPDATE {outbox} SET last_error = '` + domain.LastErrorUnclaimed + `'
		WHERE {due}
		RETURNING {entry}`

	lockOperations = `
		SELECT entry_id, subject_id, operation, lease_token, operation_id FROM {outbox}
		WHERE ` + isStillUnfinished + ` AND NOT (operation = 'rectify' AND ` + isStillAbandoned + `)
			AND {of operations}
		ORDER BY entry_id{for update}`

	settleEntries = `
		UPDATE {outbox} SET
			status = new_status, last_error = error, next_attempt_at = next_at, attempts = attempts - untried,
			tried_since = CASE WHEN attempts > untried THEN tried_since END, lease_token = NULL,
			ref = CASE WHEN ` + needsNoData + ` THEN NULL ELSE ref END,
			corrections = CASE WHEN ` + needsNoData + ` THEN NULL ELSE corrections END
		FROM outcomes
		WHERE entry_id = settled_id AND {settled}`
	// needsNoData is the condition that an outbox entry with a new status does not need its ref and its corrections any
	// more.
	needsNoData = `(new_status = 'succeeded' OR new_status = 'abandoned' AND operation = 'rectify')`
)

// NewOutbox returns the statements on the outbox.
func NewOutbox(w *Writer) *Outbox {
	d := w.Dialect
	in := func(statement string, names ...string) string {
		return w.Tables.Fill(statement, append(names, "entry", entryColumns(), "earliest instant", d.earliestInstant(),
			"for update", d.ForUpdate(), "in list", d.IsInQuery("entry_id", d.ArrayElements("$1")))...)
	}
	change := func(condition, changes string) string {
		return in(changeEntries, "condition", condition, "changes", in(changes),
			"chosen", d.IsInQuery("entry_id", "SELECT chosen_id FROM chosen"))
	}
	chosen := isStillAbandoned + " AND " + in("{in list}")
	due := d.IsInQuery("entry_id", "SELECT entry_id FROM due")
	return &Outbox{
		Counts:          in(countEntries),
		DeadRows:        in(deadRows, "outbox name", syntax.Literal(w.Tables.Outbox)),
		Backlog:         in(backlog),
		Abandoned:       in(abandoned),
		AbandonedAfter:  in(abandonedAfter),
		AbandonedInList: in("SELECT {entry} FROM {outbox} WHERE {chosen}", "chosen", chosen),
		FirstClaims:     in(firstClaims),
		Withdraw:        change(in(unsentCorrections, "subject", "$1")+" AND "+d.PreferIndex("entry_id"), withdrawn),
		Requeue:         change(chosen+" AND operation = 'erase'", requeued),
		Discard:         change(chosen, discarded),
		Purge:           in(purge),

		w:          w,
		claim:      in(claimEntries, "due", due),
		unreadable: in(abandonUnreadable),
		unclaimed:  in(markUnclaimed, "due", due),
		requeueMatching: change(isStillAbandoned+" AND operation = 'erase' AND "+
			d.IsInQuery("entry_id", in(matchingAbandoned)), requeued),
		locked:  in(lockOperations),
		settled: in(settleEntries, "settled", d.IsInQuery("entry_id", "SELECT settled_id FROM outcomes")),
	}
}

// entryColumns returns the list of the columns that bunstore scans as an outbox entry. An instant that a driver cannot
// read, such as infinity, becomes NULL, because a driver would otherwise reject all rows.
func entryColumns() string {
	readable := func(column string) string {
		return syntax.Fill(`CASE WHEN {column} >= '0001-01-01 00:00:00+00' AND {column} < '9999-12-31' THEN {column} END`,
			"column", column)
	}
	return syntax.Fill(`
		entry_id, subject_id, resolver, ref, operation, corrections, status, attempts,
		{enqueued}, {last attempt}, {next attempt}, last_error, lease_token, operation_id`,
		"enqueued", readable("enqueued_at"),
		"last attempt", readable("last_attempt_at"), "next attempt", readable("next_attempt_at"))
}

// AbandonUnreadable returns the statement that sets outbox entries to abandoned. The parameters of the statement are
// the ids of the entries.
func (o *Outbox) AbandonUnreadable(idCount int) string {
	ids := make([]string, idCount)
	for i := range ids {
		ids[i] = syntax.Placeholder(i + 1)
	}
	return o.unreadable + strings.Join(ids, ", ") + ")"
}

// Unclaimed returns the statement that marks up to $2 outbox entries as unclaimed, oldest first. These entries were due
// before $1. The statement returns these entries. The parameter limit must equal $2.
func (o *Outbox) Unclaimed(limit int) string {
	return o.w.Dialect.unclaimedEntries(o.w.Tables, limit) + " " + o.unclaimed
}

// RequeueMatching returns the statement that requeues the oldest abandoned erasures that match the filter. The
// statement returns the requeued entries. The parameter limit is their maximum number.
func (o *Outbox) RequeueMatching(filter domain.OutboxFilter, limit int) (text string, args []any) {
	all, condition := syntax.Args{limit}, ""
	if filter.Resolver != "" {
		condition += " AND resolver = " + all.Add(filter.Resolver, "text")
	}
	d := o.w.Dialect
	if !filter.EnqueuedBefore.IsZero() {
		condition += " AND enqueued_at < " + all.Add(d.Instant(filter.EnqueuedBefore), d.InstantType())
	}
	if !filter.EnqueuedFrom.IsZero() {
		condition += " AND enqueued_at >= " + all.Add(d.Instant(filter.EnqueuedFrom), d.InstantType())
	}
	return strings.Replace(o.requeueMatching, "{filter}", condition, 1), all
}

// LockOperations returns the statement that locks the outbox entries of operations. It omits entries that have
// succeeded and corrections that are abandoned. Every transaction locks entries in the same order, so that there are no
// deadlocks. The statement's parameters are pairs of a subject and an operation.
func (o *Outbox) LockOperations(pairCount int) string {
	pairs := make([]string, pairCount)
	for i := range pairs {
		pairs[i] = "(" + syntax.Placeholder(2*i+1) + ", " + syntax.Placeholder(2*i+2) + ")"
	}
	values := "VALUES " + strings.Join(pairs, ", ")
	return strings.Replace(o.locked, "{of operations}", o.w.Dialect.isOfOperations(o.w.Tables, values), 1)
}

// Settle returns the statement that writes the outcomes of attempts into their outbox entries.
func (o *Outbox) Settle(settlements []domain.Settlement) (text string, args []any) {
	d := o.w.Dialect
	rows, all := make([]string, len(settlements)), make(syntax.Args, 0, 5*len(settlements))
	for i, s := range settlements {
		var class, next any
		if s.Status == domain.OutboxFailed || s.Status == domain.OutboxAbandoned {
			class = syntax.Optional(s.LastError)
		}
		if s.Status == domain.OutboxFailed && s.NextAttemptAt != nil {
			next = d.Instant(*s.NextAttemptAt)
		}
		untried := 0
		if s.Status == domain.OutboxPending {
			untried = 1
		}
		rows[i] = "(" + strings.Join([]string{
			all.Add(s.Entry.EntryID, "text"), all.Add(string(s.Status), "text"), all.Add(class, "text"),
			all.Add(next, d.InstantType()), all.Add(untried, "integer"),
		}, ", ") + ")"
	}
	return "WITH outcomes (settled_id, new_status, error, next_at, untried) AS (VALUES " + strings.Join(rows, ", ") +
		") " + o.settled, all
}
