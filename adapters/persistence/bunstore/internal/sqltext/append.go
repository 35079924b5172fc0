package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kind is one of the tables that a session appends to, or a change that is sent with the appended rows.
type Kind int

// The kinds, in the order in which they are sent.
const (
	Clearings Kind = iota // delete the reasons of a subject's restrictions, before later restrictions are inserted
	Consents
	Restrictions
	Entries
	Events
	Kinds // the number of kinds
)

// columns lists the columns that an append fills, in the order of its values.
var columns = [Kinds]string{
	Consents:     "subject_id, purpose, policy_version, granted, recorded_at, source",
	Restrictions: "subject_id, purpose, restricted, reason, recorded_at, source",
	Entries: "entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at," +
		" operation_id",
	Events: "event_id, event_type, subject_ref, occurred_at, payload",
}

// ledgerTypes holds casts to the column types of the ledgers. PostgreSQL does not infer the type of a parameter in a
// subquery.
var ledgerTypes = [Kinds][]string{
	Consents:     {"::text", "::text", "::text", "::boolean", "::timestamptz", "::text"},
	Restrictions: {"::text", "::text", "::boolean", "::text", "::timestamptz", "::text"},
}

// Appends holds the rows that a session has not yet sent, by kind.
type Appends [Kinds][][]any

// Rows returns the number of rows.
func (a *Appends) Rows() int {
	total := 0
	for _, rows := range a {
		total += len(rows)
	}
	return total
}

// Keep copies the rows and their strings. The caller may reuse the memory of its strings.
func (a *Appends) Keep() error {
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

// JoinAppends returns the rows of several sessions, ordered for a shared statement.
func JoinAppends(held []*Appends) (all Appends) {
	for _, one := range held {
		for k, rows := range one {
			all[k] = append(all[k], rows...)
		}
	}
	all.sort()
	return all
}

// sort orders the rows of the ledgers by subject and keeps the order of the rows of each subject. Concurrent statements
// then lock the ledgers in the same order.
func (a *Appends) sort() {
	for _, rows := range a[Consents:Entries] {
		slices.SortStableFunc(rows, func(a, b []any) int { return strings.Compare(subjectOf(a), subjectOf(b)) })
	}
}

// subjectOf returns the subject of a ledger row, which is its first value.
func subjectOf(row []any) string {
	id, _ := row[0].(string)
	return id
}

// Insert is a statement with its parameters.
type Insert struct {
	Text string
	Args []any
}

// Inserts writes the statements that insert appended rows. It is safe for concurrent use.
type Inserts struct {
	joins  bool
	frames [Kinds]frame
	texts  sync.Map // keyed by [Kinds]int, see text
}

// NewInserts returns the Inserts of a database.
func NewInserts(w *Writer) *Inserts {
	return &Inserts{joins: w.Dialect.Joins(), frames: newFrames(w.Tables, w.Dialect)}
}

// IsOne reports whether a single statement inserts all held rows.
func (i *Inserts) IsOne(held *Appends) bool {
	tables := 0
	for _, rows := range held {
		tables += min(len(rows), 1)
	}
	return tables == 1 || tables > 1 && i.joins
}

// Take empties held and returns the statements that insert its rows. If the database can join statements, there is a
// single statement, otherwise one statement per kind.
func (i *Inserts) Take(held *Appends) []Insert {
	var inserts []Insert
	var counts [Kinds]int
	values := 0
	for k, rows := range held {
		if counts[k] = len(rows); counts[k] > 0 {
			values += len(rows) * len(rows[0])
		}
	}
	args := make([]any, 0, values)
	for k, rows := range held {
		for _, row := range rows {
			args = append(args, row...)
		}
		if len(rows) > 0 && !i.joins {
			var only [Kinds]int
			only[k] = counts[k]
			inserts = append(inserts, Insert{i.text(only), args})
			args = nil
		}
	}
	*held = Appends{}
	if len(args) > 0 {
		return []Insert{{i.text(counts), args}}
	}
	return inserts
}

// mostKept is the largest number of rows of a statement whose text is cached. Requests usually append fewer rows.
const mostKept = 16

// text returns the statement that inserts the given number of rows of each kind. All kinds except the last are common
// table expressions.
func (i *Inserts) text(counts [Kinds]int) string {
	if kept, ok := i.texts.Load(counts); ok {
		text, _ := kept.(string) // every value is a string
		return text
	}
	var parts []string
	rows, values := 0, 0
	for k, n := range counts {
		if n > 0 {
			parts = append(parts, i.frames[k].text(n, &values))
			rows += n
		}
	}
	text := parts[len(parts)-1]
	if common := parts[:len(parts)-1]; len(common) > 0 {
		for i := range common {
			common[i] = "i" + strconv.Itoa(i) + " AS (" + common[i] + ")"
		}
		text = "WITH " + strings.Join(common, ", ") + " " + text
	}
	if rows <= mostKept {
		i.texts.Store(counts, text)
	}
	return text
}

// frame holds the text before and after the rows of a kind in a statement.
type frame struct {
	before, after string
	columns       int
	types         []string // casts of the parameters of the first row; nil if the statement needs no casts
}

// text returns the statement for a number of rows. Its parameters are numbered from *values + 1 on, and text advances
// *values.
func (f *frame) text(rows int, values *int) string {
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
			*values++
			text.WriteString(before + parameter(*values))
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

	// insertLocked inserts rows of a ledger while it holds the lock of the subject's ledger, see postgres.lockLedger. The
	// lock orders the sequence numbers of the rows.
	insertLocked = `
		INSERT INTO {into} ({columns})
		SELECT v.* FROM (VALUES `
	whereLocked = `) AS v ({columns}) WHERE {lock} IS NOT NULL`
)

// newFrames returns the frame of each kind.
func newFrames(tables Tables, d Dialect) (frames [Kinds]frame) {
	frames[Clearings] = frame{before: tables.in(clearReasons), after: ")", columns: 1}
	names := [Kinds]string{
		Consents: tables.Consents, Restrictions: tables.Restrictions, Entries: tables.Outbox, Events: tables.Events,
	}
	for k := Consents; k < Kinds; k++ {
		lock := d.lockLedger(k, "v.subject_id")
		text := func(text string) string {
			return fill(text, "into", names[k], "columns", columns[k], "lock", lock)
		}
		frames[k] = frame{before: text(insertRows) + " ", columns: strings.Count(columns[k], ",") + 1}
		if lock != "" {
			frames[k] = frame{
				before: text(insertLocked) + " ", columns: len(ledgerTypes[k]), types: ledgerTypes[k],
				after: text(whereLocked),
			}
		}
	}
	return frames
}
