package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type subjectStore struct{ *session }

func (s *session) Subjects() ports.SubjectStore { return subjectStore{s} }

// Lock implements ports.SubjectStore. The mark comes first in every session, then the subject's row, then other rows
// from the subject outwards: sessions that lock one subject never wait for each other in a circle. Each level is a
// statement of its own: it sees the rows that the level before it waited for.
func (s subjectStore) Lock(ctx context.Context, id domain.SubjectID, at time.Time) error {
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
	if err := s.forget(ctx); err != nil {
		return err
	}
	before := s.writes
	locks, instant := s.store.locks, s.store.dialect.Instant(at)
	if locks.MarkAndRow == "" { // the write lock of the database is all that is needed
		if _, err := s.write(ctx, "lock subject", locks.Mark, id.String(), instant); err != nil {
			return err
		}
		_, err := s.look(ctx, id, key)
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if err := s.lockRows(ctx, id, key, instant); err != nil {
		return s.explain(ctx, "lock subject", err, catalog.ToLock(s.store.locks.Tables)...)
	}
	s.locked = &lockedSubject{id, at, s.writes - before}
	return nil
}

// lockRows leaves the mark, and locks the subject's row and those that others reach it through.
func (s subjectStore) lockRows(ctx context.Context, id domain.SubjectID, key []any, instant any) error {
	locks := s.store.locks
	found, err := s.see(ctx, id, locks.MarkAndRow, append(slices.Clone(key), id.String(), instant)...)
	if err != nil {
		return err
	}
	if !found {
		if _, err := s.look(ctx, id, key); err != nil {
			return err
		}
	}
	if s.catalog != nil {
		if err := s.catalog.RefuseUnlocked(locks.Tables); err != nil {
			return s.fail(ctx, "lock subject", err)
		}
	}
	for _, level := range locks.Levels {
		if err := s.writeRows(ctx, "lock subject", conn.Ignore, level.Text, slices.Repeat(key, level.Tables)...); err != nil {
			return err
		}
	}
	return nil
}

// LockToRectify implements ports.SubjectStore. It takes the row of the mark, and removes it again if it is new: others
// wait all the same until this session ends.
func (s subjectStore) LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	key, err := s.key(id)
	if err != nil {
		return domain.SubjectState{}, err
	}
	var erasures int64
	locks := s.store.locks
	err = s.writeRows(ctx, "lock subject", func(rows *sql.Rows) error { return rows.Scan(&erasures) },
		locks.Hold, id.String(), s.store.dialect.Instant(time.Unix(0, 0)))
	if err == nil && erasures == 0 {
		_, err = s.write(ctx, "lock subject", locks.Release, id.String())
	}
	if err != nil {
		return domain.SubjectState{}, err
	}
	present, err := s.look(ctx, id, key)
	return domain.SubjectState{Erased: erasures > 0, Present: present}, err
}

// makeDurable lets the commit of the transaction wait as Options.SynchronousCommit says. It begins the transaction.
func (s *session) makeDurable(ctx context.Context) error {
	value := s.store.synchronousCommit
	if value == "" {
		return nil
	}
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	_, err := s.tx.Exec(ctx, "SET LOCAL synchronous_commit TO "+value)
	return s.fail(ctx, "lock subject", err)
}

// requireReadCommitted refuses a transaction of the application that cannot see rows which are committed while it runs.
// Sessions of our own read what is committed.
func (s *session) requireReadCommitted(ctx context.Context, op, what string) error {
	text := s.store.locks.Isolation
	if text == "" || !s.joined {
		return nil
	}
	var isolation string
	err := s.read(ctx, op, func(rows *sql.Rows) error { return rows.Scan(&isolation) }, text)
	if err == nil && isolation != "read committed" {
		err = s.fail(ctx, op, &domain.Error{
			Code: domain.ErrSession, Op: op,
			Message: what + " needs a transaction with the isolation level READ COMMITTED, this one is " + isolation,
		})
	}
	return err
}

// look reads the subject's row without a lock and reports whether there is one.
func (s subjectStore) look(ctx context.Context, id domain.SubjectID, key []any) (present bool, err error) {
	present, err = s.see(ctx, id, s.store.locks.Look, key...)
	return present, s.explain(ctx, "lock subject", err, catalog.ToRead(s.store.text.DataMap.SubjectTable().Name))
}

// see runs a statement that returns a sight for each row of the subject, and reports whether there was one.
func (s subjectStore) see(
	ctx context.Context, id domain.SubjectID, text string, args ...any,
) (present bool, err error) {
	sight := newSight(s.store.locks)
	targets := []any{&present}
	for _, target := range sight.targets() {
		targets = append(targets, target)
	}
	spelled := true
	err = s.read(ctx, "lock subject", func(rows *sql.Rows) error {
		err := rows.Scan(targets...)
		spelled = spelled && sight.spells(id)
		return err
	}, text, args...)
	switch {
	case err != nil:
		return false, err
	case !spelled:
		return false, s.fail(ctx, "lock subject", misspelled())
	case !sight.fingerprint.Valid: // there was no row
		return false, nil
	}
	return present, s.learn(ctx, sight.fingerprint.String)
}

// readCatalog returns the catalog, which it reads if the session does not know it yet.
func (s subjectStore) readCatalog(ctx context.Context, id domain.SubjectID, key []any) (*catalog.Catalog, error) {
	if s.catalog == nil {
		if _, err := s.look(ctx, id, key); err != nil {
			return nil, err
		}
	}
	return s.catalog, nil
}

// sight is what a statement returns beside the subject's row: the fingerprint of the catalog, and the texts in the
// subject's key as the table spells them.
type sight struct {
	elements    []int // of the id that are texts
	fingerprint sql.NullString
	texts       []sql.NullString
}

func newSight(l *sqltext.Locks) *sight {
	return &sight{elements: l.Spelled, texts: make([]sql.NullString, len(l.Spelled))}
}

func (s *sight) targets() []*sql.NullString {
	targets := []*sql.NullString{&s.fingerprint}
	for i := range s.texts {
		targets = append(targets, &s.texts[i])
	}
	return targets
}

// spells reports whether the table spells the id as it was given, if it has the id at all.
func (s *sight) spells(id domain.SubjectID) bool {
	elements := id.Elements()
	for i, text := range s.texts {
		if text.Valid && text.String != elements[s.elements[i]] {
			return false
		}
	}
	return true
}

func misspelled() error {
	return &domain.Error{
		Code: domain.ErrSubject, Op: "subject", Message: "the subject's table spells the id differently",
	}
}
