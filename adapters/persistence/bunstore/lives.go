package bunstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// life is the mark of a subject (the row that records its erasures) with the evidence about the subject's row. See
// domain.Life.
type life struct {
	mark     domain.ErasureMark
	evidence domain.LifeEvidence
}

func (l life) state() domain.SubjectState {
	return domain.SubjectState{
		Present: l.evidence.Present, Life: l.mark.Life(l.evidence), Mark: l.mark, Evidence: l.evidence,
	}
}

// State implements ports.SubjectStore.
func (s subjectStore) State(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	key, err := s.key(id)
	if err != nil {
		return domain.SubjectState{}, err
	}
	life, err := s.readLife(ctx, id, key)
	return life.state(), err
}

// Register implements ports.SubjectStore. On PostgreSQL, a separate statement first locks the ledgers of the subject,
// so that the next statement sees each record that was taken in before.
func (s subjectStore) Register(ctx context.Context, id domain.SubjectID, at time.Time) error {
	state, err := s.State(ctx, id)
	if err != nil {
		return err
	}
	if !state.Present {
		return s.fail(ctx, "register", &domain.Error{
			Code: domain.ErrConflict, Op: "register",
			Message: "the subject's table has no row of the subject: call Register after the insert",
		})
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	lives, dialect := s.store.lives, s.store.dialect
	if lives.LockLedgers != "" {
		if err := s.writeRows(ctx, "register", conn.Ignore, lives.LockLedgers, id.String()); err != nil {
			return err
		}
	}
	added := addedAt(state.Evidence.AddedAt)
	_, err = s.write(ctx, "register", lives.Register, id.String(), dialect.Instant(at), added.parameter(dialect))
	return err
}

// readLife reads the subject's mark and row in one statement, without a lock. It loads the catalog into the session.
func (s subjectStore) readLife(ctx context.Context, id domain.SubjectID, key []any) (found life, err error) {
	row := newLifeRow(s.store.lives)
	present, err := s.checkSubjectRow(ctx, id, row.targets(), s.store.lives.State, withID(key, id)...)
	if err != nil {
		return life{}, s.explain(ctx, "lock subject", err, catalog.ToRead(s.store.text.DataMap.SubjectTable().Name))
	}
	if _, err := s.catalog.RefuseHidden("read the subject's row"); err != nil {
		return life{}, s.fail(ctx, "state", err)
	}
	if found.mark = row.mark.mark(); row.mark.erasures.Valid {
		found.mark.SubjectID = id
	}
	if present {
		found.evidence = row.evidence(s.store.text.DataMap)
	}
	return found, nil
}

// isEnded reports whether the life of an erased subject has ended. An id that does not fit the key of the subject's
// table has no row.
func (s *session) isEnded(ctx context.Context, id domain.SubjectID) (bool, error) {
	key, err := s.key(id)
	if err != nil {
		return true, nil //nolint:nilerr // no row can have the id
	}
	life, err := subjectStore{s}.readLife(ctx, id, key)
	return life.state().Life == domain.LifeEnded, err
}

// keepsEarlier reports whether the records of an earlier life count for the current status, see domain.Life. They
// count for the withdrawals of an erasure, too.
func (s *session) keepsEarlier(ctx context.Context, id domain.SubjectID) (bool, error) {
	if s.isErasing(id) {
		return true, nil
	}
	key, err := s.key(id)
	if err != nil {
		return domain.LifeEnded.KeepsEarlier(), nil //nolint:nilerr // no row can have the id
	}
	life, err := subjectStore{s}.readLife(ctx, id, key)
	return life.state().Life.KeepsEarlier(), err
}

// lifeRow holds the scanned columns of a statement that reads a mark and the subject's row.
type lifeRow struct {
	mark  markRow
	added addedAt
	texts []sql.NullString
}

func newLifeRow(lives sqltext.Lives) *lifeRow {
	return &lifeRow{texts: make([]sql.NullString, lives.IdentifyingColumns)}
}

func (r *lifeRow) targets() []any { return append(r.mark.targets(), r.rowTargets()...) }

// rowTargets returns the targets of the columns of the subject's row.
func (r *lifeRow) rowTargets() []any {
	targets := []any{&r.added}
	for i := range r.texts {
		targets = append(targets, &r.texts[i])
	}
	return targets
}

func (r *lifeRow) evidence(dataMap datamap.DataMap) domain.LifeEvidence {
	texts := make([]string, len(r.texts))
	for i, text := range r.texts {
		texts[i] = text.String
	}
	return dataMap.LifeEvidence(time.Time(r.added), texts)
}

// addedAt is the creation time of a row, or the zero time. It implements sql.Scanner for the values that
// datamap.ReadAddedAt reads.
type addedAt time.Time

// Scan implements sql.Scanner.
func (a *addedAt) Scan(value any) error {
	if text, ok := value.([]byte); ok {
		value = string(text)
	}
	*a = addedAt{}
	if at, ok := datamap.ReadAddedAt(value); ok {
		*a = addedAt(at)
	}
	return nil
}

// parameter returns the parameter of a statement for the creation time: nil for the zero time.
func (a addedAt) parameter(dialect sqltext.Dialect) any {
	if time.Time(a).IsZero() {
		return nil
	}
	return dialect.Instant(time.Time(a))
}

// markRow holds the scanned columns of a mark, see sqltext.MarkColumns. All are NULL if there is no mark.
type markRow struct {
	erased, swept, added, registered, registeredAdded optionalInstant
	erasures, intake, consents, restrictions          sql.NullInt64
}

func (r *markRow) targets() []any {
	return []any{
		&r.erased, &r.erasures, &r.intake, &r.swept, &r.added, &r.registered, &r.registeredAdded, &r.consents,
		&r.restrictions,
	}
}

func (r *markRow) mark() domain.ErasureMark {
	return domain.ErasureMark{
		ErasedAt: r.erased.orZero(), Erasures: r.erasures.Int64, Intake: r.intake.Int64, SweptAt: r.swept.orZero(),
		AddedAt: r.added.orZero(), RegisteredAt: r.registered.orZero(), RegisteredAddedAt: r.registeredAdded.orZero(),
		ConsentsUntil: r.consents.Int64, RestrictionsUntil: r.restrictions.Int64,
	}
}
