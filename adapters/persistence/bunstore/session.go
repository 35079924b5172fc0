package bunstore

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// session implements ports.Session. Its transaction begins with the first statement that needs one; what is appended
// is held until something of the kind is read, until there is much of it, or until the session ends.
type session struct {
	store      *Store
	preserve   func(ctx context.Context, evidence [][]any) error // writes evidence after a rollback
	tx         transaction                                       // nil until begun
	joined     bool                                              // tx is the host's
	subject    domain.SubjectID                                  // the subject of keys
	keys       []any                                             // see key
	writes     int                                               // statements that changed something in tx
	locked     *lockedSubject                                    // the subject that was locked last
	ahead      *ahead                                            // read for the rest of an erasure
	catalog    *catalog                                          // of the application's tables; nil until it is needed
	held       appends
	evidence   [][]any             // events that must outlive a rollback
	onRollback [][]any             // events that only a rollback leaves, behind the evidence
	failed     error               // the first error of a statement; it fails the session
	enqueued   bool                // the outbox has new work once the session has committed
	rectified  []*verifiedStep     // rectifications that must still be there after later ones
	fired      bool                // deferred triggers fire at once
	late       []constraintTrigger // of the application, that do so only for now
	ended      bool
}

var _ ports.Session = (*session)(nil)

func (s *session) Consents() ports.ConsentStore         { return consentStore{s} }
func (s *session) Restrictions() ports.RestrictionStore { return restrictionStore{s} }
func (s *session) Subjects() ports.SubjectStore         { return subjectStore{s} }
func (s *session) Outbox() ports.Outbox                 { return outbox{s} }
func (s *session) Audit() ports.AuditLog                { return auditLog{s} }

// usable is checked before anything is done in the session.
func (s *session) usable() error {
	if s.ended {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "the session has ended"}
	}
	return s.failed
}

// key returns the values of the subject's key columns, which it works out once. The caller must not change them.
func (s *session) key(id domain.SubjectID) ([]any, error) {
	if s.keys != nil && s.subject == id {
		return s.keys, nil
	}
	keys, err := s.store.dataMap.Key(id)
	if err == nil {
		s.subject, s.keys = id, keys
	}
	return keys, err
}

// fail notes the error of a statement, which ends what the session can do, and returns it with a code.
func (s *session) fail(ctx context.Context, op string, err error) error {
	if err != nil && s.failed == nil {
		s.failed = wrap(ctx, op, err)
	}
	return s.failed
}

// begin makes sure that a transaction is open.
func (s *session) begin(ctx context.Context) error {
	if s.tx != nil {
		return nil
	}
	turn, err := s.store.enterToWrite(ctx)
	if err != nil {
		return s.fail(ctx, "begin", err)
	}
	defer func() {
		if s.tx == nil { // also when the driver or a query hook panics
			turn.leave()
		}
	}()
	tx, err := s.store.dialect.begin(ctx, s.store.db)
	if err != nil {
		return s.fail(ctx, "begin", err)
	}
	s.tx = gated{tx, turn}
	return nil
}

// write runs a statement that changes something, in the transaction.
func (s *session) write(ctx context.Context, op, text string, args ...any) (int64, error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	s.writes++
	rows, err := exec(ctx, s.store.db, s.tx.conn(), text, args...)
	return rows, s.fail(ctx, op, err)
}

// read runs a statement that changes nothing: in the transaction if one is open, else without one.
func (s *session) read(ctx context.Context, op string, each func(*sql.Rows) error, text string, args ...any) error {
	if err := s.usable(); err != nil {
		return err
	}
	if s.tx != nil {
		return s.fail(ctx, op, query(ctx, s.store.db, s.tx.conn(), each, text, args...))
	}
	return s.fail(ctx, op, s.store.query(ctx, each, text, args...))
}

// query runs a statement outside a transaction.
func (s *Store) query(ctx context.Context, each func(*sql.Rows) error, text string, args ...any) error {
	if err := s.gate.enter(ctx); err != nil {
		return err
	}
	defer s.gate.leave()
	return query(ctx, s.db, s.db.DB, each, text, args...)
}

// returning runs a statement that changes something, in the transaction, and calls each for every row it returns.
func (s *session) returning(
	ctx context.Context, op string, each func(*sql.Rows) error, text string, args ...any,
) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.writes++
	return s.read(ctx, op, each, text, args...)
}

// commit sends what is held and makes everything durable.
func (s *session) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return wrap(ctx, "commit", err)
	}
	if s.tx == nil && s.held.isOneStatement(s.store) { // which is a transaction of its own
		if s.store.shares() && len(s.evidence)+len(s.onRollback) == 0 { // evidence must not be in doubt
			return s.fail(ctx, "append", s.store.appending.Do(ctx, &s.held))
		}
		return s.fail(ctx, "append", s.store.append(ctx, &s.held))
	}
	if err := s.flush(ctx); err != nil || s.tx == nil {
		return err
	}
	if s.joined {
		if err := s.announceInside(ctx); err != nil {
			return err
		}
	}
	err := s.tx.commit(ctx) // or a panic of a query hook, after which the transaction is rolled back
	s.tx = nil              // ended by its commit, whatever came of it
	return wrap(ctx, "commit", err)
}

// flush sends what is held.
func (s *session) flush(ctx context.Context) error {
	for _, insert := range s.held.take(s.store) {
		if _, err := s.write(ctx, "append", insert.text, insert.args...); err != nil {
			return err
		}
	}
	return nil
}
