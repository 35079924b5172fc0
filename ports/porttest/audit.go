package porttest

import (
	"context"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// TestAuditLog checks that a store keeps the promises of ports.AuditLog.
func TestAuditLog(t *testing.T, h StoreHarness) {
	t.Helper()
	hold(t, auditPromises, h, h.Waive)
}

var auditPromises = slices.Concat(auditEventPromises, auditRollbackPromises)

var auditRollbackPromises = []promise[StoreHarness]{
	promised("audit rollback leaves its events", "what only a rollback leaves comes behind the evidence",
		auditRollbackLeavesItsEvents),
	promised("audit commit drops events of a rollback", "a commit drops it", auditCommitDropsEventsOfARollback),
	promised("audit rollback in doubt leaves nothing", "it is not written where evidence is there already",
		auditRollbackInDoubtLeavesNothing),
}

var auditEventPromises = []promise[StoreHarness]{
	promised("audit events come with the commit", "events exist once, with all they hold, when the session commits",
		auditEventsComeWithTheCommit),
	promised("audit events go with a rollback", "they do not exist when it does not", auditEventsGoWithARollback),
	promised("audit event ids are unique", "an EventID that is there already is ErrConflict", auditEventIDsAreUnique),
	promised("audit instant is in UTC and microseconds", "an instant is kept to the microsecond, in UTC",
		auditInstantIsInUTCAndMicroseconds),
	promised("audit payload comes back", "a payload comes back, whole numbers as int64", auditPayloadComesBack),
	promised("audit trail is read by its own session", "a session reads what it has appended",
		auditTrailIsReadByItsOwnSession),
	promised("audit trail ignores clocks", "the trail is in the order of taking in, whatever the clocks say",
		auditTrailIgnoresClocks),
	promised("audit trail keeps the order of appending", "events of one session come in the order of appending",
		auditTrailKeepsTheOrderOfAppending),
	promised("audit trail takes many at once", "so do very many of them", auditTrailTakesManyAtOnce),
	promised("audit subjects are kept apart", "the trail has no event of another subject", auditSubjectsAreKeptApart),
	promised("audit events cannot be tampered with", "no event can be changed or removed, where the store can do that",
		auditEventsCannotBeTamperedWith),
	promised("audit evidence comes with the commit", "evidence commits with its session like other events",
		auditEvidenceComesWithTheCommit),
	promised("audit evidence outlives an error", "evidence outlives an error of fn", auditEvidenceOutlivesAnError),
	promised("audit evidence outlives a panic", "evidence outlives a panic of fn", auditEvidenceOutlivesAPanic),
	promised("audit evidence outlives a context", "evidence outlives the context", auditEvidenceOutlivesAContext),
	promised("audit evidence outlives a failed statement", "evidence outlives a failed statement, and may come after it",
		auditEvidenceOutlivesAFailedStatement),
	promised("audit evidence of a lost attempt is dropped", "evidence of an attempt that was tried again is dropped",
		auditEvidenceOfALostAttemptIsDropped),
	promised("audit evidence that is lost is reported", "where evidence cannot be written, the error of Do says so",
		auditEvidenceThatIsLostIsReported),
}

// trail returns the subject's events, from a session of its own.
func trail(t testing.TB, store Store, id domain.SubjectID) []domain.AuditEvent {
	t.Helper()
	return read(t, store, func(ctx context.Context, s ports.Session) ([]domain.AuditEvent, error) {
		return s.Audit().Trail(ctx, id)
	})
}

// trailOf returns the ids of the subject's events.
func trailOf(ctx context.Context, s ports.Session, id domain.SubjectID) (ids []string, err error) {
	events, err := s.Audit().Trail(ctx, id)
	for _, event := range events {
		ids = append(ids, event.EventID)
	}
	return ids, err
}

func eventID(event domain.AuditEvent) string { return event.EventID }
