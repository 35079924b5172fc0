package bunstore

import (
	"context"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Rehearse implements ports.SessionFactory. On SQLite, it reads every table that has deferrable foreign keys, and other
// sessions cannot write until it returns.
func (s *Store) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	ctx, err := s.enter(ctx)
	if err != nil {
		return err
	}
	session := s.newReader()
	return session.rehearse(ports.WithRehearsal(ctx), fn)
}

// Rehearse implements ports.SessionFactory. It always returns domain.ErrSession.
func (*Joined) Rehearse(context.Context, func(context.Context, ports.Session) error) error {
	return &domain.Error{
		Code: domain.ErrSession, Op: "rehearse", Message: "a rehearsal needs a transaction of its own: in a transaction of " +
			"the application, it would check changes that the application has not finished",
	}
}

// Probe implements ports.SessionFactory. It always returns domain.ErrSession.
func (*Joined) Probe(context.Context) error {
	return &domain.Error{
		Code: domain.ErrSession, Op: "probe", Message: "a transaction of the application cannot be probed: probe its store",
	}
}

// rehearse calls fn, checks the constraints that a commit would check, and rolls the session back, even if fn panics.
func (s *session) rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	defer func() {
		s.db.Ended = true
		s.db.RollBack(ctx)
	}()
	err := fn(ctx, s)
	if err == nil {
		err = s.db.Failed
	}
	if err == nil {
		err = s.checkCommit(ctx)
	}
	return err
}

// checkCommit inserts the buffered rows and returns the error that a commit would return.
func (s *session) checkCommit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "commit", err)
	}
	if err := s.ledger.Flush(ctx); err != nil || s.db.Tx == nil {
		return err
	}
	text := live.CheckDeferred(s.store.dialect)
	if text == "" {
		return s.checkKeys(ctx)
	}
	_, err := s.db.Write(ctx, "commit", text)
	return s.db.NameTrigger("commit", err)
}

// checkKeys returns domain.ErrConflict if the session violates a deferred foreign key of SQLite. It counts the
// violations of each foreign key, rolls the session back, and counts them again. If a number is lower after the
// rollback, the session has added violations. Violations from before the session do not count, because a commit does
// not fail because of them.
func (s *session) checkKeys(ctx context.Context) error {
	broken, err := s.brokenKeys(ctx)
	if err != nil || len(broken) == 0 {
		return err
	}
	s.db.RollBack(ctx)
	if key, ok := s.brokenNow(ctx, broken); ok {
		return &domain.Error{Code: domain.ErrConflict, Op: "commit", Message: key.Refusal()}
	}
	return s.db.Failed
}

// brokenNow returns a foreign key of which more rows are broken than in the database. The transaction in which they
// were counted must have ended.
func (s *session) brokenNow(ctx context.Context, broken map[live.ForeignKey]int64) (live.ForeignKey, bool) {
	if len(broken) == 0 {
		return live.ForeignKey{}, false
	}
	before, err := s.brokenKeys(ctx)
	for key, n := range broken {
		if err == nil && n > before[key] {
			return key, true
		}
	}
	return live.ForeignKey{}, false
}

func (s *session) brokenKeys(ctx context.Context) (map[live.ForeignKey]int64, error) {
	return s.store.schemas.ReadBrokenKeys(ctx, s.db.QueryFor("commit"))
}
