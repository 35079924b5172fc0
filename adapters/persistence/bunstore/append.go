package bunstore

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/domain"
)

// kind is one of the tables that a session appends to, or a change that travels with what is appended.
type kind int

const (
	clearings kind = iota // of the reasons of a subject's restrictions; sent before those that are appended later
	consents
	restrictions
	entries
	events
	kinds // how many there are
)

// columns are those that an append fills, in the order of its values.
var columns = [kinds]string{
	consents:     "subject_id, purpose, policy_version, granted, recorded_at, source",
	restrictions: "subject_id, purpose, restricted, reason, recorded_at, source",
	entries:      "entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at",
	events:       "event_id, event_type, subject_ref, occurred_at, payload",
}

// appends are the rows that a session holds back, by table.
type appends [kinds][][]any

// most bounds how many rows a session holds back: few enough for the parameters of one statement, which SQLite looks up
// one by one.
const most = 100

// hold keeps a row back, and sends everything once it is much.
func (s *session) hold(ctx context.Context, k kind, row ...any) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.held[k] = append(s.held[k], row)
	if k != events {
		s.ahead = nil
	}
	total := 0
	for _, rows := range s.held {
		total += len(rows)
	}
	if total < most {
		return nil
	}
	return s.flush(ctx)
}

// isOneStatement reports whether one statement inserts all that is held.
func (a *appends) isOneStatement(store *Store) bool {
	tables := 0
	for _, rows := range a {
		tables += min(len(rows), 1)
	}
	return tables == 1 || tables > 1 && store.dialect.joins()
}

// keep copies the rows with their strings, which may lie in memory that the caller uses again.
func (a *appends) keep() error {
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

// joinedAppends are the rows of several sessions, ordered for a shared statement.
func joinedAppends(held []*appends) (all appends) {
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
func (a *appends) sort() {
	for _, rows := range a[consents:entries] {
		slices.SortStableFunc(rows, func(a, b []any) int { return strings.Compare(subjectOf(a), subjectOf(b)) })
	}
}

// subjectOf is the first value of a ledger's row.
func subjectOf(row []any) string {
	id, _ := row[0].(string)
	return id
}

// newAppending batches the rows of sessions that only append.
func newAppending(s *Store) *batch.Batcher[*appends] {
	return &batch.Batcher[*appends]{Run: s.append, Keep: (*appends).keep, RetryAlone: refused}
}

// append inserts what one session or several hold, in one statement.
func (s *Store) append(ctx context.Context, held ...*appends) error {
	all := *held[0]
	if len(held) > 1 {
		all = joinedAppends(held)
	}
	turn, err := s.enterToWrite(ctx)
	if err != nil {
		return err
	}
	defer turn.leave()
	insert := all.take(s)[0]
	return s.dialect.execAlone(ctx, s.db, insert.text, insert.args)
}

// insert is a statement with its parameters.
type insert struct {
	text string
	args []any
}

// take empties what is held into one statement per kind, or into a single statement where the database can join them.
func (a *appends) take(store *Store) []insert {
	var inserts []insert
	var counts [kinds]int
	values := 0
	for k, rows := range a {
		if counts[k] = len(rows); counts[k] > 0 {
			values += len(rows) * len(rows[0])
		}
	}
	args := make([]any, 0, values)
	for k, rows := range a {
		for _, row := range rows {
			args = append(args, row...)
		}
		if len(rows) > 0 && !store.dialect.joins() {
			var only [kinds]int
			only[k] = counts[k]
			inserts = append(inserts, insert{store.insertText(only), args})
			args = nil
		}
	}
	*a = appends{}
	if len(args) > 0 {
		return []insert{{store.insertText(counts), args}}
	}
	return inserts
}

// mostKept is how many rows a statement has at most whose text is kept. Requests have fewer.
const mostKept = 16

// insertText is the statement that inserts the given number of rows of each kind. All but the last kind are common
// table expressions.
func (s *Store) insertText(counts [kinds]int) string {
	if kept, ok := s.inserts.Load(counts); ok {
		text, _ := kept.(string) // as all of them
		return text
	}
	var parts []string
	rows, values := 0, 0
	for k, n := range counts {
		if n > 0 {
			parts = append(parts, s.frames[k].text(n, &values))
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
		s.inserts.Store(counts, text)
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

// newFrames writes the statements of the kinds around their rows. A row of a ledger is numbered under the lock of the
// subject's ledger, see postgres.lockLedger.
func newFrames(tables tableNames, d sqlDialect) (frames [kinds]frame) {
	frames[clearings] = frame{
		before:  "UPDATE " + tables.restrictions + " SET reason = NULL WHERE reason IS NOT NULL AND subject_id IN (",
		after:   ")",
		columns: 1,
	}
	names := [kinds]string{
		consents: tables.consents, restrictions: tables.restrictions, entries: tables.outbox, events: tables.events,
	}
	for k := consents; k < kinds; k++ {
		into := "INSERT INTO " + names[k] + " (" + columns[k] + ") "
		frames[k] = frame{before: into + "VALUES ", columns: strings.Count(columns[k], ",") + 1}
		if lock := d.lockLedger(k, "v.subject_id"); lock != "" {
			frames[k] = frame{
				before: into + "SELECT v.* FROM (VALUES ", columns: len(ledgerTypes[k]), types: ledgerTypes[k],
				after: ") AS v (" + columns[k] + ") WHERE " + lock + " IS NOT NULL",
			}
		}
	}
	return frames
}

// ledgerTypes are casts to the types of the ledgers' columns, which a parameter in a subquery does not take by itself.
var ledgerTypes = [kinds][]string{
	consents:     {"::text", "::text", "::text", "::boolean", "::timestamptz", "::text"},
	restrictions: {"::text", "::text", "::boolean", "::text", "::timestamptz", "::text"},
}

// asJSON encodes what is stored as JSON.
func asJSON(op string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", &domain.Error{Op: op, Message: "a value cannot be stored as JSON", Err: err}
	}
	return string(text), nil
}
