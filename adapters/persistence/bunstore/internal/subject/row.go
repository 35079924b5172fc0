package subject

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// requireReadCommitted returns domain.ErrSession if a transaction of the application has another isolation level than
// READ COMMITTED. Such a transaction does not see rows that are committed while it runs. The store's own transactions
// are READ COMMITTED. The parameter action is the beginning of the error message.
func (s *Work) requireReadCommitted(ctx context.Context, op, action string) error {
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
func (s *Work) readTransaction(ctx context.Context, op string) error {
	if s.host.isolation != "" {
		return nil
	}
	return s.db.Read(ctx, op, func(rows *sql.Rows) error { return rows.Scan(&s.host.isolation, &s.host.defers) },
		s.store.locks.Transaction)
}

// readSubjectRow reads the subject's row without a lock, and checks that the table stores the key with the same bytes
// as the id. It loads the catalog into the session.
func (s *Work) readSubjectRow(ctx context.Context, id domain.SubjectID, key []any) error {
	_, err := s.checkSubjectRow(ctx, id, nil, s.store.locks.SubjectRow, key...)
	return s.explain(ctx, "lock subject", err, live.ToRead(s.store.writer.DataMap.SubjectTable().Name))
}

// readSubjectRowAdded does the same as readSubjectRow for an erasure. It notes the creation time of the row.
func (s *Work) readSubjectRowAdded(ctx context.Context, id domain.SubjectID, key []any) error {
	var row erasedRow
	_, err := s.checkSubjectRow(ctx, id, row.targets(), s.store.locks.SubjectRowAdded, withID(key, id)...)
	s.closeAfter(id, row.erased.OrZero(), row.added)
	return s.explain(ctx, "lock subject", err, live.ToRead(s.store.writer.DataMap.SubjectTable().Name))
}

// erasedRow has the columns that an erasure reads with the subject's row: its creation time, and the instant in the
// mark (the row that records the erasure).
type erasedRow struct {
	added  addedAt
	erased syntax.OptionalInstant
}

func (r *erasedRow) targets() []any { return []any{&r.added, &r.erased} }

// withID returns the parameters of a statement: the subject's key, the id, and further values.
func withID(key []any, id domain.SubjectID, further ...any) []any {
	args := append(make([]any, 0, len(key)+1+len(further)), key...)
	return append(append(args, id.String()), further...)
}

// checkSubjectRow runs a statement on the subject's row and reports whether the subject has a row. The statement
// returns the fingerprint and the subject's key as the table stores it. checkSubjectRow loads the catalog with this
// fingerprint into the session. It fails if the table stores the key with other bytes than the id has. It scans further
// columns into further.
func (s *Work) checkSubjectRow(
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
		if err := s.loadSchema(ctx, row.fingerprint.String); err != nil {
			return false, err
		}
		return false, s.db.Fail(ctx, "lock subject", misspelled(s.schema, id))
	case !row.fingerprint.Valid: // the statement returned no row
		return false, nil
	}
	return present, s.loadSchema(ctx, row.fingerprint.String)
}

// preconditions holds further columns that a statement on the subject's row returns: the fingerprint (a hash of the
// table definitions), and the text columns of the subject's key as the table stores them.
type preconditions struct {
	elements    []int // the indexes of the id's elements that are texts
	fingerprint sql.NullString
	texts       []sql.NullString
}

func newPreconditions(l *lockStatements) *preconditions {
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
func misspelled(schema *live.Schema, id domain.SubjectID) error {
	if _, err := schema.RefuseConverted(id, "subject"); err != nil {
		return err
	}
	return &domain.Error{
		Code: domain.ErrSubject, Op: "subject",
		Message: "the subject's table stores this id with other characters, such as another case: use the id as it is stored",
	}
}
