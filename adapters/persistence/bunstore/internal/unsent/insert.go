package unsent

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

// Kind is a kind of row that a session buffers before it sends the row to the database. The statements of
// ReasonClearings and LedgerClosings are UPDATE statements. The statement of every other kind is an INSERT into one
// table.
type Kind int

// IsLedger reports whether the rows of a kind are records of a ledger. The requests of a subject are numbered and
// divided by lives as the ledgers are.
func (k Kind) IsLedger() bool { return k == Consents || k == Restrictions || k == Requests }

// The kinds, in the order in which a session sends their rows. ReasonClearings is the first, because it must not remove
// the reasons of restrictions that the session itself adds later. LedgerClosings is the last, because it covers the
// records that the session adds.
const (
	ReasonClearings Kind = iota // a row sets the reasons of a subject's restrictions to NULL
	Consents
	Restrictions
	Requests
	Entries
	Events
	LedgerClosings // a row completes the mark of a subject, see closeLedgers
	KindCount      // the number of kinds
)

// insertedColumns lists the columns that the INSERT of each kind fills, in the order of the values of a row.
var insertedColumns = [KindCount]string{
	Consents:     "subject_id, purpose, policy_version, granted, recorded_at, source",
	Restrictions: "subject_id, purpose, restricted, reason, recorded_at, source",
	Requests: "subject_id, number, kind, purpose, state, state_reason, channel, language, reference, refers_to," +
		" received_at, entered_at, due_on, due_at, strict_due_on, suspended_at, suspended_days, lapses_at, asked," +
		" extended_at, extension_reason, execute_after, verified_by, decided_by, refusal_ground, done_by_hand, partly," +
		" attempts, next_attempt_at, last_error, closed_at, version",
	Entries: "entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at," +
		" requested_at, turn_at, operation_id",
	Events: "event_id, event_type, subject_ref, occurred_at, payload",
}

// castTypes holds a cast for each value of the kinds whose rows are in a subquery. PostgreSQL does not infer the types
// of parameters there.
var castTypes = [KindCount][]string{
	Consents:       {"::text", "::text", "::text", "::boolean", "::timestamptz", "::text"},
	Restrictions:   {"::text", "::text", "::boolean", "::text", "::timestamptz", "::text"},
	LedgerClosings: {"::text", "::timestamptz"},
	Requests: {
		"::text", "::text", "::text", "::text", "::text", "::text", "::text", "::text", "::text", "::text",
		"::timestamptz", "::timestamptz", "::text", "::timestamptz", "::text", "::timestamptz", "::integer",
		"::timestamptz", "::text", "::timestamptz", "::text", "::timestamptz", "::text", "::text", "::text", "::text",
		"::boolean", "::integer", "::timestamptz", "::text", "::timestamptz", "::bigint",
	},
	Entries: {
		"::text", "::text", "::text", "::jsonb", "::text", "::jsonb", "::text", "::integer", "::timestamptz", "::timestamptz",
		"::timestamptz", "::text",
	},
	Events: {"::text", "::text", "::text", "::timestamptz", "::jsonb"},
}

// Columns returns the columns that the INSERT of a kind fills, in the order of the values of a row.
func Columns(k Kind) string { return insertedColumns[k] }

// Rows holds the rows that a session has not sent to the database yet, by kind. A row is the list of the values of its
// columns.
type Rows [KindCount][][]any

// count returns the number of rows.
func (a *Rows) count() int {
	total := 0
	for _, rows := range a {
		total += len(rows)
	}
	return total
}

// subjectOfRow returns the subject's id, which is the first value of each row of the ledgers.
func subjectOfRow(row []any) string {
	id, _ := row[0].(string)
	return id
}

// insert is a statement that writes buffered rows, with its parameters. It returns rows of two columns, which may be
// NULL: the id of an erased subject of a ledger record, and the name of a temporary table in front of a table of
// habeas. The erased subjects are without those whose ledgers the statement closes, if the database combines changes.
// If alerts is true, the statement returns rows of the second kind only.
type insert struct {
	text   string
	args   []any
	alerts bool
}

// inserts builds the statements that write buffered rows. It is safe for concurrent use.
type inserts struct {
	combinesChanges bool
	templates       [KindCount]insertTemplate
	inFront         string // the end of a combined statement
	erased          string // the query for erased subjects, before inFront
	alone           aloneTemplates
	texts           sync.Map // the texts of statements by shape, see the method text
}

// shape determines the text of a statement.
type shape struct {
	counts      [KindCount]int // the number of rows of each kind
	findsErased bool           // a combined statement returns the erased subjects of its ledger records
	alone       bool           // the statement is its own transaction, see takeAlone
}

// newInserts returns the inserts for the dialect and the tables.
func newInserts(d syntax.Dialect, tables syntax.Tables) *inserts {
	return &inserts{
		combinesChanges: d.CombinesChanges(), templates: newTemplates(tables, d),
		inFront: tables.Fill(selectInFront, "in front", tables.InFront(d)), erased: tables.Fill(selectErased),
		alone: newAloneTemplates(tables, d),
	}
}

// take returns the statements that write the rows of unsent, and empties unsent. If the database can combine several
// INSERT and UPDATE statements, one statement writes all kinds. Otherwise each kind has its own statement.
func (i *inserts) take(unsent *Rows) []insert {
	if i.combinesChanges {
		counts, args := unsent.flatten()
		findsErased := unsent.addsOpen()
		*unsent = Rows{}
		if len(args) == 0 {
			return nil
		}
		return []insert{{i.text(shape{counts: counts, findsErased: findsErased}), args, !findsErased}}
	}
	var inserts []insert
	for k, rows := range unsent {
		var one Rows
		one[k] = rows
		if counts, args := one.flatten(); len(args) > 0 {
			inserts = append(inserts, insert{i.text(shape{counts: counts}), args, false})
		}
	}
	*unsent = Rows{}
	return inserts
}

// people returns the subjects of the ledger records in the order of their ids. It reports whether the statement that
// adds the records locks the ledgers in this order: it locks them in the order of the records, and a statement that
// adds to several ledgers locks in no certain order.
func (a *Rows) people() (ids []string, inOrder bool) {
	ledgers := 0
	for _, rows := range a[Consents : Requests+1] {
		for _, row := range rows {
			ids = append(ids, subjectOfRow(row))
		}
		ledgers += min(len(rows), 1)
	}
	inOrder = slices.IsSorted(ids) && ledgers < 2
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids, inOrder || len(ids) < 2
}

// flatten returns the number of rows of each kind, and the values of all rows.
func (a *Rows) flatten() (counts [KindCount]int, args []any) {
	values := 0
	for k, rows := range a {
		if counts[k] = len(rows); counts[k] > 0 {
			values += len(rows) * len(rows[0])
		}
	}
	args = make([]any, 0, values)
	for _, rows := range a {
		for _, row := range rows {
			args = append(args, row...)
		}
	}
	return counts, args
}

// addsOpen reports whether there are ledger records of a subject whose ledgers the rows do not close.
func (a *Rows) addsOpen() bool {
	return slices.ContainsFunc(slices.Concat(a[Consents:Requests+1]...), func(row []any) bool {
		return !slices.ContainsFunc(a[LedgerClosings], func(closing []any) bool {
			return subjectOfRow(closing) == subjectOfRow(row)
		})
	})
}

// granted returns the subjects of the consents that are given.
func (a *Rows) granted() (ids []string) {
	const granted = 3 // see insertedColumns
	for _, row := range a[Consents] {
		if row[granted] == true {
			ids = append(ids, subjectOfRow(row))
		}
	}
	return ids
}

// maxCachedRows is the largest number of rows for which inserts caches the text of a statement. Most requests add fewer
// rows.
const maxCachedRows = 16

// text returns the statement of a shape. If the database combines changes, all kinds are common table expressions: WITH
// k1 AS (INSERT ...), k4 AS (INSERT ...) SELECT ... Alone, the last kind is the statement itself.
func (i *inserts) text(s shape) string {
	if kept, ok := i.texts.Load(s); ok {
		text, _ := kept.(string) // every value is a string
		return text
	}
	var parts, added []string
	templates := &i.templates
	if s.alone {
		templates = &i.alone.inserts
		parts = append(parts, "refused AS MATERIALIZED ("+i.alone.refused(s.counts)+")")
	}
	rows, values, last := 0, 0, ""
	for k, n := range s.counts {
		if n == 0 {
			continue
		}
		last = templates[k].text(n, &values)
		if Kind(k) == LedgerClosings {
			last = syntax.Fill(last, "added consents", addedRecords(s.counts, Consents),
				"added restrictions", addedRecords(s.counts, Restrictions), "added requests", addedRecords(s.counts, Requests))
		}
		if Kind(k).IsLedger() {
			added = append(added, "SELECT subject_id FROM "+kindName(Kind(k)))
		}
		parts = append(parts, kindName(Kind(k))+" AS ("+last+")")
		rows += n
	}
	switch {
	case s.alone:
		last = "WITH " + strings.Join(parts[:len(parts)-1], ", ") + " " + last
	case i.combinesChanges:
		last = "WITH " + strings.Join(parts, ", ") + " "
		if s.findsErased {
			last += syntax.Fill(i.erased, "added", strings.Join(added, " UNION ALL ")) + " UNION ALL "
		}
		last += i.inFront
	}
	if rows <= maxCachedRows {
		i.texts.Store(s, last)
	}
	return last
}

// kindName returns the name of the common table expression for a kind.
func kindName(k Kind) string { return "k" + strconv.Itoa(int(k)) }

// addedRecords returns the part of the statement of LedgerClosings that reads the records that the same statement adds
// to the ledger. PostgreSQL does not show these records in the table. In a database that has a separate statement for
// each kind, counts has no records of the ledger.
func addedRecords(counts [KindCount]int, ledger Kind) string {
	if counts[ledger] == 0 {
		return ""
	}
	return " UNION ALL SELECT k.seq FROM " + kindName(ledger) + " AS k WHERE k.subject_id = e.subject_id"
}

const (
	clearReasons = `
		UPDATE {restrictions} SET reason = NULL
		WHERE reason IS NOT NULL AND subject_id IN (`

	insertRows = `INSERT INTO {into} ({columns}) VALUES `

	// insertLocked inserts rows into a ledger. The condition in whereLocked first locks the ledgers of the subject, so
	// that the sequence numbers of the rows follow the order in which their transactions commit. See LockLedgers.
	insertLocked = `
		INSERT INTO {into} ({columns})
		SELECT v.* FROM (VALUES `

	whereLocked = `) AS v ({columns}) WHERE {lock} IS NOT NULL`

	// closeLedgers makes all records of a subject belong to an earlier life of the id. It also sets the creation time of
	// the row that the erasure has found, unless it is NULL. Its rows have the id and this time. closeLedgers keeps
	// {added consents} and so on for the method text.
	closeLedgers = `
		UPDATE {erasures} AS e SET added_at = COALESCE(v.column2, e.added_at),
			consents_until = COALESCE((SELECT max(s.seq) FROM (
				SELECT c.seq FROM {consents} AS c WHERE c.subject_id = e.subject_id{added consents}) AS s), 0),
			restrictions_until = COALESCE((SELECT max(s.seq) FROM (
				SELECT r.seq FROM {restrictions} AS r WHERE r.subject_id = e.subject_id{added restrictions}) AS s), 0),
			requests_until = COALESCE((SELECT max(s.seq) FROM (
				SELECT r.seq FROM {requests} AS r WHERE r.subject_id = e.subject_id{added requests}) AS s), 0)
		FROM (VALUES `

	whereClosed = `) AS v WHERE e.subject_id = v.column1`

	// selectErased ends a combined statement that adds records to a ledger, and returnErased the statement of a ledger.
	// The combined statement may wait for the lock of an erasure, and then does not see its mark. The function does.
	selectErased  = `SELECT k.subject_id, CAST(NULL AS text) FROM ({added}) AS k WHERE {is erased}(k.subject_id)`
	selectInFront = `SELECT CAST(NULL AS text), f.name FROM ({in front}) AS f (name)`

	returnErased = `(SELECT e.subject_id FROM {erasures} AS e
		WHERE e.erasures > 0 AND e.subject_id = {into}.subject_id)`

	returnRecord = `RETURNING seq, subject_id`
)

// insertTemplate is the text of the statement for one kind, without the placeholders of its rows.
type insertTemplate struct {
	before, after string   // the text before and after the placeholders
	columns       int      // the number of values of a row
	types         []string // casts of the parameters of the first row; nil if the statement needs no casts
}

// text returns the statement for the given number of rows. *parameters is the number of placeholders that the complete
// statement contains so far. text increases it by the number of new placeholders.
func (f *insertTemplate) text(rows int, parameters *int) string {
	var text strings.Builder
	text.WriteString(f.before)
	for i := range rows {
		if i > 0 {
			text.WriteString(", ")
		}
		for j := range f.columns {
			before := ", "
			if j == 0 {
				before = "("
			}
			*parameters++
			text.WriteString(before + syntax.Placeholder(*parameters))
			if i == 0 && f.types != nil {
				text.WriteString(f.types[j])
			}
		}
		text.WriteByte(')')
	}
	text.WriteString(f.after)
	return text.String()
}

func newTemplates(tables syntax.Tables, d syntax.Dialect) (templates [KindCount]insertTemplate) {
	combines, returning := d.CombinesChanges(), func(string) string { return "" }
	if !combines {
		returning = func(erased string) string {
			return " " + tables.Fill("RETURNING {erased}, ({in front})", "erased", erased, "in front", tables.InFront(d))
		}
	}
	templates[ReasonClearings] = insertTemplate{
		before: tables.Fill(clearReasons), after: ")" + returning("NULL"), columns: 1,
	}
	templates[LedgerClosings] = insertTemplate{
		before: tables.Fill(closeLedgers), after: whereClosed + returning("NULL"), columns: len(castTypes[LedgerClosings]),
		types: typesFor(d, LedgerClosings),
	}
	for k := Consents; k < LedgerClosings; k++ {
		text := func(text string) string {
			return tables.Fill(text, "into", TableOf(tables, k), "columns", insertedColumns[k],
				"lock", LockLedgers(d, tables, "v.subject_id"))
		}
		insert := insertTemplate{before: text(insertRows) + " ", after: returning("NULL"), columns: len(castTypes[k])}
		switch {
		case k.IsLedger() && combines:
			insert.before, insert.types = text(insertLocked)+" ", castTypes[k]
			insert.after = text(whereLocked) + " " + returnRecord
		case k.IsLedger():
			insert.after = returning(text(returnErased))
		}
		templates[k] = insert
	}
	return templates
}

// typesFor returns the casts of the parameters of a kind, or nil if the database needs none.
func typesFor(d syntax.Dialect, k Kind) []string {
	return syntax.Choose(d, castTypes[k], nil)
}

// TableOf returns the table into which the rows of a kind are inserted.
func TableOf(t syntax.Tables, k Kind) string {
	return [KindCount]string{
		Consents: t.Consents, Restrictions: t.Restrictions, Requests: t.Requests, Entries: t.Outbox, Events: t.Events,
	}[k]
}

// LockLedgers returns an expression that takes an advisory lock until the transaction ends. Every transaction that
// appends to a ledger of the subject, or changes its mark, takes this lock first. Such transactions then run one after
// another, and the records of a subject get their sequence numbers in the order in which their transactions commit.
// All ledgers have one lock, so that no order between them can be wrong. The oid of a table in its key keeps it apart
// from the locks of other data maps, and of the application. LockLedgers returns TRUE if the database allows only one
// writer at a time.
func LockLedgers(d syntax.Dialect, tables syntax.Tables, subject string) string {
	if !d.CombinesChanges() {
		return "TRUE"
	}
	return tables.Fill("pg_advisory_xact_lock(hashtextextended("+subject+", "+syntax.Oid+"))",
		"table", syntax.Literal(tables.Erasures))
}
