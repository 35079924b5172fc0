package porttest

import (
	"context"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// TestAuditLog checks that a store keeps the promises of ports.AuditLog:
//
//	promise                                                          case
//	events exist once, with all they hold, when the session commits  audit events come with the commit
//	they do not exist when it does not                               audit events go with a rollback
//	an EventID that is there already is ErrConflict                  audit event ids are unique
//	an instant is kept to the microsecond, in UTC                    audit instant is in UTC and microseconds
//	a payload comes back, whole numbers as int64                     audit payload comes back
//	a session reads what it has appended                             audit trail is read by its own session
//	the trail is in the order of taking in, whatever the clocks say  audit trail ignores clocks
//	events of one session come in the order of appending             audit trail keeps the order of appending
//	so do very many of them                                          audit trail takes many at once
//	the trail has no event of another subject                        audit subjects are kept apart
//	no event can be changed or removed, where the store can do that  audit events cannot be tampered with
//	evidence commits with its session like other events              audit evidence comes with the commit
//	evidence outlives an error of fn                                 audit evidence outlives an error
//	evidence outlives a panic of fn                                  audit evidence outlives a panic
//	evidence outlives the context                                    audit evidence outlives a context
//	evidence outlives a failed statement, and may come after it      audit evidence outlives a failed statement
//	evidence of an attempt that was tried again is dropped           audit evidence of a lost attempt is dropped
//	where evidence cannot be written, the error of Do says so        audit evidence that is lost is reported
//	what only a rollback leaves comes behind the evidence            audit rollback leaves its events
//	a commit drops it                                                audit commit drops events of a rollback
//	it is not written where evidence is there already                audit rollback in doubt leaves nothing
func TestAuditLog(t *testing.T, h StoreHarness) {
	t.Helper()
	runStore(t, h, auditCases)
}

var auditCases = slices.Concat(auditEventCases, auditRollbackCases)

var auditRollbackCases = []suiteCase[StoreHarness]{
	{"audit rollback leaves its events", auditRollbackLeavesItsEvents},
	{"audit commit drops events of a rollback", auditCommitDropsEventsOfARollback},
	{"audit rollback in doubt leaves nothing", auditRollbackInDoubtLeavesNothing},
}

var auditEventCases = []suiteCase[StoreHarness]{
	{"audit events come with the commit", auditEventsComeWithTheCommit},
	{"audit events go with a rollback", auditEventsGoWithARollback},
	{"audit event ids are unique", auditEventIDsAreUnique},
	{"audit instant is in UTC and microseconds", auditInstantIsInUTCAndMicroseconds},
	{"audit payload comes back", auditPayloadComesBack},
	{"audit trail is read by its own session", auditTrailIsReadByItsOwnSession},
	{"audit trail ignores clocks", auditTrailIgnoresClocks},
	{"audit trail keeps the order of appending", auditTrailKeepsTheOrderOfAppending},
	{"audit trail takes many at once", auditTrailTakesManyAtOnce},
	{"audit subjects are kept apart", auditSubjectsAreKeptApart},
	{"audit events cannot be tampered with", auditEventsCannotBeTamperedWith},
	{"audit evidence comes with the commit", auditEvidenceComesWithTheCommit},
	{"audit evidence outlives an error", auditEvidenceOutlivesAnError},
	{"audit evidence outlives a panic", auditEvidenceOutlivesAPanic},
	{"audit evidence outlives a context", auditEvidenceOutlivesAContext},
	{"audit evidence outlives a failed statement", auditEvidenceOutlivesAFailedStatement},
	{"audit evidence of a lost attempt is dropped", auditEvidenceOfALostAttemptIsDropped},
	{"audit evidence that is lost is reported", auditEvidenceThatIsLostIsReported},
}

// trail returns the subject's events, from a session of its own.
func trail(t testing.TB, store Store, id domain.SubjectID) (events []domain.AuditEvent) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		events, err = s.Audit().Trail(ctx, id)
		return err
	})
	return events
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
