package bunstore

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// kind is one of the tables that a session appends to.
type kind int

const (
	consents kind = iota
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
	total := 0
	for _, rows := range s.held {
		total += len(rows)
	}
	if total < most {
		return nil
	}
	return s.flush(ctx)
}

// insert is a statement with its parameters.
type insert struct {
	text string
	args []any
}

// take empties what is held into one insert per table, or into a single statement where the database can join them.
func (a *appends) take(store *Store) []insert {
	var inserts []insert
	var args []any
	names := [kinds]string{store.tables.consents, store.tables.restrictions, store.tables.outbox, store.tables.events}
	for k, rows := range a {
		if len(rows) == 0 {
			continue
		}
		if !store.dialect.joins() {
			args = nil
		}
		var text strings.Builder
		text.WriteString("INSERT INTO " + names[k] + " (" + columns[k] + ") VALUES ")
		for i, row := range rows {
			if i > 0 {
				text.WriteString(", ")
			}
			for j, value := range row {
				args = append(args, value)
				text.WriteString([]string{"($", ", $"}[min(j, 1)] + strconv.Itoa(len(args)))
			}
			text.WriteByte(')')
		}
		inserts = append(inserts, insert{text.String(), args})
	}
	*a = appends{}
	if len(inserts) < 2 || !store.dialect.joins() {
		return inserts
	}
	return []insert{{joinInserts(inserts), args}}
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
