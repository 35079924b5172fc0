package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type subjectStore struct{ *session }

func (s *session) Subjects() ports.SubjectStore { return subjectStore{s} }

// Lock implements ports.SubjectStore. It locks these rows, in this order:
//
//   - the mark
//   - the subject's row
//   - the rows to which other tables refer, for example the orders to which order lines refer. They are locked level by
//     level. All rows of a level are the same number of relations away from the subject's row.
//
// Every session locks in this order, so that sessions that lock the same subject cannot deadlock. Each level has its
// own statement. This statement also sees the rows that other transactions have committed while the statement before it
// waited for locks.
func (s subjectStore) Lock(ctx context.Context, id domain.SubjectID, at time.Time) (time.Time, error) {
	if err := s.lockAt(ctx, id, sqltext.MarkInstant(s.store.dialect, at, false)); err != nil {
		return time.Time{}, err
	}
	return s.erasedAt(id), nil
}

// lockAt locks the subject like Lock. The parameter at is the result of sqltext.Dialect.MarkInstant.
func (s subjectStore) lockAt(ctx context.Context, id domain.SubjectID, at [2]any) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	if err := s.requireReadCommitted(ctx, "lock subject", "an erasure"); err != nil {
		return err
	}
	if err := s.makeDurable(ctx); err != nil {
		return err
	}
	if err := s.db.OverwriteDeleted(ctx); err != nil {
		return err
	}
	locks := s.store.locks
	if locks.AddMarkAndLock == "" { // SQLite: the write lock of the database replaces the locks on rows
		if _, err := s.db.Write(ctx, "lock subject", locks.AddMark, id.String(), at[0], at[1]); err != nil {
			return err
		}
		return s.readSubjectRowAdded(ctx, id, key)
	}
	if err := s.db.Begin(ctx); err != nil {
		return err
	}
	if err := s.lockRows(ctx, id, key, at); err != nil {
		return s.explain(ctx, "lock subject", err, live.ToLock(s.store.locks.Tables)...)
	}
	return nil
}

// erasedAt returns the instant in the mark of a subject that the session has locked for an erasure.
func (s *session) erasedAt(id domain.SubjectID) time.Time {
	for _, e := range s.erasing {
		if e.id == id {
			return e.at
		}
	}
	return time.Time{}
}

// erasedSubject is a subject that a session has locked for an erasure, with the instant in its mark (the row that
// records the erasure), and with the creation time of the row that the erasure has found.
type erasedSubject struct {
	id    domain.SubjectID
	at    time.Time
	added addedAt
}

// closeAfter makes the session complete the mark of the subject when it sends its records: it stores the creation time
// of the row that the erasure has found, and all records of the subject then belong to an earlier life of the id.
func (s *session) closeAfter(id domain.SubjectID, at time.Time, added addedAt) {
	i := slices.IndexFunc(s.erasing, func(e erasedSubject) bool { return e.id == id })
	switch {
	case i < 0:
		s.erasing = append(s.erasing, erasedSubject{id, at, added})
	case time.Time(added).IsZero():
		s.erasing[i].at = at
	default:
		s.erasing[i] = erasedSubject{id, at, added}
	}
}

// Closings returns the rows that complete the marks of the erased subjects.
func (s *session) Closings() (rows [][]any) {
	for _, e := range s.erasing {
		rows = append(rows, []any{e.id.String(), e.added.parameter(s.store.dialect)})
	}
	return rows
}

// IsErasing reports whether the session has locked the subject for an erasure.
func (s *session) IsErasing(id domain.SubjectID) bool {
	return slices.ContainsFunc(s.erasing, func(e erasedSubject) bool { return e.id == id })
}

// withID returns the parameters of a statement: the subject's key, the id, and further values.
func withID(key []any, id domain.SubjectID, further ...any) []any {
	args := append(make([]any, 0, len(key)+1+len(further)), key...)
	return append(append(args, id.String()), further...)
}

// lockRows adds the erasure to the mark. It locks the mark, the subject's row, and the rows to which other tables
// refer, for example the orders to which order lines refer.
func (s subjectStore) lockRows(ctx context.Context, id domain.SubjectID, key []any, at [2]any) error {
	locks := s.store.locks
	var row erasedRow
	found, err := s.checkSubjectRow(ctx, id, row.targets(), locks.AddMarkAndLock, withID(key, id, at[0], at[1])...)
	if err != nil {
		return err
	}
	if found {
		s.closeAfter(id, row.erased.OrZero(), row.added)
	} else {
		if err := s.readSubjectRowAdded(ctx, id, key); err != nil {
			return err
		}
	}
	if s.catalog != nil {
		if err := s.catalog.RefuseUnlocked(locks.Tables); err != nil {
			return s.db.Fail(ctx, "lock subject", err)
		}
	}
	for _, level := range locks.Levels {
		if err := s.db.WriteRows(ctx, "lock subject", conn.Ignore, level.Text, slices.Repeat(key, level.Tables)...); err != nil {
			return err
		}
	}
	return nil
}

// LockToRectify implements ports.SubjectStore. It locks the mark of the subject. If the subject has no mark,
// LockToRectify inserts one and deletes it in the same transaction. In both cases, other sessions that lock the subject
// wait until this transaction ends.
func (s subjectStore) LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	key, err := s.key(id)
	if err != nil {
		return domain.SubjectState{}, err
	}
	var erasures int64
	locks := s.store.locks
	err = s.db.WriteRows(ctx, "lock subject", func(rows *sql.Rows) error { return rows.Scan(&erasures) },
		locks.LockMark, id.String(), s.store.dialect.Instant(time.Unix(0, 0)))
	if err == nil && erasures == 0 {
		_, err = s.db.Write(ctx, "lock subject", locks.DeleteUnusedMark, id.String())
	}
	if err != nil {
		return domain.SubjectState{}, err
	}
	life, err := s.readLife(ctx, id, key)
	return life.state(), err
}

// makeDurable applies Options.SynchronousCommit to the transaction, and begins the transaction if the session has none.
// If the option is not set, makeDurable does nothing.
func (s *session) makeDurable(ctx context.Context) error {
	value := s.store.synchronousCommit
	if value == "" {
		return nil
	}
	if err := s.db.Usable(); err != nil {
		return err
	}
	if err := s.db.Begin(ctx); err != nil {
		return err
	}
	_, err := s.db.Tx.Exec(ctx, "SET LOCAL synchronous_commit TO "+value)
	return s.db.Fail(ctx, "lock subject", err)
}

// requireReadCommitted returns domain.ErrSession if a transaction of the application has another isolation level than
// READ COMMITTED. Such a transaction does not see rows that are committed while it runs. The store's own transactions
// are READ COMMITTED. The parameter action is the beginning of the error message.
func (s *session) requireReadCommitted(ctx context.Context, op, action string) error {
	if !s.db.Joined || s.store.locks.Transaction == "" {
		return nil
	}
	err := s.readTransaction(ctx, op)
	if isolation := s.host.isolation; err == nil && isolation != "read committed" {
		err = s.db.Fail(ctx, op, &domain.Error{
			Code: domain.ErrSession, Op: op,
			Message: action + " needs a transaction with the isolation level READ COMMITTED, but the transaction has " +
				isolation,
		})
	}
	return err
}

// hostTransaction describes a transaction of the application.
type hostTransaction struct {
	isolation string // "" if it is not known yet
	defers    bool   // the database has triggers that may fire at the commit

	isRead bool                     // late is known
	late   []live.ConstraintTrigger // see lateTriggers
}

// readTransaction reads s.host, once in a session.
func (s *session) readTransaction(ctx context.Context, op string) error {
	if s.host.isolation != "" {
		return nil
	}
	return s.db.Read(ctx, op, func(rows *sql.Rows) error { return rows.Scan(&s.host.isolation, &s.host.defers) },
		s.store.locks.Transaction)
}

// readSubjectRow reads the subject's row without a lock, and checks that the table stores the key with the same bytes
// as the id. It loads the catalog into the session.
func (s subjectStore) readSubjectRow(ctx context.Context, id domain.SubjectID, key []any) error {
	_, err := s.checkSubjectRow(ctx, id, nil, s.store.locks.SubjectRow, key...)
	return s.explain(ctx, "lock subject", err, live.ToRead(s.store.text.DataMap.SubjectTable().Name))
}

// readSubjectRowAdded does the same as readSubjectRow for an erasure. It notes the creation time of the row.
func (s subjectStore) readSubjectRowAdded(ctx context.Context, id domain.SubjectID, key []any) error {
	var row erasedRow
	_, err := s.checkSubjectRow(ctx, id, row.targets(), s.store.locks.SubjectRowAdded, withID(key, id)...)
	s.closeAfter(id, row.erased.OrZero(), row.added)
	return s.explain(ctx, "lock subject", err, live.ToRead(s.store.text.DataMap.SubjectTable().Name))
}

// erasedRow has the columns that an erasure reads with the subject's row: its creation time, and the instant in the
// mark (the row that records the erasure).
type erasedRow struct {
	added  addedAt
	erased syntax.OptionalInstant
}

func (r *erasedRow) targets() []any { return []any{&r.added, &r.erased} }

// checkSubjectRow runs a statement on the subject's row and reports whether the subject has a row. The statement
// returns the fingerprint and the subject's key as the table stores it. checkSubjectRow loads the catalog with this
// fingerprint into the session. It fails if the table stores the key with other bytes than the id has. It scans further
// columns into further.
func (s subjectStore) checkSubjectRow(
	ctx context.Context, id domain.SubjectID, further []any, text string, args ...any,
) (present bool, err error) {
	row := newPreconditions(s.store.locks)
	targets := append(make([]any, 0, 2+len(row.texts)+len(further)), &present, &row.fingerprint)
	for i := range row.texts {
		targets = append(targets, &row.texts[i])
	}
	targets = append(targets, further...)
	matches := true
	err = s.db.Read(ctx, "lock subject", func(rows *sql.Rows) error {
		err := rows.Scan(targets...)
		matches = matches && row.matchTexts(id)
		return err
	}, text, args...)
	switch {
	case err != nil:
		return false, err
	case !matches:
		if err := s.loadCatalog(ctx, row.fingerprint.String); err != nil {
			return false, err
		}
		return false, s.db.Fail(ctx, "lock subject", misspelled(s.catalog, id))
	case !row.fingerprint.Valid: // the statement returned no row
		return false, nil
	}
	return present, s.loadCatalog(ctx, row.fingerprint.String)
}

// readCatalog returns the catalog of the session. It loads the catalog if necessary.
func (s subjectStore) readCatalog(ctx context.Context, id domain.SubjectID, key []any) (*live.Catalog, error) {
	if s.catalog == nil {
		if err := s.readSubjectRow(ctx, id, key); err != nil {
			return nil, err
		}
	}
	return s.catalog, nil
}

// preconditions holds further columns that a statement on the subject's row returns: the fingerprint (a hash of the
// table definitions), and the text columns of the subject's key as the table stores them.
type preconditions struct {
	elements    []int // the indexes of the id's elements that are texts
	fingerprint sql.NullString
	texts       []sql.NullString
}

func newPreconditions(l *sqltext.Locks) *preconditions {
	return &preconditions{elements: l.TextElements, texts: make([]sql.NullString, len(l.TextElements))}
}

func (s *preconditions) targets() []*sql.NullString {
	targets := []*sql.NullString{&s.fingerprint}
	for i := range s.texts {
		targets = append(targets, &s.texts[i])
	}
	return targets
}

// matchTexts reports whether the table stores the texts of the id with the same bytes. matchTexts returns true if the
// subject has no row.
func (s *preconditions) matchTexts(id domain.SubjectID) bool {
	elements := id.Elements()
	for i, text := range s.texts {
		if text.Valid && text.String != elements[s.elements[i]] {
			return false
		}
	}
	return true
}

// misspelled returns the error for an id that the subject's table stores with other bytes.
func misspelled(live *live.Catalog, id domain.SubjectID) error {
	if _, err := live.RefuseConverted(id, "subject"); err != nil {
		return err
	}
	return &domain.Error{
		Code: domain.ErrSubject, Op: "subject",
		Message: "the subject's table stores this id with other characters, such as another case: use the id as it is stored",
	}
}
