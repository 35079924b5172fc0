// Package outbox adds, claims, settles and administers the entries of the outbox.
//
// Each condition on the outbox repeats the condition of a partial index, so that succeeded entries do not slow down
// queries for other entries. The stage of an entry is 0 (pending, failed or in flight), 1 (abandoned or spared) or 2
// (succeeded).
//
// Each index starts with a different column, so that a planner can use only the index that was made for a query. With
// similar indexes, a planner could choose any of them while the outbox is empty, and keep its plan after the outbox has
// grown. The plans of an empty outbox are thus good for a full one: after a growth to 300,000 settled entries and 5,000
// due ones without new statistics, a claim of 50 takes 3 ms.
package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
)

// Store holds the statements on the outbox. A list is a JSON array of entry ids. Statements return entries with the
// columns of entryColumns.
type Store struct {
	Notification string // wakes the workers of other processes; "" if the database cannot

	counts          string // returns the number of entries for each status
	deadRows        string // returns the number of dead rows of the outbox, on PostgreSQL
	backlog         string // by resolver and status: the number of entries, the first enqueued_at, the first due instant
	abandoned       string // reads up to $1 abandoned or spared entries, oldest first
	abandonedAfter  string // like Abandoned, but only entries after the entry $3, which was enqueued at $2
	abandonedInList string // reads the abandoned and spared entries of the list $1
	firstClaims     string // reads the claimed entries of the list $1: the id, and the instant of the first claim
	withdraw        string // withdraws the corrections of the subject $1 that are not sent yet
	requeue         string // requeues the abandoned erasures of the list $1
	discard         string // discards the abandoned and spared entries of the list $1
	purge           string // deletes up to $2 entries that succeeded and were enqueued before $1

	dialect syntax.Dialect
	own     dialect
	tables  syntax.Tables
	marks   marks // decides which due instants a claim reads

	// Statements without the parts that depend on a call.
	claim, unreadable, unclaimed, requeueMatching, locked, settled string
}

// New returns the statements on the outbox.
func New(d syntax.Dialect, tables syntax.Tables) *Store {
	own := syntax.Choose[dialect](d, postgres{}, sqlite{})
	in := func(statement string, names ...string) string {
		return tables.Fill(statement, append(names, "entry", entryColumns(), "earliest instant", own.earliestInstant(),
			"for update", d.ForUpdate(), "in list", d.IsInQuery("entry_id", d.ArrayElements("$1")))...)
	}
	change := func(condition, changes string) string {
		return in(changeEntries, "condition", condition, "changes", in(changes),
			"chosen", d.IsInQuery("entry_id", "SELECT chosen_id FROM chosen"))
	}
	chosen, unhandled := isStillAbandoned+" AND "+in("{in list}"), isUnhandled+" AND "+in("{in list}")
	due := d.IsInQuery("entry_id", "SELECT entry_id FROM due")
	return &Store{
		Notification:    own.notification(tables),
		counts:          in(countEntries),
		deadRows:        in(deadRows, "outbox name", syntax.Literal(tables.Outbox)),
		backlog:         in(backlog),
		abandoned:       in(abandoned),
		abandonedAfter:  in(abandonedAfter),
		abandonedInList: in("SELECT {entry} FROM {outbox} WHERE {chosen}", "chosen", unhandled),
		firstClaims:     in(firstClaims),
		withdraw:        change(in(UnsentCorrections, "subject", "$1")+" AND "+d.PreferIndex("entry_id"), withdrawn),
		requeue:         change(chosen+" AND operation = 'erase'", requeued),
		discard:         change(unhandled, discarded),
		purge:           in(purge),

		dialect: d, own: own, tables: tables,
		claim:      in(claimEntries, "due", due),
		unreadable: in(updateUnreadable),
		unclaimed:  in(markUnclaimed, "due", due),
		requeueMatching: change(isStillAbandoned+" AND operation = 'erase' AND "+
			d.IsInQuery("entry_id", in(matchingAbandoned)), requeued),
		locked:  in(lockOperations),
		settled: in(settleEntries, "settled", d.IsInQuery("entry_id", "SELECT settled_id FROM outcomes")),
	}
}

// Session is the part of a session that uses the outbox. It implements ports.Outbox and ports.OutboxAdmin.
type Session struct {
	store    *Store
	db       *conn.Session
	unsent   *unsent.Session // holds the added entries
	Enqueued bool            // the commit adds work to the outbox
}

// Session returns the part of a session that uses the outbox.
func (o *Store) Session(db *conn.Session, rows *unsent.Session) Session {
	return Session{store: o, db: db, unsent: rows}
}

// Enqueue implements ports.Outbox.
func (o *Session) Enqueue(ctx context.Context, added ...domain.OutboxEntry) error {
	for _, entry := range added {
		ref, err := syntax.JSON("outbox", entry.Ref)
		if err != nil {
			return err
		}
		var corrections any
		if entry.Corrections != nil {
			if corrections, err = syntax.JSON("outbox", entry.Corrections); err != nil {
				return err
			}
		}
		instant := func(at time.Time) any {
			if at.IsZero() {
				return nil
			}
			return o.store.dialect.Instant(at)
		}
		if err := o.unsent.Add(ctx, unsent.Entries, entry.EntryID, entry.SubjectID.String(), entry.Resolver, ref,
			string(entry.Operation), corrections, string(entry.Status), entry.Attempts,
			instant(entry.EnqueuedAt), instant(entry.RequestedAt), instant(entry.TurnAt),
			syntax.Nullable(syntax.Optional(entry.OperationID)),
		); err != nil {
			return err
		}
		o.Enqueued = true
	}
	return nil
}

// changeEntries locks outbox entries in the same order as lockOperations, so that the two statements cannot deadlock.
const changeEntries = `
	WITH chosen AS (
		SELECT entry_id AS chosen_id FROM {outbox}
		WHERE {condition}
		ORDER BY entry_id{for update})
	UPDATE {outbox} SET {changes}
	WHERE {chosen}
	RETURNING {entry}`

// change runs a statement that updates outbox entries, and returns the updated entries, oldest first.
func (o *Session) change(ctx context.Context, op, text string, args ...any) ([]domain.OutboxEntry, error) {
	changed, err := o.readEntries(ctx, o.db.WriteRows, op, text, args...)
	slices.SortFunc(changed, domain.OutboxEntry.Compare)
	return changed, err
}

// readEntries runs a statement that returns outbox entries. Fields that cannot be decoded are zero.
func (o *Session) readEntries(
	ctx context.Context, run conn.Run, op, text string, args ...any,
) ([]domain.OutboxEntry, error) {
	if err := o.unsent.Send(ctx, unsent.Entries); err != nil {
		return nil, err
	}
	var found []domain.OutboxEntry
	err := run(ctx, op, func(rows *sql.Rows) error {
		entry, _, err := scanEntry(rows)
		found = append(found, entry)
		return err
	}, text, args...)
	return found, err
}

const (
	// UnsentCorrections is the condition for outbox entries with corrections that are not sent yet. The condition status
	// <> 'succeeded' is redundant. It repeats the condition of the partial index by subject, because SQLite otherwise
	// does not use this index.
	UnsentCorrections = `
		subject_id = {subject} AND operation = 'rectify' AND status <> 'succeeded'
		AND status IN ('pending', 'failed', 'in_flight')`

	withdrawn = `
		status = 'abandoned', last_error = 'erased', next_attempt_at = NULL, lease_token = NULL, ref = NULL,
		corrections = NULL`
)

// Withdraw implements ports.Outbox.
func (o *Session) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	if read := o.unsent.Prefetched; read != nil && read.SubjectID == id && !read.UnsentCorrections {
		return nil, o.db.Usable()
	}
	if err := o.db.OverwriteDeleted(ctx); err != nil {
		return nil, err
	}
	return o.change(ctx, "withdraw", o.store.withdraw, id.String())
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
		{enqueued}, {requested}, {last attempt}, {next attempt}, last_error, lease_token, operation_id`,
		"enqueued", readable("enqueued_at"), "requested", readable("requested_at"),
		"last attempt", readable("last_attempt_at"), "next attempt", readable("next_attempt_at"))
}

// scanEntry scans a row of the outbox into an entry. If a column does not hold a valid value, for example because
// another program wrote it, scanEntry sets the other fields and returns readable = false. It returns an error only if
// the connection fails.
func scanEntry(rows *sql.Rows) (e domain.OutboxEntry, readable bool, err error) {
	var entryID, subject, resolver, operation, status, attempts, lastError, leaseToken, operationID sql.NullString
	var ref, corrections sql.RawBytes
	var enqueued, requested, lastAttempt, nextAttempt syntax.OptionalInstant
	if err := rows.Scan(&entryID, &subject, &resolver, &ref, &operation, &corrections, &status, &attempts,
		&enqueued, &requested, &lastAttempt, &nextAttempt, &lastError, &leaseToken, &operationID); err != nil {
		return e, false, err
	}
	readable = entryID.Valid && enqueued.Time != nil && !enqueued.Invalid && !requested.Invalid &&
		!lastAttempt.Invalid && !nextAttempt.Invalid
	try := func(err error) bool {
		readable = readable && err == nil
		return err == nil
	}
	e.EntryID, e.Resolver, e.Operation = entryID.String, resolver.String, domain.Operation(operation.String)
	e.OperationID = operationID.String
	e.Status, e.LastError, e.LeaseToken = domain.OutboxStatus(status.String), pointerTo(lastError), pointerTo(leaseToken)
	if enqueued.Time != nil {
		e.EnqueuedAt, e.RequestedAt = *enqueued.Time, *enqueued.Time
	}
	if requested.Time != nil {
		e.RequestedAt = *requested.Time
	}
	e.LastAttemptAt, e.NextAttemptAt = lastAttempt.Time, nextAttempt.Time
	n, err := strconv.Atoi(attempts.String)
	try(err)
	e.Attempts = n
	id, err := domain.ParseSubjectID(subject.String)
	if try(err) {
		e.SubjectID = id
	}
	var decodedRef domain.SubjectRef
	if ref != nil && try(decodeObject(ref, &decodedRef)) {
		e.Ref = decodedRef
	} else { // a succeeded entry has no stored ref: only the kind is known
		e.Ref.Kind = e.Resolver
	}
	var decoded domain.Corrections
	if corrections != nil && try(decodeObject(corrections, &decoded)) {
		e.Corrections = decoded
	}
	return e, readable, nil
}

// errNoObject reports that a column holds JSON that is not an object.
var errNoObject = &domain.Error{Op: "outbox", Message: "a column does not hold a JSON object"}

func decodeObject(text []byte, into any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return errNoObject
	}
	return json.Unmarshal(text, into)
}

func pointerTo(text sql.NullString) *string {
	if !text.Valid {
		return nil
	}
	return &text.String
}
