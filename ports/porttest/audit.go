package porttest

import (
	"context"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestAuditLog checks that a store keeps the promises of ports.AuditLog.
func TestAuditLog(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.Hold(t, auditPromises, h, h.Waive)
}

var auditPromises = slices.Concat(auditEventPromises, auditRollbackPromises)

var auditRollbackPromises = []promise.Promise[StoreHarness]{
	that(auditRollbackLeavesItsEvents, "what only a rollback leaves comes behind the evidence"),
	that(auditCommitDropsEventsOfARollback, "a commit drops it"),
	that(auditRollbackInDoubtLeavesNothing, "it is not written where evidence is there already"),
}

var auditEventPromises = []promise.Promise[StoreHarness]{
	that(auditEventsComeWithTheCommit, "events exist once, with all they hold, when the session commits"),
	that(auditEventsGoWithARollback, "they do not exist when it does not"),
	that(auditEventIDsAreUnique, "an EventID that is there already is ErrConflict"),
	that(auditInstantIsInUTCAndMicroseconds, "an instant is kept to the microsecond, in UTC"),
	that(auditPayloadComesBack, "a payload comes back, whole numbers as int64"),
	that(auditTrailIsReadByItsOwnSession, "a session reads what it has appended"),
	that(auditTrailIgnoresClocks, "the trail is in the order of taking in, whatever the clocks say"),
	that(auditTrailKeepsTheOrderOfAppending, "events of one session come in the order of appending"),
	that(auditTrailTakesManyAtOnce, "so do very many of them"),
	that(auditSubjectsAreKeptApart, "the trail has no event of another subject"),
	that(auditEventsCannotBeTamperedWith, "no event can be changed or removed, where the store can do that"),
	that(auditEvidenceComesWithTheCommit, "evidence commits with its session like other events"),
	that(auditEvidenceOutlivesAnError, "evidence outlives an error of fn"),
	that(auditEvidenceOutlivesAPanic, "evidence outlives a panic of fn"),
	that(auditEvidenceOutlivesAContext, "evidence outlives the context"),
	that(auditEvidenceOutlivesAFailedStatement, "evidence outlives a failed statement, and may come after it"),
	that(auditEvidenceOfALostAttemptIsDropped, "evidence of an attempt that was tried again is dropped"),
	that(auditEvidenceThatIsLostIsReported, "where evidence cannot be written, the error of Do says so"),
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
