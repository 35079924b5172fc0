package porttest

import (
	"context"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestAuditLog checks that a store keeps the promises of ports.AuditLog.
func TestAuditLog(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.Hold(t, auditPromises, h, h.Waive)
}

var auditPromises = slices.Concat(auditEventPromises, auditRollbackPromises)

var auditRollbackPromises = []promise.Promise[StoreHarness]{
	that(auditRollbackLeavesItsEvents, "A rollback stores the events of AppendOnRollback after the evidence."),
	that(auditCommitDropsEventsOfARollback, "If the session commits, the events of AppendOnRollback are not written."),
	that(auditRollbackWithStoredEvidenceAppendsNothing,
		"If the evidence is stored already, a rollback stores no event of AppendOnRollback."),
}

var auditEventPromises = []promise.Promise[StoreHarness]{
	that(auditEventsComeWithTheCommit, "Events are stored once and completely when the session commits."),
	that(auditEventsGoWithARollback, "A rollback removes the events of the session."),
	that(auditEventIDsAreUnique, "Append returns ErrConflict if the EventID exists already."),
	that(auditInstantIsInUTCAndMicroseconds,
		"The instant of an event is returned in UTC and rounded down to the microsecond."),
	that(auditPayloadComesBack, "A payload is returned as it was appended, with whole numbers as int64."),
	that(auditTrailIsReadByItsOwnSession, "A session reads the events that it has appended."),
	that(auditTrailIgnoresClocks, "The trail is in the order of recording, regardless of the instants of the events."),
	that(auditTrailKeepsTheOrderOfAppending, "Events of one session are in the order in which they were appended."),
	that(auditTrailTakesALargeBatch, "A large batch of events keeps its order."),
	that(auditSubjectsAreKeptApart, "The trail contains no event of another subject."),
	that(auditEventsCannotBeTamperedWith,
		"An event cannot be changed or deleted with the database privileges of the store."),
	that(auditEvidenceComesWithTheCommit, "Evidence is committed with its session like other events."),
	that(auditEvidenceOutlivesAnError, "Evidence is stored even if fn returns an error."),
	that(auditEvidenceOutlivesAPanic, "Evidence is stored even if fn panics."),
	that(auditEvidenceOutlivesAContext, "Evidence is stored even if the context ends."),
	that(auditEvidenceOutlivesAFailedStatement, "Evidence is stored even if a statement fails before or after it."),
	that(auditEvidenceOfALostAttemptIsDropped, "Evidence of an attempt is dropped if the session is retried."),
	that(auditEvidenceThatIsLostIsReported, "The error of Do reports evidence that could not be stored."),
}

func trail(t testing.TB, store Store, id domain.SubjectID) []domain.AuditEvent {
	t.Helper()
	return read(t, store, func(ctx context.Context, s ports.Session) ([]domain.AuditEvent, error) {
		return s.Audit().Trail(ctx, id)
	})
}

// trailOf returns the ids of the events in the subject's audit trail.
func trailOf(ctx context.Context, s ports.Session, id domain.SubjectID) (ids []string, err error) {
	events, err := s.Audit().Trail(ctx, id)
	for _, event := range events {
		ids = append(ids, event.EventID)
	}
	return ids, err
}

func eventID(event domain.AuditEvent) string { return event.EventID }
