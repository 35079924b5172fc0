package ledger

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// texts holds the statements that read the ledgers of a subject and its audit trail. $1 is the id of the subject. After
// the columns of a record, the statements on the latest records and on the consents in force return whether the record
// belongs to an earlier life of the id, or NULL if the subject has no mark. The statements on the histories leave out
// such records, except consentsOfAllLives.
type texts struct {
	// latestConsent reads the latest consent for the purpose $2. It is the most frequent statement, because it runs
	// before each use of personal data.
	latestConsent      string
	latestConsentAsOf  string // the latest consent for the purpose $2 that was recorded at or before $3
	consentsInForce    string // the latest consent for each purpose; the last column is the purpose
	consentHistory     string // all consents for the purpose $2
	consentsOfAllLives string // all consents for the purpose $2, of all lives of the id

	latestRestriction  string // the latest restriction without a purpose
	latestRestrictions string // the latest restriction without a purpose, and the latest restriction for the purpose $2
	globalHistory      string // all restrictions without a purpose
	purposeHistory     string // all restrictions for the purpose $2

	trail string // the audit trail
}

// newTexts returns the statements on the ledgers.
func newTexts(tables syntax.Tables) texts {
	consents := func(statement, until string) string {
		return tables.Fill(statement, "until", until, "subject", "$1")
	}
	restrictions := func(statement string) string {
		return tables.Fill(statement, "until", EarlierUntil(tables, unsent.Restrictions, "$1"))
	}
	until := EarlierUntil(tables, unsent.Consents, "$1")
	return texts{
		latestConsent:      consents(latestConsent, until),
		latestConsentAsOf:  consents(latestConsentAsOf, until),
		consentsInForce:    consents(ReadConsentsInForce, until),
		consentHistory:     consents(consentHistory, until),
		consentsOfAllLives: consents(consentHistory, "NULL"),
		latestRestriction:  restrictions(latestRestriction),
		latestRestrictions: restrictions(latestRestrictions),
		globalHistory:      restrictions(globalHistory),
		purposeHistory:     restrictions(purposeHistory),
		trail:              tables.Fill(trail),
	}
}

// readEarlierUntil is the highest number of a record that belongs to an earlier life of the id, or NULL.
const readEarlierUntil = `(SELECT m.{column} FROM {erasures} AS m WHERE m.subject_id = {subject})`

// untilColumns has the columns of a mark with the highest numbers of records that belong to an earlier life.
var untilColumns = map[unsent.Kind]string{
	unsent.Consents: "consents_until", unsent.Restrictions: "restrictions_until", unsent.Requests: "requests_until",
}

// EarlierUntil returns the expression for the highest number of a record in a ledger that belongs to an earlier life of
// the subject's id. It is NULL if the subject has no mark.
func EarlierUntil(t syntax.Tables, ledger unsent.Kind, subject string) string {
	return t.Fill(readEarlierUntil, "column", untilColumns[ledger], "subject", subject)
}

type consents struct{ l *Session }

// Consents returns the port on the session.
func (l *Session) Consents() ports.ConsentStore { return consents{l} }

func (c consents) Append(ctx context.Context, r domain.ConsentRecord) error {
	return c.l.unsent.Add(ctx, unsent.Consents, r.SubjectID.String(), r.Purpose, r.PolicyVersion, r.Granted,
		c.l.store.dialect.Instant(r.RecordedAt), r.Source)
}

const (
	latestConsent = `
		SELECT policy_version, granted, recorded_at, source, seq <= {until}
		FROM {consents}
		WHERE subject_id = $1 AND purpose = $2
		ORDER BY seq DESC LIMIT 1`

	latestConsentAsOf = `
		SELECT policy_version, granted, recorded_at, source, seq <= {until}
		FROM {consents}
		WHERE subject_id = $1 AND purpose = $2 AND recorded_at <= $3
		ORDER BY seq DESC LIMIT 1`
)

func (c consents) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	if err := c.l.send(ctx, unsent.Consents); err != nil {
		return nil, err
	}
	if err := c.l.db.Ready(ctx); err != nil {
		return nil, err
	}
	if asOf == nil && c.l.db.Tx == nil {
		record, earlier, err := c.l.store.lookUp(ctx, id, purpose)
		if err != nil {
			return nil, c.l.db.Fail(ctx, "read consent", err)
		}
		return c.ofThisLife(ctx, id, record, earlier)
	}
	text, args := c.l.store.texts.latestConsent, []any{id.String(), purpose}
	if asOf != nil {
		text, args = c.l.store.texts.latestConsentAsOf, append(args, c.l.store.dialect.Instant(*asOf))
	}
	var latest *domain.ConsentRecord
	var earlier sql.NullBool
	err := c.l.db.Read(ctx, "read consent", func(rows *sql.Rows) (err error) {
		latest, err = scanConsent(rows, &earlier)
		latest.SubjectID, latest.Purpose = id, purpose
		return err
	}, text, args...)
	if err != nil {
		return nil, err
	}
	return c.ofThisLife(ctx, id, latest, earlier.Bool)
}

// lookUp returns the latest consent record of a subject for a purpose, or nil. It reports whether the record belongs to
// an earlier life of the id.
func (s *Store) lookUp(
	ctx context.Context, id domain.SubjectID, purpose string,
) (record *domain.ConsentRecord, earlier bool, err error) {
	err = s.pool.QueryDirect(ctx, func(row conn.Row) (err error) {
		var isEarlier sql.NullBool
		record, err = scanConsent(row, &isEarlier)
		record.SubjectID, record.Purpose, earlier = id, purpose, isEarlier.Bool
		return err
	}, s.texts.latestConsent, [...]string{id.String(), purpose})
	return record, earlier, err
}

// ofThisLife returns the record, or nil if it is a record of an earlier life of the id that does not count any more.
func (c consents) ofThisLife(
	ctx context.Context, id domain.SubjectID, record *domain.ConsentRecord, earlier bool,
) (*domain.ConsentRecord, error) {
	if !earlier {
		return record, nil
	}
	if keeps, err := c.l.lives.KeepsEarlier(ctx, id); err != nil || !keeps {
		return nil, err
	}
	return record, nil
}

const consentHistory = `
	SELECT policy_version, granted, recorded_at, source
	FROM {consents}
	WHERE subject_id = $1 AND purpose = $2 AND seq > COALESCE({until}, 0)
	ORDER BY seq`

func (c consents) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return c.readRecords(ctx, id, purpose, c.l.store.texts.consentHistory)
}

func (c consents) HistoryOfAllLives(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return c.readRecords(ctx, id, purpose, c.l.store.texts.consentsOfAllLives)
}

func (c consents) readRecords(
	ctx context.Context, id domain.SubjectID, purpose, text string,
) ([]domain.ConsentRecord, error) {
	if err := c.l.send(ctx, unsent.Consents); err != nil {
		return nil, err
	}
	var records []domain.ConsentRecord
	err := c.l.db.Read(ctx, "read consent", func(rows *sql.Rows) error {
		record, err := scanConsent(rows)
		record.SubjectID, record.Purpose = id, purpose
		records = append(records, *record)
		return err
	}, text, id.String(), purpose)
	return records, err
}

// ReadConsentsInForce reads the latest consent of {subject} for each purpose. {until} is the highest number of a record
// of an earlier life.
const ReadConsentsInForce = `
	SELECT policy_version, granted, recorded_at, source, seq <= {until}, purpose
	FROM {consents}
	WHERE subject_id = {subject}
		AND seq IN (SELECT max(seq) FROM {consents} WHERE subject_id = {subject} GROUP BY purpose)
	ORDER BY seq`

func (c consents) InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error) {
	if read := c.l.unsent.Prefetched; read != nil && read.SubjectID == id {
		return slices.Clone(read.ConsentsInForce), c.l.db.Usable()
	}
	if err := c.l.send(ctx, unsent.Consents); err != nil {
		return nil, err
	}
	var records, earlier []domain.ConsentRecord
	err := c.l.db.Read(ctx, "read consents", func(rows *sql.Rows) error {
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
	}, c.l.store.texts.consentsInForce, id.String())
	if err != nil || len(earlier) == 0 {
		return records, err
	}
	if keeps, err := c.l.lives.KeepsEarlier(ctx, id); err != nil || !keeps {
		return records, err
	}
	return append(earlier, records...), nil
}

// scanConsent scans a consent record from the first columns of a row, and the other columns into targets.
func scanConsent(rows conn.Row, targets ...any) (*domain.ConsentRecord, error) {
	r := &domain.ConsentRecord{}
	columns := []any{&r.PolicyVersion, &r.Granted, (*syntax.Instant)(&r.RecordedAt), &r.Source}
	return r, rows.Scan(append(columns, targets...)...)
}
