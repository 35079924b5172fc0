package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Outbox holds the statements on the outbox. A statement that returns entries returns the columns that are scanned as
// an entry. A list is a JSON array of ids.
type Outbox struct {
	Counts         string // the number of entries by status
	Backlog        string // by resolver and status: the number of entries, the oldest, and the longest due
	Abandoned      string // up to $1 entries, oldest first
	AbandonedAfter string // like Abandoned, after the entry $3, which was enqueued at $2
	Chosen         string // the abandoned entries of the list $1
	FirstClaims    string // the ids in the list $1, and the instant of the first attempt at each
	Withdraw       string // withdraws the corrections of the subject $1 that are not sent yet
	Requeue        string // requeues the abandoned erasures of the list $1
	Discard        string // discards the abandoned entries of the list $1
	Purge          string // deletes up to $2 entries that succeeded and were enqueued before $1

	w                                                              *Writer
	claim, unreadable, unclaimed, requeueMatching, locked, settled string // incomplete texts
}

// The conditions of the statements match the conditions of the partial indexes, so that settled entries add no cost to
// queries for other entries. An entry is open (stage 0) while it is pending, failed or in flight. Stage 1 is abandoned.
// Stage 2 is succeeded. Each index starts with a column that the other indexes do not have, so that only the index made
// for a query can serve it. While a queue is empty, a planner considers all indexes equally good, and it would keep
// that plan after the queue has grown.
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

	// abandonedAfter selects the entries behind the entry with the id $3. It compares with the stored instant of that
	// entry, because a driver may have been unable to read that instant into $2.
	abandonedAfter = `
		SELECT {entry} FROM {outbox}
		WHERE stage = 1 AND (enqueued_at, entry_id) >
			(COALESCE((SELECT enqueued_at FROM {outbox} WHERE entry_id = $3), $2), $3)
		ORDER BY enqueued_at, entry_id LIMIT $1`

	firstClaims = `SELECT entry_id, tried_since FROM {outbox} WHERE tried_since > {beginning} AND {in list}`

	purge = `
		DELETE FROM {outbox} WHERE entry_id IN (
			SELECT entry_id FROM {outbox}
			WHERE stage = 2 AND enqueued_at < $1
			ORDER BY enqueued_at, entry_id LIMIT $2)`

	// changeEntries locks entries in the same order as lockOperations, to avoid deadlocks between the two.
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
		tried_since = {beginning}`
	discarded = `
		status = 'succeeded', last_error = NULL, next_attempt_at = NULL, lease_token = NULL, ref = NULL,
		corrections = NULL`

	// matching selects the abandoned erasures that match a filter.
	matching = `
		SELECT entry_id FROM {outbox}
		WHERE stage = 1 AND operation = 'erase'{filter}
		ORDER BY enqueued_at, entry_id LIMIT $1`

	// toWithdraw is the condition for corrections that are not sent yet. It repeats the condition of the partial index by
	// subject, because SQLite requires that.
	toWithdraw = `
		subject_id = {subject} AND operation = 'rectify' AND status <> 'succeeded'
		AND status IN ('pending', 'failed', 'in_flight')`

	// Conditions for entries that are chosen by their ids. They are CASE expressions, so that no planner chooses an index
	// for them.
	isStillUnfinished = `CASE status WHEN 'succeeded' THEN FALSE ELSE TRUE END`
	isStillAbandoned  = `CASE status WHEN 'abandoned' THEN TRUE ELSE FALSE END`

	// isUnclaimed is the condition of an entry that was due before $1, and is not yet marked as unclaimed.
	isUnclaimed = `stage = 0 AND enqueued_at < $1 AND (next_attempt_at IS NULL OR next_attempt_at < $1)
		AND (last_error IS NULL OR last_error <> '` + domain.LastErrorUnclaimed + `')`

	claimEntries = `
		UPDATE {outbox} SET
			status = 'in_flight',
			attempts = CASE WHEN attempts < 2147483647 THEN attempts + 1 ELSE attempts END,
			last_attempt_at = $1, next_attempt_at = $3, lease_token = $4,
			tried_since = CASE tried_since WHEN {beginning} THEN $1 ELSE tried_since END
		WHERE {due}
		RETURNING {entry}`

	// abandonUnreadable keeps the ref of an erasure, so that an operator can repair and requeue the entry.
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
			lease_token = NULL,
			ref = CASE WHEN ` + isForgotten + ` THEN NULL ELSE ref END,
			corrections = CASE WHEN ` + isForgotten + ` THEN NULL ELSE corrections END
		FROM outcomes
		WHERE entry_id = settled_id AND {settled}`
	isForgotten = `(new_status = 'succeeded' OR new_status = 'abandoned' AND operation = 'rectify')`
)

// NewOutbox returns the statements on the outbox.
func NewOutbox(w *Writer) *Outbox {
	d := w.Dialect
	in := func(statement string, names ...string) string {
		return w.Tables.in(statement, append(names, "entry", entryColumns(), "beginning", d.beginning(),
			"for update", d.forUpdate(), "in list", d.amongst("entry_id", d.elements("$1")))...)
	}
	change := func(condition, changes string) string {
		return in(changeEntries, "condition", condition, "changes", in(changes),
			"chosen", d.amongst("entry_id", "SELECT chosen_id FROM chosen"))
	}
	chosen := isStillAbandoned + " AND " + in("{in list}")
	due := d.amongst("entry_id", "SELECT entry_id FROM due")
	return &Outbox{
		Counts:         in(countEntries),
		Backlog:        in(backlog),
		Abandoned:      in(abandoned),
		AbandonedAfter: in(abandonedAfter),
		Chosen:         in("SELECT {entry} FROM {outbox} WHERE {chosen}", "chosen", chosen),
		FirstClaims:    in(firstClaims),
		Withdraw:       change(in(toWithdraw, "subject", "$1")+" AND "+d.oneByOne("entry_id"), withdrawn),
		Requeue:        change(chosen+" AND operation = 'erase'", requeued),
		Discard:        change(chosen, discarded),
		Purge:          in(purge),

		w:          w,
		claim:      in(claimEntries, "due", due),
		unreadable: in(abandonUnreadable),
		unclaimed:  in(markUnclaimed, "due", due),
		requeueMatching: change(isStillAbandoned+" AND operation = 'erase' AND "+
			d.amongst("entry_id", in(matching)), requeued),
		locked:  in(lockOperations),
		settled: in(settleEntries, "settled", d.amongst("entry_id", "SELECT settled_id FROM outcomes")),
	}
}

// entryColumns lists the columns that are scanned as an entry. The list returns NULL for an instant that a driver
// cannot read, such as infinity, because the instant would make the driver reject all rows.
func entryColumns() string {
	readable := func(column string) string {
		return fill(`CASE WHEN {column} >= '0001-01-01 00:00:00+00' AND {column} < '9999-12-31' THEN {column} END`,
			"column", column)
	}
	return fill(`
		entry_id, subject_id, resolver, ref, operation, corrections, status, attempts,
		{enqueued}, {last attempt}, {next attempt}, last_error, lease_token, operation_id`,
		"enqueued", readable("enqueued_at"),
		"last attempt", readable("last_attempt_at"), "next attempt", readable("next_attempt_at"))
}

// Claim returns the statement that claims entries and returns them.
func (o *Outbox) Claim(c Claim, leaseToken string) (text string, args []any) {
	d := o.w.Dialect
	all := Args{d.Instant(c.at), c.limit, d.Instant(c.until), leaseToken, d.Instant(c.latest)}
	return d.due(o.w.Tables, c, &all) + " " + o.claim, all
}

// AbandonUnreadable returns the statement that abandons a number of entries, whose ids are the parameters.
func (o *Outbox) AbandonUnreadable(entries int) string {
	ids := make([]string, entries)
	for i := range ids {
		ids[i] = parameter(i + 1)
	}
	return o.unreadable + strings.Join(ids, ", ") + ")"
}

// Unclaimed returns the statement that marks up to $2 entries that were due before $1, oldest first, and returns them.
// limit must equal $2.
func (o *Outbox) Unclaimed(limit int) string {
	return o.w.Dialect.unclaimed(o.w.Tables, limit) + " " + o.unclaimed
}

// RequeueMatching returns the statement that requeues abandoned erasures, oldest first, and returns them.
func (o *Outbox) RequeueMatching(filter domain.OutboxFilter, limit int) (text string, args []any) {
	all, condition := Args{limit}, ""
	if filter.Resolver != "" {
		condition += " AND resolver = " + all.add(filter.Resolver, "text")
	}
	d := o.w.Dialect
	if !filter.EnqueuedBefore.IsZero() {
		condition += " AND enqueued_at < " + all.add(d.Instant(filter.EnqueuedBefore), d.instantType())
	}
	if !filter.EnqueuedFrom.IsZero() {
		condition += " AND enqueued_at >= " + all.add(d.Instant(filter.EnqueuedFrom), d.instantType())
	}
	return strings.Replace(o.requeueMatching, "{filter}", condition, 1), all
}

// LockOperations returns the statement that locks all entries of operations that are not finally settled. Every
// transaction locks them in the same order. The parameters are pairs of a subject and an operation.
func (o *Outbox) LockOperations(operations int) string {
	pairs := make([]string, operations)
	for i := range pairs {
		pairs[i] = "(" + parameter(2*i+1) + ", " + parameter(2*i+2) + ")"
	}
	list := "VALUES " + strings.Join(pairs, ", ")
	return strings.Replace(o.locked, "{of operations}", o.w.Dialect.ofOperations(o.w.Tables, list), 1)
}

// Settle returns the statement that writes the outcomes of attempts.
func (o *Outbox) Settle(settlements []domain.Settlement) (text string, args []any) {
	d := o.w.Dialect
	rows, all := make([]string, len(settlements)), make(Args, 0, 5*len(settlements))
	for i, s := range settlements {
		var class, next any
		if s.Status == domain.OutboxFailed || s.Status == domain.OutboxAbandoned {
			class = Optional(s.LastError)
		}
		if s.Status == domain.OutboxFailed && s.NextAttemptAt != nil {
			next = d.Instant(*s.NextAttemptAt)
		}
		untried := 0
		if s.Status == domain.OutboxPending {
			untried = 1
		}
		rows[i] = "(" + strings.Join([]string{
			all.add(s.Entry.EntryID, "text"), all.add(string(s.Status), "text"), all.add(class, "text"),
			all.add(next, d.instantType()), all.add(untried, "integer"),
		}, ", ") + ")"
	}
	return "WITH outcomes (settled_id, new_status, error, next_at, untried) AS (VALUES " + strings.Join(rows, ", ") +
		") " + o.settled, all
}
