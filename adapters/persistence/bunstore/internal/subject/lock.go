package subject

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// lockStatements holds the statements that lock a subject.
//
// A statement that reads the subject's row returns whether the row exists, and then the preconditions, which the caller
// must check before it continues. The preconditions are the fingerprint and the stored text of each text column of the
// subject's key.
type lockStatements struct {
	// addMark locks the ledgers of a subject, and then adds or updates its mark for an erasure. Its parameters are the id
	// and the markInstant.
	addMark string

	// addMarkAndLock adds or updates the mark like addMark, reads the subject's row like subjectRowAdded, and locks this
	// row. Its parameters are the subject's key and the parameters of addMark. The last column is erased_at of the mark.
	// It is "" for SQLite, because addMark then locks the database.
	addMarkAndLock string

	subjectRow string // reads the preconditions, and whether the subject has a row
	// subjectRowAdded is subjectRow with two further columns: the value from which plan.ReadAddedAt reads the creation
	// time, and erased_at of the mark. Its parameters are the subject's key and the id.
	subjectRowAdded string
	transaction     string // see dialect.transaction
	levels          []rows.LockLevel
	tables          []string // the tables whose rows are locked
	textElements    []int    // the indexes of the subject's key columns that hold texts
	exists          string   // the expression that reports whether the subject has a row
	preconditions   []string // the expressions of the preconditions
	erasures        string   // returns the number of committed erasures of the subject $1
}

const (
	addMark = `
		INSERT INTO {erasures} AS e (subject_id, erased_at, erasures{column})
		SELECT CAST({subject} AS text), {instant}, 1{number}
		WHERE CASE WHEN {ledgers} IS NOT NULL THEN {lock condition} END
		ON CONFLICT (subject_id) DO UPDATE SET erased_at = excluded.erased_at, erasures = e.erasures + 1,
			intake = excluded.intake, registered_at = NULL, registered_added_at = NULL`

	countErasures = `SELECT erasures FROM {erasures} WHERE subject_id = $1`
	readRow       = `SELECT {exists}, {preconditions} {from}`
	readErasedAt  = `(SELECT e.erased_at FROM {erasures} AS e WHERE e.subject_id = {subject})`

	// The statement adds the mark before it locks the subject's row, because FOR UPDATE locks this row only after the
	// join with the mark.
	addMarkAndLock = `
		WITH mark AS ({mark}
			RETURNING e.erased_at)
		SELECT {exists}, {preconditions}, mark.erased_at
		FROM {table} AS t0 CROSS JOIN mark
		WHERE {rows}
		FOR UPDATE OF t0`
)

// newLocks returns the statements that lock the subjects of the data map of w.
func newLocks(w *rows.Writer) *lockStatements {
	subject := w.DataMap.SubjectTable()
	l := &lockStatements{
		erasures:      w.Tables.Fill(countErasures),
		transaction:   dialectOf(w.Dialect).transaction(),
		preconditions: []string{live.Fingerprint(w.Dialect, w.Touched, w.Tables)},
	}
	for i, name := range subject.SubjectKey {
		if column, _ := subject.Column(name); column.Type == datamap.TypeText {
			l.textElements = append(l.textElements, i)
			l.preconditions = append(l.preconditions, "CAST(t0."+syntax.Quote(name)+" AS text)")
		}
	}
	exists, preconditions := "t0."+syntax.Quote(subject.SubjectKey[0])+" IS NOT NULL", strings.Join(l.preconditions, ", ")
	l.exists = exists
	l.subjectRow = syntax.Fill(readRow, "exists", exists, "preconditions", preconditions, "from", w.FromSubject(0))
	keys := len(subject.SubjectKey)
	preconditions += ", " + addedValueOf(w)
	erasedAt := w.Tables.Fill(readErasedAt, "subject", syntax.Placeholder(keys+1))
	l.subjectRowAdded = syntax.Fill(readRow, "exists", exists, "preconditions", preconditions+", "+erasedAt,
		"from", w.FromSubject(0))
	l.addMark = addMarkStatement(w, 1)
	if w.Dialect.ForUpdate() == "" {
		return l
	}
	l.addMarkAndLock = w.Tables.Fill(addMarkAndLock, "exists", exists, "preconditions", preconditions,
		"mark", addMarkStatement(w, keys+1),
		"table", syntax.QuoteTable(subject.Name), "rows", w.RowsOf(subject, datamap.Path{}, 0))
	l.levels, l.tables = w.LockLevels()
	l.tables = append([]string{subject.Name}, l.tables...)
	return l
}

// addMarkStatement returns the statement that adds or updates the mark of a subject. The number first is that of the
// first of its parameters.
func addMarkStatement(w *rows.Writer, first int) string {
	column, number, lockCondition := dialectOf(w.Dialect).intakeParts(w.Tables)
	subject := syntax.Placeholder(first)
	return w.Tables.Fill(addMark, "subject", subject,
		"ledgers", unsent.LockLedgers(w.Dialect, w.Tables, "CAST("+subject+" AS text)"),
		"instant", dialectOf(w.Dialect).erasureInstant(w.Tables, syntax.Placeholder(first+1), syntax.Placeholder(first+2)),
		"column", column, "number", number, "lock condition", lockCondition)
}

// Lock implements ports.SubjectStore. It locks the following, in this order:
//
//   - the subject's ledgers
//   - the mark
//   - the subject's row, unless it is one of a view whose rows PostgreSQL cannot lock
//   - the rows to which other tables refer, for example the orders to which order lines refer. They are locked level by
//     level. All rows of a level are the same number of relations away from the subject's row.
//
// Register, LockToRectify, Rectify and Sweep first lock the ledgers, too, as does each record. Sessions of the same
// subject therefore run one after another from there on, and cannot deadlock. Each level has its own statement. This
// statement also sees the rows that other transactions have committed while the statement before it waited for locks.
func (s *Work) Lock(ctx context.Context, id domain.SubjectID, at time.Time) (time.Time, error) {
	key, err := s.key(id)
	if err != nil {
		return time.Time{}, err
	}
	if err := s.requireReadCommitted(ctx, "lock subject", "an erasure"); err != nil {
		return time.Time{}, err
	}
	if err := s.unsent.LockOthers(ctx, id); err != nil {
		return time.Time{}, err
	}
	if err := s.makeDurable(ctx); err != nil {
		return time.Time{}, err
	}
	if err := s.db.OverwriteDeleted(ctx); err != nil {
		return time.Time{}, err
	}
	mark := append([]any{id.String()}, dialectOf(s.store.dialect).markInstant(at)...)
	locks := s.store.locks
	if locks.addMarkAndLock == "" { // SQLite: the write lock of the database replaces the locks on rows
		if _, err = s.db.Write(ctx, "lock subject", locks.addMark, mark...); err == nil {
			err = s.readSubjectRowAdded(ctx, id, key)
		}
		return s.erasedAt(id), err
	}
	if err := s.db.Begin(ctx); err != nil {
		return time.Time{}, err
	}
	if err := s.lockRows(ctx, id, key, mark); err != nil {
		return time.Time{}, s.explain(ctx, "lock subject", err, live.NeedsOf(locks.tables, live.ToUpdate)...)
	}
	return s.erasedAt(id), nil
}

// lockRows adds the erasure to the mark. It locks the mark, the subject's row, and the rows to which other tables
// refer, for example the orders to which order lines refer. The parameter mark has the parameters of addMark.
func (s *Work) lockRows(ctx context.Context, id domain.SubjectID, key, mark []any) error {
	locks := s.store.locks
	lockable, err := s.locksSubject(ctx, key)
	if err != nil {
		return err
	}
	var row erasedRow
	found := false
	if lockable {
		found, err = s.checkSubjectRow(ctx, id, row.targets(), locks.addMarkAndLock, slices.Concat(key, mark)...)
	} else {
		_, err = s.db.Write(ctx, "lock subject", locks.addMark, mark...)
	}
	switch {
	case err != nil:
		if conn.IsUnlockable(err) { // a view has taken the place of a table
			s.store.schemas.Forget()
		}
		return err
	case found:
		s.unsent.Erase(row.of(id))
	default:
		if err := s.readSubjectRowAdded(ctx, id, key); err != nil {
			return err
		}
	}
	return s.lockLevels(ctx, "lock subject", key)
}

// locksSubject reports whether the database can lock the subject's row. If a view may be among the tables, it reads the
// schema before the statement that locks: PostgreSQL refuses to lock the rows of some views, for example of one with
// GROUP BY. The mark is then the only lock.
func (s *Work) locksSubject(ctx context.Context, key []any) (bool, error) {
	last := s.store.schemas.LastRead()
	if s.store.locks.addMarkAndLock == "" || last != nil && !last.MayNotLock() {
		return true, nil
	}
	schema, err := s.store.schemas.ReadBoth(ctx, s.db.QueryFor("inspect"))
	if err != nil {
		return false, err
	}
	s.schema, s.fresh = schema, true
	if err := s.tryLocks(ctx, key); err != nil {
		return false, err
	}
	return s.schema.Locks(s.store.writer.DataMap.SubjectTable().Name), nil
}

// tryLocks finds out whether PostgreSQL can lock the rows of each view, once for each definition.
func (s *Work) tryLocks(ctx context.Context, key []any) error {
	for _, view := range s.schema.Untried() {
		var refusal error
		_, err := s.db.Try(ctx, "inspect", false, func() error {
			refusal = s.db.Read(ctx, "inspect", conn.Ignore, s.store.writer.ExplainLock(view), key...)
			return refusal
		})
		if err != nil {
			return err
		}
		s.schema.NoteLock(view.Name, refusal)
	}
	return nil
}

// lockLevels locks the rows to which other tables refer, after the subject's row. It refuses tables whose rows the
// database cannot lock.
func (s *Work) lockLevels(ctx context.Context, op string, key []any) error {
	if s.schema != nil && len(s.store.locks.tables) > 0 {
		if err := s.schema.RefuseUnlocked(s.store.locks.tables[1:]...); err != nil {
			return s.db.Fail(ctx, op, err)
		}
	}
	for _, level := range s.store.locks.levels {
		if err := s.db.WriteRows(ctx, op, conn.Ignore, level.Text, slices.Repeat(key, level.Tables)...); err != nil {
			return err
		}
	}
	return nil
}

// LockToRectify implements ports.SubjectStore. It locks the ledgers of the subject, so that other sessions that lock
// the subject wait until this transaction ends.
func (s *Work) LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	key, err := s.key(id)
	if err != nil {
		return domain.SubjectState{}, err
	}
	if err := s.unsent.Lock(ctx, id); err != nil {
		return domain.SubjectState{}, err
	}
	life, err := s.readLife(ctx, id, key)
	return life.state(), err
}

// erasedAt returns the instant in the mark of a subject that the session has locked for an erasure.
func (s *Work) erasedAt(id domain.SubjectID) time.Time {
	if erasing := s.unsent.Erasing(id); erasing != nil {
		return erasing.At
	}
	return time.Time{}
}

// makeDurable applies Options.SynchronousCommit to the transaction, and begins the transaction if the session has none.
// If the option is not set, makeDurable does nothing.
func (s *Work) makeDurable(ctx context.Context) error {
	value := s.store.synchronousCommit
	if value == "" {
		return nil
	}
	if err := s.db.Begin(ctx); err != nil {
		return err
	}
	_, err := s.db.Tx.Exec(ctx, "SET LOCAL synchronous_commit TO "+value)
	return s.db.Fail(ctx, "lock subject", err)
}
