package porttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func auditEvidenceComesWithTheCommit(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	made := events("evidence", 3, id)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().AppendEvidence(ctx, made...) })
	expectRecords(t, "the trail", eventID, trail(t, store, id), made...)
}

// evidence returns the events that appendEvidence appends: more events than a store usually buffers or sends in one
// statement.
func evidence(id domain.SubjectID) []domain.AuditEvent {
	made := events("evidence", 150, id)
	for i := range made {
		made[i].OccurredAt = after(-i) // the order of the instants differs from the order of appending
		made[i].Payload = domain.Payload{"attempt": int64(i), "target": "people"}
	}
	return made
}

// appendEvidence appends evidence in two calls. Before and after these calls, it makes writes that a rollback must
// remove.
func appendEvidence(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	made := evidence(id)
	return errors.Join(
		s.Audit().Append(ctx, event("lost-before", id)), s.Audit().AppendEvidence(ctx, made[0]),
		s.Audit().Append(ctx, event("lost-between", id)), s.Audit().AppendEvidence(ctx, made[1:]...),
		writeToAllStores(ctx, s, id),
	)
}

// expectEvidence checks that the store contains the evidence of appendEvidence and no other write.
func expectEvidence(t testing.TB, store Store, id domain.SubjectID) {
	t.Helper()
	left := trail(t, store, id)
	for i := range left { // another case checks the time zone
		left[i].OccurredAt = left[i].OccurredAt.UTC()
	}
	expectWhole(t, "the trail", eventID, left, evidence(id)...)
	expectRowCounts(t, store, id, countsBefore)
}

func auditEvidenceOutlivesAnError(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if err := appendEvidence(ctx, s, id); err != nil {
			return err
		}
		return errFailure
	})
	assert(t, errors.Is(err, errFailure), "Do returned %v, which is not the error of fn", err)
	expectEvidence(t, store, id)
}

func auditEvidenceOutlivesAPanic(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	panicIn(t, store, errFailure, func(ctx context.Context, s ports.Session) error { return appendEvidence(ctx, s, id) })
	expectEvidence(t, store, id)
}

func auditEvidenceOutlivesAContext(t testing.TB, h StoreHarness) {
	for what, ending := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"was cancelled": context.WithCancel, "had a deadline": withExpiry,
	} {
		store, id := h.openWithAddress(t)
		ctx, end := ending(t.Context())
		err := store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			defer end()
			return appendEvidence(ctx, s, id)
		})
		assert(t, errors.Is(err, ctx.Err()), "Do returned %v after its context %s", err, what)
		expectEvidence(t, store, id)
	}
}

func auditEvidenceOutlivesAFailedStatement(t testing.TB, h StoreHarness) {
	for what, end := range map[string]error{"returned": errFailure, "swallowed": nil} {
		store, id := h.openWithAddress(t)
		other := subject(t, "acme", 2)
		taken := event("taken", other)
		do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, taken) })
		made := evidence(id)
		err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			if err := s.Audit().AppendEvidence(ctx, made[:2]...); err != nil {
				return err
			}
			if err := writeToAllStores(ctx, s, id); err != nil {
				return err
			}
			_ = s.Audit().Append(ctx, taken)
			_, _ = s.Audit().Trail(ctx, id)
			late := s.Audit().AppendEvidence(ctx, made[2:]...) // evidence of the failure of the statement
			assert(t, errors.Is(late, domain.ErrConflict),
				"evidence after a failed statement returned %v, which is not the error of the statement", late)
			return end
		})
		assert(t, err != nil, "Do succeeded after a failed statement whose error was %s", what)
		expectEvidence(t, store, id)
	}
}

func auditEvidenceOfALostAttemptIsDropped(t testing.TB, h StoreHarness) {
	store := h.open(t)
	people := []domain.SubjectID{subject(t, "acme", 1), subject(t, "acme", 2)}
	last := lockInOppositeOrder(t, h, store, people)
	for i, person := range people {
		var ids []string
		for _, event := range trail(t, store, person) {
			ids = append(ids, event.EventID)
		}
		want := []string{last[i]}
		assert(t, slices.Equal(ids, want), "of two sessions in a deadlock, one left the evidence %q, want %q", ids, want)
	}
}

func auditEvidenceThatIsLostIsReported(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, event("taken", id)) })
	fail := func(sessions ports.SessionFactory, evidence ...domain.AuditEvent) error {
		return sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			if len(evidence) > 0 {
				_ = s.Audit().AppendEvidence(ctx, evidence...)
			}
			return errFailure
		})
	}
	check := func(what string, sessions ports.SessionFactory, lost domain.AuditEvent) {
		without, with := fail(sessions), fail(sessions, lost)
		assert(t, errors.Is(with, errFailure), "%s: Do returned %v, which is not the error of fn", what, with)
		assert(t, without != nil && with != nil && without.Error() != with.Error(),
			"%s: the error of Do does not say that evidence was lost: %v", what, with)
		assert(t, with == nil || without == nil || strings.Contains(with.Error(), without.Error()),
			"%s: the error of Do is %v without evidence, and %v with evidence that was lost", what, without, with)
	}
	check("an id that is there already", store.Sessions, event("taken", id))
	if store.Unreachable != nil {
		check("a store that cannot be reached", store.Unreachable(t).Sessions, event("lost", id))
	}
}

// appendAllKinds appends one event of each kind: evidence (stored even if the transaction rolls back), an ordinary
// event (stored only if it commits), and events that are stored only if it rolls back.
func appendAllKinds(ctx context.Context, s ports.Session, id domain.SubjectID) error {
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
				return errors.Join(appendAllKinds(ctx, s, id), errFailure)
			})
		},
		"a context": func(store Store, id domain.SubjectID) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			return store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
				defer cancel()
				return appendAllKinds(ctx, s, id)
			})
		},
		"a failed statement": func(store Store, id domain.SubjectID) error {
			do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, event("taken", id)) })
			return store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				_ = s.Audit().Append(ctx, event("taken", id))
				_, _ = s.Audit().Trail(ctx, id)
				_ = appendAllKinds(ctx, s, id)
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
	do(t, store, func(ctx context.Context, s ports.Session) error { return appendAllKinds(ctx, s, id) })
	expectRecords(t, "the trail", eventID, trail(t, store, id), event("evidence", id), event("plain", id))
}

// The case simulates a session that has committed although Do lost the connection. The evidence is
// stored already, so Do must not store the events of AppendOnRollback.
func auditRollbackWithStoredEvidenceAppendsNothing(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, event("evidence", id)) })
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return errors.Join(appendAllKinds(ctx, s, id), errFailure)
	})
	assert(t, errors.Is(err, errFailure), "Do returned %v, which is not the error of fn", err)
	expectRecords(t, "the trail", eventID, trail(t, store, id), event("evidence", id))
}
