package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type consentStore struct{ *session }

func (s *session) Consents() ports.ConsentStore { return consentStore{s} }

func (c consentStore) Append(ctx context.Context, r domain.ConsentRecord) error {
	return c.buffer(ctx, sqltext.Consents, r.SubjectID.String(), r.Purpose, r.PolicyVersion, r.Granted,
		c.store.dialect.Instant(r.RecordedAt), r.Source)
}

func (c consentStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	if err := c.sendConsents(ctx); err != nil {
		return nil, err
	}
	if err := c.db.Ready(ctx); err != nil {
		return nil, err
	}
	if asOf == nil && c.db.Tx == nil {
		q := &lookup{subject: id, purpose: purpose}
		var err error
		// A shared statement (one statement for several sessions) gets the purposes of its sessions as JSON. Bytes that are
		// not valid UTF-8 would change in JSON. A purpose with such bytes therefore gets a separate statement.
		if c.store.canShare() && utf8.ValidString(purpose) {
			err = c.store.lookups.Do(ctx, q)
		} else {
			err = c.store.lookUpOne(ctx, q)
		}
		if err != nil {
			return nil, c.db.Fail(ctx, "read consent", err)
		}
		return c.ofThisLife(ctx, id, q.record, q.earlier)
	}
	text, args := c.store.ledgers.LatestConsent, []any{id.String(), purpose}
	if asOf != nil {
		text, args = c.store.ledgers.LatestConsentAsOf, append(args, c.store.dialect.Instant(*asOf))
	}
	var latest *domain.ConsentRecord
	var earlier sql.NullBool
	err := c.db.Read(ctx, "read consent", func(rows *sql.Rows) (err error) {
		latest, err = scanConsent(rows, &earlier)
		latest.SubjectID, latest.Purpose = id, purpose
		return err
	}, text, args...)
	if err != nil {
		return nil, err
	}
	return c.ofThisLife(ctx, id, latest, earlier.Bool)
}

// ofThisLife returns the record, or nil if it is a record of an earlier life of the id that does not count any more.
func (c consentStore) ofThisLife(
	ctx context.Context, id domain.SubjectID, record *domain.ConsentRecord, earlier bool,
) (*domain.ConsentRecord, error) {
	if !earlier {
		return record, nil
	}
	if keeps, err := c.keepsEarlier(ctx, id); err != nil || !keeps {
		return nil, err
	}
	return record, nil
}

func (c consentStore) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return c.readRecords(ctx, id, purpose, c.store.ledgers.ConsentHistory)
}

func (c consentStore) HistoryOfAllLives(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return c.readRecords(ctx, id, purpose, c.store.ledgers.ConsentsOfAllLives)
}

func (c consentStore) InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error) {
	if c.prefetched != nil && c.prefetched.SubjectID == id {
		return slices.Clone(c.prefetched.ConsentsInForce), c.db.Usable()
	}
	if err := c.sendConsents(ctx); err != nil {
		return nil, err
	}
	var records, earlier []domain.ConsentRecord
	err := c.db.Read(ctx, "read consents", func(rows *sql.Rows) error {
		var purpose string
		var isEarlier sql.NullBool
		record, err := scanConsent(rows, &isEarlier, &purpose)
		record.SubjectID, record.Purpose = id, purpose
		if isEarlier.Bool {
			earlier = append(earlier, *record)
		} else {
			records = append(records, *record)
		}
		return err
	}, c.store.ledgers.ConsentsInForce, id.String())
	if err != nil || len(earlier) == 0 {
		return records, err
	}
	if keeps, err := c.keepsEarlier(ctx, id); err != nil || !keeps {
		return records, err
	}
	return append(earlier, records...), nil
}

func (c consentStore) readRecords(
	ctx context.Context, id domain.SubjectID, purpose, text string,
) ([]domain.ConsentRecord, error) {
	if err := c.sendConsents(ctx); err != nil {
		return nil, err
	}
	var records []domain.ConsentRecord
	err := c.db.Read(ctx, "read consent", func(rows *sql.Rows) error {
		record, err := scanConsent(rows)
		record.SubjectID, record.Purpose = id, purpose
		records = append(records, *record)
		return err
	}, text, id.String(), purpose)
	return records, err
}

// sendConsents inserts the buffered rows if there are consent records among them, so that the next statement on
// consents sees these records.
func (c consentStore) sendConsents(ctx context.Context) error {
	if len(c.buffered[sqltext.Consents]) == 0 {
		return nil
	}
	return c.flush(ctx)
}

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

// newLookups returns a batcher for the lookups (reads of the latest consent) of concurrent sessions that have no
// transaction.
func newLookups(s *Store) *batch.Batcher[*lookup] {
	return &batch.Batcher[*lookup]{Run: s.lookUp, Keep: (*lookup).keep, RetryAlone: func(error) bool { return true }}
}

// lookUp runs one or more lookups (reads of the latest consent) in one statement.
func (s *Store) lookUp(ctx context.Context, lookups ...*lookup) error {
	if len(lookups) == 1 {
		return s.lookUpOne(ctx, lookups[0])
	}
	pairs := make([]string, len(lookups))
	for i, q := range lookups {
		pairs[i] = q.pair
	}
	return s.pool.Query(ctx, func(rows *sql.Rows) error {
		var n int
		var earlier sql.NullBool
		record, err := scanConsent(rows, &earlier, &n)
		if err == nil {
			lookups[n-1].take(record, earlier.Bool)
		}
		return err
	}, s.ledgers.LatestConsents, "["+strings.Join(pairs, ",")+"]")
}

func (s *Store) lookUpOne(ctx context.Context, q *lookup) error {
	q.record, q.earlier = nil, false // an attempt that failed may have set them
	return s.pool.QueryDirect(ctx, func(row conn.Row) error {
		var earlier sql.NullBool
		record, err := scanConsent(row, &earlier)
		q.take(record, earlier.Bool)
		return err
	}, s.ledgers.LatestConsent, [...]string{q.subject.String(), q.purpose})
}

// scanConsent scans a consent record from the first columns of a row, and the other columns into targets.
func scanConsent(rows conn.Row, targets ...any) (*domain.ConsentRecord, error) {
	r := &domain.ConsentRecord{}
	columns := []any{&r.PolicyVersion, &r.Granted, (*syntax.Instant)(&r.RecordedAt), &r.Source}
	return r, rows.Scan(append(columns, targets...)...)
}
