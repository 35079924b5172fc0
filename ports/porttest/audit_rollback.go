package porttest

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// registers appends evidence and other events, and what only a rollback leaves.
func registers(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	return errors.Join(
		s.Audit().AppendOnRollback(ctx, event("rolled-back-0", id)), s.Audit().AppendEvidence(ctx, event("evidence", id)),
		s.Audit().Append(ctx, event("plain", id)),
		s.Audit().AppendOnRollback(ctx, event("rolled-back-1", id), event("rolled-back-2", id)),
	)
}

func auditRollbackLeavesItsEvents(t testing.TB, h StoreHarness) {
	for what, end := range map[string]func(store Store, id domain.SubjectID) error{
		"an error": func(store Store, id domain.SubjectID) error {
			return store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				return errors.Join(registers(ctx, s, id), errFailure)
			})
		},
		"a context": func(store Store, id domain.SubjectID) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			return store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
				defer cancel()
				return registers(ctx, s, id)
			})
		},
		"a failed statement": func(store Store, id domain.SubjectID) error {
			do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, event("taken", id)) })
			return store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				_ = s.Audit().Append(ctx, event("taken", id))
				_, _ = s.Audit().Trail(ctx, id)
				_ = registers(ctx, s, id)
				return nil
			})
		},
	} {
		store, id := h.open(t), subject(t, "acme", 1)
		err := end(store, id)
		assert(t, err != nil, "%s: Do succeeded", what)
		left := trail(t, store, id)
		if what == "a failed statement" {
			left = left[min(1, len(left)):]
		}
		expectRecords(t, "the trail after "+what, eventID, left,
			event("evidence", id), event("rolled-back-0", id), event("rolled-back-1", id), event("rolled-back-2", id))
	}
}

func auditCommitDropsEventsOfARollback(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	do(t, store, func(ctx context.Context, s ports.Session) error { return registers(ctx, s, id) })
	expectRecords(t, "the trail", eventID, trail(t, store, id), event("evidence", id), event("plain", id))
}

// A session that did commit, and does not know it, finds its evidence.
func auditRollbackInDoubtLeavesNothing(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, event("evidence", id)) })
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return errors.Join(registers(ctx, s, id), errFailure)
	})
	assert(t, errors.Is(err, errFailure), "Do returned %v, which is not the error of fn", err)
	expectRecords(t, "the trail", eventID, trail(t, store, id), event("evidence", id))
}
