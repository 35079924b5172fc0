package porttest

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// because is a restriction with a reason, from a source by which it is known.
func because(id domain.SubjectID, purpose *string, source, reason string) domain.RestrictionRecord {
	record := ordered(id, purpose, source, true, 0)
	record.Reason = &reason
	return record
}

// without is the record as it is once its reason was cleared.
func without(record domain.RestrictionRecord) domain.RestrictionRecord {
	record.Reason = nil
	return record
}

// expectReasons checks the whole history, the reasons included.
func expectReasons(t testing.TB, store Store, want ...domain.RestrictionRecord) {
	t.Helper()
	restrictions.expect(t, "the history", restrictions.all(t, store, want[0].SubjectID, want[0].Purpose), want...)
}

func restrictionReasonsAreCleared(t testing.TB, h StoreHarness) {
	id, other := subject(t, "acme", 1), subject(t, "acme", 2)
	for _, inOne := range inOneAndMany {
		global, lifted := because(id, nil, "global", "wrong"), because(id, nil, "lifted", "right again")
		lifted.Restricted = false
		silent, scoped := ordered(id, nil, "silent", true, 5), because(id, pointer("news"), "scoped", "")
		kept := because(other, nil, "another", "too many")
		store := restrictions.with(t, h, inOne, global, lifted, silent, scoped, kept)
		own := because(id, nil, "own", "of the same session")
		do(t, store, func(ctx context.Context, s ports.Session) error {
			if err := s.Restrictions().Append(ctx, own); err != nil {
				return err
			}
			return s.Restrictions().ClearReasons(ctx, id)
		})
		expectReasons(t, store, without(global), without(lifted), silent, without(own))
		expectReasons(t, store, without(scoped))
		expectReasons(t, store, kept)
	}
}

func restrictionReasonsGivenLaterStay(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	before, later := because(id, nil, "before", "wrong"), because(id, nil, "later", "still wrong")
	store := restrictions.with(t, h, true, before)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		if err := s.Restrictions().ClearReasons(ctx, id); err != nil {
			return err
		}
		global, _, err := s.Restrictions().Latest(ctx, id, nil)
		if err != nil {
			return err
		}
		assert(t, global != nil && global.Reason == nil, "the session that cleared a reason reads it")
		return s.Restrictions().ClearReasons(ctx, id)
	})
	do(t, store, func(ctx context.Context, s ports.Session) error {
		if err := s.Restrictions().ClearReasons(ctx, id); err != nil {
			return err
		}
		return s.Restrictions().Append(ctx, later)
	})
	expectReasons(t, store, without(before), later)
}

func restrictionReasonsComeBackWithARollback(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	record := because(id, nil, "api", "wrong")
	store := restrictions.with(t, h, true, record)
	undone := errors.New("undone")
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if err := s.Restrictions().ClearReasons(ctx, id); err != nil {
			return err
		}
		if _, err := s.Restrictions().History(ctx, id, nil); err != nil { // so that nothing is held back
			return err
		}
		return undone
	})
	assert(t, errors.Is(err, undone), "the session ended with another error than its own: %v", err)
	expectReasons(t, store, record)
}
