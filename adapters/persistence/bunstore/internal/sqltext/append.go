package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kind is a kind of row that a session buffers before it sends the row to the database. The statements of
// ReasonClearings and LedgerClosings are UPDATE statements. The statement of every other kind is an INSERT into one
// table.
type Kind int

// The kinds, in the order in which a session sends their rows. ReasonClearings is the first, because it must not remove
// the reasons of restrictions that the session itself adds later. LedgerClosings is the last, because it covers the
// records that the session adds.
const (
	ReasonClearings Kind = iota // a row sets the reasons of a subject's restrictions to NULL
	Consents
	Restrictions
	Entries
	Events
	LedgerClosings // a row makes all records of a subject belong to an earlier life of the id
	KindCount      // the number of kinds
)

// insertedColumns lists the columns that the INSERT of each kind fills, in the order of the values of a row.
var insertedColumns = [KindCount]string{
	Consents:     "subject_id, purpose, policy_version, granted, recorded_at, source",
	Restrictions: "subject_id, purpose, restricted, reason, recorded_at, source",
	Entries: "entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at," +
		" operation_id",
	Events: "event_id, event_type, subject_ref, occurred_at, payload",
}

// ledgerTypes holds a cast for each column of the ledgers, which are the tables of consents and of restrictions.
// insertLocked needs the casts, because PostgreSQL does not infer the types of parameters in a subquery.
var ledgerTypes = [KindCount][]string{
	Consents:     {"::text", "::text", "::text", "::boolean", "::timestamptz", "::text"},
	Restrictions: {"::text", "::text", "::boolean", "::text", "::timestamptz", "::text"},
}

// UnsentRows holds the rows that a session has not sent to the database yet, by kind. A row is the list of the values
// of its columns.
type UnsentRows [KindCount][][]any

// Rows returns the number of rows.
func (a *UnsentRows) Rows() int {
	total := 0
	for _, rows := range a {
		total += len(rows)
	}
	return total
}

// CopyStrings replaces all rows, and the strings in them, by copies. The caller may then reuse the memory of the
// original strings. The error is always nil. It exists only because batch.Batcher.Keep requires a function that returns
// an error.
func (a *UnsentRows) CopyStrings() error {
	for k, rows := range a {
		a[k] = make([][]any, len(rows))
		for i, row := range rows {
			a[k][i] = slices.Clone(row)
			for j, value := range row {
				if text, ok := value.(string); ok {
					a[k][i][j] = strings.Clone(text)
				}
			}
		}
	}
	return nil
}

// MergeUnsent combines the rows of several sessions, so that one statement can insert all of them. It sorts the rows of
// the ledgers, see sortLedgers.
func MergeUnsent(sessions []*UnsentRows) (all UnsentRows) {
	for _, one := range sessions {
		for k, rows := range one {
			all[k] = append(all[k], rows...)
		}
	}
	all.sortLedgers()
	return all
}

// sortLedgers sorts the rows of the ledgers (consents and restrictions) by subject, and keeps the order of the rows of
// each subject. All statements then lock the ledgers in the order of the subjects, which prevents deadlocks.
func (a *UnsentRows) sortLedgers() {
	for _, rows := range a[Consents:Entries] {
		slices.SortStableFunc(rows, func(a, b []any) int { return strings.Compare(subjectOfRow(a), subjectOfRow(b)) })
	}
}

// subjectOfRow returns the subject's id, which is the first value of each row of the ledgers (consents and
// restrictions).
func subjectOfRow(row []any) string {
	id, _ := row[0].(string)
	return id
}

// Insert is a statement that writes buffered rows, with its parameters. If it adds rows to ledgers, Subjects are the
// subjects of these rows. In a database that combines changes, the number of rows of the statement is then the number
// of those subjects that were erased before. In another database, the statement returns for each row the subject's id
// if the subject was erased before, and otherwise NULL.
type Insert struct {
	Text     string
	Args     []any
	Subjects []string
}

// Inserts builds the statements that write buffered rows. It is safe for concurrent use.
type Inserts struct {
	combinesChanges bool
	templates       [KindCount]insertTemplate
	erased          string   // the end of a combined statement that returns erased subjects
	texts           sync.Map // the texts of statements by [KindCount]int, see the method text
}

// NewInserts returns the Inserts for the dialect and the tables of w.
func NewInserts(w *Writer) *Inserts {
	return &Inserts{
		combinesChanges: w.Dialect.CombinesChanges(), templates: newTemplates(w.Tables, w.Dialect),
		erased: w.Tables.fill(selectErased),
	}
}

// FitsOneStatement reports whether one statement can write all rows of unsent.
func (i *Inserts) FitsOneStatement(unsent *UnsentRows) bool {
	tables := 0
	for _, rows := range unsent {
		tables += min(len(rows), 1)
	}
	return tables == 1 || tables > 1 && i.combinesChanges
}

// IsLedger reports whether the rows of a kind are records of a ledger.
func (k Kind) IsLedger() bool { return k == Consents || k == Restrictions }

// Take returns the statements that write the rows of unsent, and empties unsent. If the database can combine several
// INSERT and UPDATE statements, one statement writes all kinds. Otherwise each kind has its own statement.
func (i *Inserts) Take(unsent *UnsentRows) []Insert {
	var inserts []Insert
	var counts [KindCount]int
	var subjects []string
	values := 0
	for k, rows := range unsent {
		if counts[k] = len(rows); counts[k] > 0 {
			values += len(rows) * len(rows[0])
		}
	}
	args := make([]any, 0, values)
	for k, rows := range unsent {
		for _, row := range rows {
			args = append(args, row...)
			if Kind(k).IsLedger() {
				subjects = append(subjects, subjectOfRow(row))
			}
		}
		if len(rows) > 0 && !i.combinesChanges {
			var only [KindCount]int
			only[k] = counts[k]
			inserts = append(inserts, Insert{i.text(only), args, subjects})
			args, subjects = nil, nil
		}
	}
	*unsent = UnsentRows{}
	if len(args) > 0 {
		return []Insert{{i.text(counts), args, subjects}}
	}
	return inserts
}

// maxCachedRows is the largest number of rows for which Inserts caches the text of a statement. Most requests add fewer
// rows.
const maxCachedRows = 16

// text returns the statement that writes the given number of rows of each kind. All kinds except the last are common
// table expressions: WITH k1 AS (INSERT ...), k4 AS (INSERT ...) UPDATE ... If records are added to a ledger, all kinds
// are common table expressions, and the statement returns the erased subjects among the subjects of these records.
func (i *Inserts) text(counts [KindCount]int) string {
	if kept, ok := i.texts.Load(counts); ok {
		text, _ := kept.(string) // every value is a string
		return text
	}
	var parts, added []string
	rows, values, last := 0, 0, ""
	for k, n := range counts {
		if n == 0 {
			continue
		}
		last = i.templates[k].text(n, &values)
		if Kind(k) == LedgerClosings {
			last = fill(last, "added consents", addedRecords(counts, Consents),
				"added restrictions", addedRecords(counts, Restrictions))
		}
		if i.combinesChanges && Kind(k).IsLedger() {
			added = append(added, "SELECT subject_id FROM "+kindName(Kind(k)))
		}
		parts = append(parts, kindName(Kind(k))+" AS ("+last+")")
		rows += n
	}
	switch {
	case len(added) > 0:
		last = "WITH " + strings.Join(parts, ", ") + " " + fill(i.erased, "added", strings.Join(added, " UNION ALL "))
	case len(parts) > 1:
		last = "WITH " + strings.Join(parts[:len(parts)-1], ", ") + " " + last
	}
	if rows <= maxCachedRows {
		i.texts.Store(counts, last)
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
			text.WriteString(before + placeholder(*parameters))
			if i == 0 && f.types != nil {
				text.WriteString(f.types[j])
			}
		}
		text.WriteByte(')')
	}
	text.WriteString(f.after)
	return text.String()
}

const (
	clearReasons = `
		UPDATE {restrictions} SET reason = NULL
		WHERE reason IS NOT NULL AND subject_id IN (`

	insertRows = `INSERT INTO {into} ({columns}) VALUES `

	// insertLocked inserts rows into a ledger (consents or restrictions). The condition in whereLocked first locks the
	// ledger of the subject, so that the sequence numbers of the rows follow the order in which their transactions commit.
	// See postgres.lockLedger.
	insertLocked = `
		INSERT INTO {into} ({columns})
		SELECT v.* FROM (VALUES `
	whereLocked = `) AS v ({columns}) WHERE {lock} IS NOT NULL`

	// closeLedgers keeps {added consents} and {added restrictions} for the method text.
	closeLedgers = `
		UPDATE {erasures} AS e SET
			consents_until = COALESCE((SELECT max(s.seq) FROM (
				SELECT c.seq FROM {consents} AS c WHERE c.subject_id = e.subject_id{added consents}) AS s), 0),
			restrictions_until = COALESCE((SELECT max(s.seq) FROM (
				SELECT r.seq FROM {restrictions} AS r WHERE r.subject_id = e.subject_id{added restrictions}) AS s), 0)
		WHERE e.subject_id IN (`

	// selectErased ends a combined statement that adds records to a ledger, and returnErased the statement of a ledger.
	// The combined statement may wait for the lock of an erasure, and then does not see its mark. The function does.
	selectErased = `SELECT {erased subjects}(ARRAY({added}))`
	returnErased = `RETURNING (SELECT e.subject_id FROM {erasures} AS e
		WHERE e.erasures > 0 AND e.subject_id = {into}.subject_id)`
	returnRecord = `RETURNING seq, subject_id`
)

func newTemplates(tables Tables, d Dialect) (templates [KindCount]insertTemplate) {
	templates[ReasonClearings] = insertTemplate{before: tables.fill(clearReasons), after: ")", columns: 1}
	templates[LedgerClosings] = insertTemplate{before: tables.fill(closeLedgers), after: ")", columns: 1}
	names := [KindCount]string{
		Consents: tables.Consents, Restrictions: tables.Restrictions, Entries: tables.Outbox, Events: tables.Events,
	}
	returning := returnErased
	if d.CombinesChanges() {
		returning = returnRecord
	}
	for k := Consents; k < LedgerClosings; k++ {
		lock := d.lockLedger(tables, k, "v.subject_id")
		text := func(text string) string {
			return tables.fill(text, "into", names[k], "columns", insertedColumns[k], "lock", lock)
		}
		insert := insertTemplate{before: text(insertRows) + " ", columns: strings.Count(insertedColumns[k], ",") + 1}
		if lock != "" {
			insert = insertTemplate{
				before: text(insertLocked) + " ", columns: len(ledgerTypes[k]), types: ledgerTypes[k],
				after: text(whereLocked),
			}
		}
		if k.IsLedger() {
			insert.after += " " + text(returning)
		}
		templates[k] = insert
	}
	return templates
}
