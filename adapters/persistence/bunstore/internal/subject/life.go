package subject

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// life is the mark of a subject with the evidence about the subject's row. See domain.Life.
type life struct {
	mark     domain.ErasureMark
	evidence domain.LifeEvidence
}

func (l life) state() domain.SubjectState {
	return domain.SubjectState{
		Present: l.evidence.Present, Life: l.mark.Life(l.evidence), Mark: l.mark, Evidence: l.evidence,
	}
}

// lifeStatements holds the statements about the life of a subject's id (see domain.Life).
type lifeStatements struct {
	// state reads whether the subject's row exists, the preconditions (see lockStatements), the markColumns, the creation
	// time of the row, and its identifying columns. Its parameters are the subject's key and the id. It locks nothing.
	state string
	// register records the registration of a person in the mark. It adds a mark if there is none, but the ledgers have
	// records. Its parameters are the id, the instant, and the creation time of the subject's row.
	register           string
	identifyingColumns int // the number of identifying columns
}

const readState = `
	SELECT {exists}, {preconditions}, {mark}, {row}
	{from} LEFT JOIN {erasures} AS m ON m.subject_id = {subject}`

// newLives returns the statements for the dialect and the tables of w.
func newLives(w *rows.Writer, locks *lockStatements) lifeStatements {
	subject, keys := w.DataMap.SubjectTable(), len(w.DataMap.SubjectTable().SubjectKey)
	id := syntax.Placeholder(keys + 1)
	return lifeStatements{
		state: w.Tables.Fill(readState, "exists", locks.exists, "preconditions", strings.Join(locks.preconditions, ", "),
			"mark", "m."+strings.ReplaceAll(markColumns, ", ", ", m."), "row", strings.Join(lifeOfRow(w), ", "),
			"from", w.FromSubject(0), "subject", id),
		register: w.Tables.Fill(registerPerson, "subject", "$1", "instant", "$2", "added", "$3",
			"type", w.Dialect.InstantType()),
		identifyingColumns: len(plan.Identifying(subject)),
	}
}

// lifeOfRow returns the expressions for the evidence in the subject's row: its creation time (see addedValueOf), and
// the texts of its identifying columns. See domain.LifeEvidence.
func lifeOfRow(w *rows.Writer) []string {
	subject, evidence := w.DataMap.SubjectTable(), []string{addedValueOf(w)}
	for _, column := range plan.Identifying(subject) {
		evidence = append(evidence, "CAST(t0."+syntax.Quote(column.Name)+" AS text)")
	}
	return evidence
}

// addedValueOf returns the expression for the value of plan.AddedAt in the subject's row, or NULL. The function
// plan.ReadAddedAt reads the value.
func addedValueOf(w *rows.Writer) string {
	column, ok := plan.AddedAt(w.DataMap.SubjectTable())
	if !ok {
		return "NULL"
	}
	return w.AddedValue("t0." + syntax.Quote(column.Name))
}

// State implements ports.SubjectStore.
func (s *Work) State(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	key, err := s.key(id)
	if err != nil {
		return domain.SubjectState{}, err
	}
	life, err := s.readLife(ctx, id, key)
	return life.state(), err
}

const registerPerson = `
	INSERT INTO {erasures} AS e (subject_id, erased_at, erasures, intake, registered_at, registered_added_at,
		consents_until, restrictions_until, requests_until)
	SELECT v.id, v.registered, 0, 0, v.registered, v.added, v.consents, v.restrictions, v.requests
	FROM (SELECT CAST({subject} AS text) AS id, CAST({instant} AS {type}) AS registered, CAST({added} AS {type}) AS added,
		COALESCE((SELECT max(seq) FROM {consents} WHERE subject_id = {subject}), 0) AS consents,
		COALESCE((SELECT max(seq) FROM {restrictions} WHERE subject_id = {subject}), 0) AS restrictions,
		COALESCE((SELECT max(seq) FROM {requests} WHERE subject_id = {subject}), 0) AS requests) AS v
	WHERE v.consents > 0 OR v.restrictions > 0 OR v.requests > 0
		OR EXISTS (SELECT 1 FROM {erasures} WHERE subject_id = {subject})
	ON CONFLICT (subject_id) DO UPDATE SET registered_at = excluded.registered_at,
		registered_added_at = excluded.registered_added_at, consents_until = excluded.consents_until,
		restrictions_until = excluded.restrictions_until, requests_until = excluded.requests_until`

// Register implements ports.SubjectStore. It first locks the ledgers of the subject. The next statement then sees each
// record that was taken in before. It also sends the records of this session and the end of an erasure of this session,
// which belong to the life before.
func (s *Work) Register(ctx context.Context, id domain.SubjectID, at time.Time) error {
	if _, err := s.key(id); err != nil {
		return err
	}
	if err := s.unsent.Lock(ctx, id); err != nil {
		return err
	}
	if err := s.unsent.BeginLife(ctx, id); err != nil {
		return err
	}
	state, err := s.State(ctx, id)
	if err != nil {
		return err
	}
	if !state.Present {
		return s.db.Fail(ctx, "register", &domain.Error{
			Code: domain.ErrConflict, Op: "register",
			Message: "the subject's table has no row of the subject: call Register after the insert",
		})
	}
	added, dialect := addedAt(state.Evidence.AddedAt), s.store.dialect
	_, err = s.db.Write(ctx, "register", s.store.lives.register, id.String(), dialect.Instant(at),
		added.parameter(dialect))
	return err
}

// readLife reads the subject's mark and row in one statement, without a lock. It loads the schema into the session.
func (s *Work) readLife(ctx context.Context, id domain.SubjectID, key []any) (found life, err error) {
	row := newLifeRow(s.store.lives)
	present, err := s.checkSubjectRow(ctx, id, row.targets(), s.store.lives.state, withID(key, id)...)
	if err != nil {
		return life{}, s.explain(ctx, "lock subject", err, live.ToRead(s.store.writer.DataMap.SubjectTable().Name))
	}
	if _, err := s.schema.RefuseHidden("read the subject's row"); err != nil {
		return life{}, s.db.Fail(ctx, "state", err)
	}
	if found.mark = row.mark.mark(); row.mark.erasures.Valid {
		found.mark.SubjectID = id
	}
	if present {
		found.evidence = row.evidence(s.store.writer.DataMap)
	}
	return found, nil
}

// CloseEnded closes the ledgers of those erased subjects whose life has ended, after the session has sent records of
// them. Without that, the records would count for the next person with the id. It refuses a consent of such a subject
// whose row is still there, see domain.SubjectState.CheckGrant.
func (s *Work) CloseEnded(ctx context.Context) error {
	erased, granted := s.unsent.TakeErased()
	for _, text := range erased {
		id, err := domain.ParseSubjectID(text)
		if err != nil {
			return s.db.Fail(ctx, "append", err)
		}
		state, err := s.current(ctx, id)
		if err == nil && slices.Contains(granted, text) {
			err = s.db.Fail(ctx, "append", state.CheckGrant())
		}
		if err == nil && state.Life == domain.LifeEnded {
			err = s.unsent.Close(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// current returns the state of a subject that may have been erased. An id that does not fit the key of the subject's
// table has no row.
func (s *Work) current(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	key, err := s.key(id)
	if err != nil {
		return domain.SubjectState{Life: domain.LifeEnded}, nil //nolint:nilerr // no row can have the id
	}
	life, err := s.readLife(ctx, id, key)
	return life.state(), err
}

// KeepsEarlier reports whether the records of an earlier life count for the current status, see domain.Life. They
// count for the withdrawals of an erasure, too.
func (s *Work) KeepsEarlier(ctx context.Context, id domain.SubjectID) (bool, error) {
	if s.unsent.Erasing(id) != nil {
		return true, nil
	}
	state, err := s.current(ctx, id)
	return state.Life.KeepsEarlier(), err
}

// lifeRow holds the scanned columns of a statement that reads a mark and the subject's row.
type lifeRow struct {
	mark  markRow
	added addedAt
	texts []sql.NullString
}

func newLifeRow(lives lifeStatements) *lifeRow {
	return &lifeRow{texts: make([]sql.NullString, lives.identifyingColumns)}
}

func (r *lifeRow) targets() []any { return append(r.mark.targets(), r.rowTargets()...) }

// rowTargets returns the targets of the columns of the subject's row.
func (r *lifeRow) rowTargets() []any {
	return conn.AddTargets([]any{&r.added}, r.texts)
}

func (r *lifeRow) evidence(dataMap datamap.DataMap) domain.LifeEvidence {
	values := make([]any, len(r.texts))
	for i, text := range r.texts {
		if text.Valid {
			values[i] = text.String
		}
	}
	return plan.LifeEvidence(dataMap, time.Time(r.added), values)
}

// addedAt is the creation time of a row, or the zero time. It implements sql.Scanner for the values that
// plan.ReadAddedAt reads.
type addedAt time.Time

// Scan implements sql.Scanner.
func (a *addedAt) Scan(value any) error {
	*a = addedAt(readAdded(value))
	return nil
}

// readAdded returns the creation time that plan.ReadAddedAt reads from a value of a driver, or the zero time.
func readAdded(value any) time.Time {
	if text, ok := value.([]byte); ok {
		value = string(text)
	}
	if at, ok := plan.ReadAddedAt(value); ok {
		return at
	}
	return time.Time{}
}

// parameter returns the parameter of a statement for the creation time: nil for the zero time.
func (a addedAt) parameter(dialect syntax.Dialect) any {
	if time.Time(a).IsZero() {
		return nil
	}
	return dialect.Instant(time.Time(a))
}

// markColumns lists the columns of a mark, after the subject's id.
const markColumns = "erased_at, erasures, intake, swept_at, added_at, registered_at, registered_added_at," +
	" consents_until, restrictions_until, requests_until"

// markRow holds the scanned columns of a mark, see markColumns. All are NULL if there is no mark.
type markRow struct {
	erased, swept, added, registered, registeredAdded  syntax.OptionalInstant
	erasures, intake, consents, restrictions, requests sql.NullInt64
}

func (r *markRow) targets() []any {
	return []any{
		&r.erased, &r.erasures, &r.intake, &r.swept, &r.added, &r.registered, &r.registeredAdded, &r.consents,
		&r.restrictions, &r.requests,
	}
}

func (r *markRow) mark() domain.ErasureMark {
	return domain.ErasureMark{
		ErasedAt: r.erased.OrZero(), Erasures: r.erasures.Int64, Intake: r.intake.Int64, SweptAt: r.swept.OrZero(),
		AddedAt: r.added.OrZero(), RegisteredAt: r.registered.OrZero(), RegisteredAddedAt: r.registeredAdded.OrZero(),
		ConsentsUntil: r.consents.Int64, RestrictionsUntil: r.restrictions.Int64,
		RequestsUntil: r.requests.Int64,
	}
}
