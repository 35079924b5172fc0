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

// sort orders the rows of the ledgers by subject and keeps the order of each subject's rows. Statements of several
// sessions then lock the ledgers in the same order.
func (a *appends) sort() {
	for _, rows := range a[consents:entries] {
		slices.SortStableFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	}
}

// newAppending batches the rows of sessions that only append.
func newAppending(s *Store) *batch.Batcher[*appends] {
	return &batch.Batcher[*appends]{Run: s.append, Keep: (*appends).keep, RetryAlone: refused}
}

// append inserts what one session or several hold, in one statement.
func (s *Store) append(ctx context.Context, held ...*appends) error {
	var all appends
	for _, one := range held {
		for k, rows := range one {
			all[k] = append(all[k], rows...)
		}
	}
	if len(held) > 1 {
		all.sort()
	}
	leave, err := s.enterToWrite(ctx)
	if err != nil {
		return err
	}
	defer leave()
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
	var args []any
	for k, rows := range a {
		if len(rows) == 0 {
			continue
		}
		if !store.dialect.joins() {
			args = nil
		}
		var text strings.Builder
		frame := &store.frames[k]
		text.WriteString(frame.before)
		for i, row := range rows {
			if i > 0 {
				text.WriteString(", ")
			}
			for j, value := range row {
				args = append(args, value)
				text.WriteString([...]string{"($", ", $"}[min(j, 1)])
				text.WriteString(strconv.Itoa(len(args)))
				if i == 0 && frame.types != nil {
					text.WriteString(frame.types[j])
				}
			}
			text.WriteByte(')')
		}
		text.WriteString(frame.after)
		inserts = append(inserts, insert{text.String(), args})
	}
	*a = appends{}
	if len(inserts) < 2 || !store.dialect.joins() {
		return inserts
	}
	return []insert{{joinInserts(inserts), args}}
}

// frame is what surrounds the rows of a kind in their statement.
type frame struct {
	before, after string
	types         []string // casts of the first row's parameters; nil where the statement needs none
}

// newFrames writes the statements of the kinds around their rows. A row of a ledger is numbered under the lock of the
// subject's ledger, see postgres.lockLedger.
func newFrames(tables tableNames, d sqlDialect) (frames [kinds]frame) {
	frames[clearings] = frame{
		before: "UPDATE " + tables.restrictions + " SET reason = NULL WHERE reason IS NOT NULL AND subject_id IN (", after: ")",
	}
	names := [kinds]string{
		consents: tables.consents, restrictions: tables.restrictions, entries: tables.outbox, events: tables.events,
	}
	for k := consents; k < kinds; k++ {
		into := "INSERT INTO " + names[k] + " (" + columns[k] + ") "
		frames[k] = frame{before: into + "VALUES "}
		if lock := d.lockLedger(k, "v.subject_id"); lock != "" {
			frames[k] = frame{
				before: into + "SELECT v.* FROM (VALUES ", types: ledgerTypes[k],
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

// joinInserts makes one statement of several: all but the last become common table expressions.
func joinInserts(inserts []insert) string {
	var text strings.Builder
	last := len(inserts) - 1
	for i, insert := range inserts[:last] {
		text.WriteString([]string{"WITH i", ", i"}[min(i, 1)] + strconv.Itoa(i) + " AS (" + insert.text + ")")
	}
	return text.String() + " " + inserts[last].text
}

// asJSON encodes what is stored as JSON.
func asJSON(op string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", &domain.Error{Op: op, Message: "a value cannot be stored as JSON", Err: err}
	}
	return string(text), nil
}
