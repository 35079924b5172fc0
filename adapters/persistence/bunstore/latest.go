package bunstore

import (
	"context"
	"database/sql"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/domain"
)

// latestConsents are the statements that ask which consent is in force. Nothing is asked more often, for it is asked
// before each use of personal data.
type latestConsents struct {
	of     string // a subject and a purpose
	asOf   string // the same, at an instant
	ofMany string // a JSON array of pairs of a subject and a purpose; each record comes with the pair's number, from 1
	ofAll  string // a subject; each record comes with its purpose
}

func newLatestConsents(table string) latestConsents {
	latest := func(subject, purpose, condition string) string {
		return "SELECT " + consentColumns + " FROM " + table +
			" WHERE subject_id = " + subject + " AND purpose = " + purpose + condition + " ORDER BY seq DESC LIMIT 1"
	}
	return latestConsents{
		of:   latest("$1", "$2", ""),
		asOf: latest("$1", "$2", " AND recorded_at <= $3"),
		ofMany: "SELECT " + consentColumns + ", n" +
			" FROM json_array_elements(CAST($1 AS json)) WITH ORDINALITY AS pairs (pair, n)" +
			" CROSS JOIN LATERAL (" + latest("pair ->> 0", "pair ->> 1", "") + ") AS latest",
		ofAll: inForce(table, "$1"),
	}
}

// inForce is the statement for the consents in force of the subject that a parameter names.
func inForce(table, subject string) string {
	return "SELECT " + consentColumns + ", purpose FROM " + table + " WHERE subject_id = " + subject + " AND seq IN" +
		" (SELECT max(seq) FROM " + table + " WHERE subject_id = " + subject + " GROUP BY purpose) ORDER BY seq"
}

// lookup asks for the consent in force of a subject for a purpose, and holds the record.
type lookup struct {
	subject domain.SubjectID
	purpose string
	record  *domain.ConsentRecord // nil if there is none
	pair    string                // subject and purpose as JSON, set before the lookup waits
}

func (q *lookup) keep() (err error) {
	q.subject = domain.Subject{ID: q.subject}.Clone().ID
	q.purpose = strings.Clone(q.purpose)
	q.pair, err = asJSON("read consent", [...]string{q.subject.String(), q.purpose})
	return err
}

func (q *lookup) take(record domain.ConsentRecord) {
	record.SubjectID, record.Purpose = q.subject, q.purpose
	q.record = &record
}

func (c consentStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	if err := c.sendConsents(ctx); err != nil {
		return nil, err
	}
	if err := c.usable(); err != nil {
		return nil, err
	}
	// JSON would take what is not UTF-8 for something else.
	if asOf == nil && c.tx == nil && c.store.shares() && utf8.ValidString(purpose) {
		q := &lookup{subject: id, purpose: purpose}
		if err := c.store.lookups.Do(ctx, q); err != nil {
			return nil, c.fail(ctx, "read consent", err)
		}
		return q.record, nil
	}
	text, args := c.store.latest.of, []any{id.String(), purpose}
	if asOf != nil {
		text, args = c.store.latest.asOf, append(args, c.store.dialect.instant(*asOf))
	}
	records, err := c.records(ctx, id, purpose, text, args)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	return &records[0], nil
}

// newLookups batches the lookups of sessions that have no transaction.
func newLookups(s *Store) *batch.Batcher[*lookup] {
	return &batch.Batcher[*lookup]{Run: s.lookUp, Keep: (*lookup).keep, RetryAlone: func(error) bool { return true }}
}

// lookUp runs one lookup or several in one statement.
func (s *Store) lookUp(ctx context.Context, lookups ...*lookup) error {
	if len(lookups) == 1 {
		q := lookups[0]
		q.record = nil // of an attempt that failed half-way
		return s.query(ctx, func(rows *sql.Rows) error {
			record, err := scanConsent(rows)
			q.take(record)
			return err
		}, s.latest.of, q.subject.String(), q.purpose)
	}
	pairs := make([]string, len(lookups))
	for i, q := range lookups {
		pairs[i] = q.pair
	}
	return s.query(ctx, func(rows *sql.Rows) error {
		var n int
		record, err := scanConsent(rows, &n)
		if err == nil {
			lookups[n-1].take(record)
		}
		return err
	}, s.latest.ofMany, "["+strings.Join(pairs, ",")+"]")
}

// scanConsent reads the consentColumns of a row, and what follows them.
func scanConsent(rows *sql.Rows, more ...any) (domain.ConsentRecord, error) {
	var r domain.ConsentRecord
	err := rows.Scan(append([]any{&r.PolicyVersion, &r.Granted, (*instant)(&r.RecordedAt), &r.Source}, more...)...)
	return r, err
}
