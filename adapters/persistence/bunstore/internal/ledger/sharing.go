package ledger

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// CanShare reports whether a session may currently combine its statement with the statements of other sessions. It
// returns false while all connections are busy, because sessions that share a statement would then wait longer than
// other sessions. The combined statement has only one place in the queue for connections, and further sessions that
// share statements wait until the combined statement ends.
func (s *Store) CanShare() bool { return s.sharing && !s.pool.Crowded() }

// lookup is a query for the latest consent record of a subject for a purpose, with its result.
type lookup struct {
	subject domain.SubjectID
	purpose string
	record  *domain.ConsentRecord // the result; nil if the subject has no record for the purpose
	earlier bool                  // the record belongs to an earlier life of the id
	pair    string                // subject and purpose as JSON; set by keep
}

// keep prepares the lookup for a batch. It copies the strings, because the caller may return before the batch ends and
// reuse the memory of the strings.
func (q *lookup) keep() (err error) {
	q.subject = domain.Subject{ID: q.subject}.Clone().ID
	q.purpose = strings.Clone(q.purpose)
	q.pair, err = syntax.JSON("read consent", [...]string{q.subject.String(), q.purpose})
	return err
}

func (q *lookup) take(record *domain.ConsentRecord, earlier bool) {
	record.SubjectID, record.Purpose = q.subject, q.purpose
	q.record, q.earlier = record, earlier
}

// newLookups returns a batcher for the lookups of concurrent sessions that have no transaction.
func newLookups(s *Store) *batch.Batcher[*lookup] {
	return &batch.Batcher[*lookup]{Run: s.lookUp, Keep: (*lookup).keep, RetryAlone: func(error) bool { return true }}
}

const latestConsents = `
	SELECT policy_version, granted, recorded_at, source, seq <= {until of pair}, n
	FROM json_array_elements(CAST($1 AS json)) WITH ORDINALITY AS pairs (pair, n)
	CROSS JOIN LATERAL (
		SELECT policy_version, granted, recorded_at, source, seq
		FROM {consents}
		WHERE subject_id = pair ->> 0 AND purpose = pair ->> 1
		ORDER BY seq DESC LIMIT 1
	) AS latest`

// lookUp runs one or more lookups in one statement.
func (s *Store) lookUp(ctx context.Context, lookups ...*lookup) error {
	if len(lookups) == 1 {
		return s.lookUpOne(ctx, lookups[0])
	}
	return s.pool.Query(ctx, func(rows *sql.Rows) error {
		var n int
		var earlier sql.NullBool
		record, err := scanConsent(rows, &earlier, &n)
		if err == nil {
			lookups[n-1].take(record, earlier.Bool)
		}
		return err
	}, s.texts.latestConsents, "["+syntax.Join(lookups, ",", func(q *lookup) string { return q.pair })+"]")
}

// newAppending returns a batcher for sessions that do nothing but insert records. It combines the inserts of concurrent
// sessions.
func newAppending(s *Store) *batch.Batcher[*UnsentRows] {
	return &batch.Batcher[*UnsentRows]{
		Run: s.Append, Keep: (*UnsentRows).copyStrings, RetryAlone: conn.Refused,
	}
}

// copyStrings replaces all rows, and the strings in them, by copies. The caller may then reuse the memory of the
// original strings. The error is always nil. It exists only because batch.Batcher.Keep requires a function that returns
// an error.
func (a *UnsentRows) copyStrings() error {
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

// mergeUnsent returns the rows of one session, or combines those of several sessions, so that one statement can insert
// all of them. It then sorts the rows of the ledgers by subject, and keeps the order of the rows of each subject. All
// statements then lock the ledgers in the order of the subjects, which prevents deadlocks.
func mergeUnsent(held []*UnsentRows) (all UnsentRows) {
	if len(held) == 1 {
		return *held[0]
	}
	for _, one := range held {
		for k, rows := range one {
			all[k] = append(all[k], rows...)
		}
	}
	for _, rows := range all[Consents:Entries] {
		slices.SortStableFunc(rows, func(a, b []any) int { return strings.Compare(subjectOfRow(a), subjectOfRow(b)) })
	}
	return all
}

// Waiting returns the number of sessions that wait for a statement that several sessions share.
func (s *Store) Waiting() int { return s.lookups.Waiting() + s.appending.Waiting() }
