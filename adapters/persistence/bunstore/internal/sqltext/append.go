package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kind is one of the tables that a session appends to, or a change that travels with what is appended.
type Kind int

// The kinds in the order in which they are sent.
const (
	Clearings Kind = iota // of the reasons of a subject's restrictions; sent before those that are appended later
	Consents
	Restrictions
	Entries
	Events
	Kinds // how many there are
)

// columns are those that an append fills, in the order of its values.
var columns = [Kinds]string{
	Consents:     "subject_id, purpose, policy_version, granted, recorded_at, source",
	Restrictions: "subject_id, purpose, restricted, reason, recorded_at, source",
	Entries: "entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at," +
		" operation_id",
	Events: "event_id, event_type, subject_ref, occurred_at, payload",
}

// ledgerTypes are casts to the types of the ledgers' columns, which a parameter in a subquery does not take by itself.
var ledgerTypes = [Kinds][]string{
	Consents:     {"::text", "::text", "::text", "::boolean", "::timestamptz", "::text"},
	Restrictions: {"::text", "::text", "::boolean", "::text", "::timestamptz", "::text"},
}

// Appends are the rows that a session holds back, by table.
type Appends [Kinds][][]any

// Rows is how many rows are held.
func (a *Appends) Rows() int {
	total := 0
	for _, rows := range a {
		total += len(rows)
	}
	return total
}

// Keep copies the rows with their strings, which may lie in memory that the caller uses again.
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

// sort orders the rows of the ledgers by subject and keeps the order of each subject's rows. Statements of several
// sessions then lock the ledgers in the same order.
func (a *Appends) sort() {
	for _, rows := range a[Consents:Entries] {
		slices.SortStableFunc(rows, func(a, b []any) int { return strings.Compare(subjectOf(a), subjectOf(b)) })
	}
}

// subjectOf is the first value of a ledger's row.
func subjectOf(row []any) string {
	id, _ := row[0].(string)
	return id
}

// Insert is a statement with its parameters.
type Insert struct {
	Text string
	Args []any
}

// Inserts writes the statements that insert what sessions append. It is safe for concurrent use.
type Inserts struct {
	joins  bool
	frames [Kinds]frame
	texts  sync.Map // by [Kinds]int, see text
}

// NewInserts returns the Inserts of a database.
func NewInserts(w *Writer) *Inserts {
	return &Inserts{joins: w.Dialect.Joins(), frames: newFrames(w.Tables, w.Dialect)}
}

// IsOne reports whether one statement inserts all that is held.
func (i *Inserts) IsOne(held *Appends) bool {
	tables := 0
	for _, rows := range held {
		tables += min(len(rows), 1)
	}
	return tables == 1 || tables > 1 && i.joins
}

// Take empties what is held into one statement per kind, or into a single statement where the database can join them.
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

// mostKept is how many rows a statement has at most whose text is kept. Requests have fewer.
const mostKept = 16

// text is the statement that inserts the given number of rows of each kind. All but the last kind are common table
// expressions.
func (i *Inserts) text(counts [Kinds]int) string {
	if kept, ok := i.texts.Load(counts); ok {
		text, _ := kept.(string) // as all of them
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

// frame is what surrounds the rows of a kind in their statement.
type frame struct {
	before, after string
	columns       int
	types         []string // casts of the first row's parameters; nil where the statement needs none
}

// text is the statement for rows, whose parameters are numbered after values.
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

	// insertLocked numbers rows of a ledger under the lock of the subject's ledger, see postgres.lockLedger.
	insertLocked = `
		INSERT INTO {into} ({columns})
		SELECT v.* FROM (VALUES `
	whereLocked = `) AS v ({columns}) WHERE {lock} IS NOT NULL`
)

// newFrames writes the statements of the kinds around their rows.
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
