package porttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

// brokenLog is an AuditLog that keeps its promises but for what is set.
type brokenLog struct {
	ports.AuditLog
	add        func(ctx context.Context, log ports.AuditLog, events []domain.AuditEvent) error
	evidence   func(ctx context.Context, log ports.AuditLog, events []domain.AuditEvent) error
	onRollback func(ctx context.Context, log ports.AuditLog, events []domain.AuditEvent) error
	trail      func(ctx context.Context, log ports.AuditLog, id domain.SubjectID) ([]domain.AuditEvent, error)
}

func (b brokenLog) Append(ctx context.Context, events ...domain.AuditEvent) error {
	if b.add != nil {
		return b.add(ctx, b.AuditLog, events)
	}
	return b.AuditLog.Append(ctx, events...)
}

func (b brokenLog) AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error {
	if b.evidence != nil {
		return b.evidence(ctx, b.AuditLog, events)
	}
	return b.AuditLog.AppendEvidence(ctx, events...)
}

func (b brokenLog) AppendOnRollback(ctx context.Context, events ...domain.AuditEvent) error {
	if b.onRollback != nil {
		return b.onRollback(ctx, b.AuditLog, events)
	}
	return b.AuditLog.AppendOnRollback(ctx, events...)
}

func (b brokenLog) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	if b.trail != nil {
		return b.trail(ctx, b.AuditLog, id)
	}
	return b.AuditLog.Trail(ctx, id)
}

// breaks is the defect of such a log in every session.
func (b brokenLog) breaks(store *Store) {
	changesSessions(func(s ports.Session) replaced {
		broken := b
		broken.AuditLog = s.Audit()
		return replaced{Session: s, audit: broken}
	})(store)
}

// keepsEvents is a defect of what is kept of an event.
func keepsEvents(change func(*domain.AuditEvent)) func(*Store) {
	changed := func(events []domain.AuditEvent) []domain.AuditEvent {
		events = slices.Clone(events)
		for i := range events {
			change(&events[i])
		}
		return events
	}
	return brokenLog{
		add: func(ctx context.Context, log ports.AuditLog, events []domain.AuditEvent) error {
			return log.Append(ctx, changed(events)...)
		},
		evidence: func(ctx context.Context, log ports.AuditLog, events []domain.AuditEvent) error {
			return log.AppendEvidence(ctx, changed(events)...)
		},
	}.breaks
}

// returnsTrails is a defect of trails.
func returnsTrails(change func([]domain.AuditEvent) []domain.AuditEvent) func(*Store) {
	return brokenLog{trail: func(
		ctx context.Context, log ports.AuditLog, id domain.SubjectID,
	) ([]domain.AuditEvent, error) {
		events, err := log.Trail(ctx, id)
		return change(events), err
	}}.breaks
}

// returnsEvents is a defect of each event on a trail.
func returnsEvents(change func(*domain.AuditEvent)) func(*Store) {
	return returnsTrails(func(events []domain.AuditEvent) []domain.AuditEvent {
		for i := range events {
			change(&events[i])
		}
		return events
	})
}

// payloads is a change of each value of a payload.
func payloads(change func(any) any) func(*domain.AuditEvent) {
	return func(event *domain.AuditEvent) {
		changed := domain.Payload{}
		for name, value := range event.Payload {
			changed[name] = change(value)
		}
		event.Payload = changed
	}
}

func TestAuditLogsThatBreakAPromiseFail(t *testing.T) {
	type log = ports.AuditLog
	type events = []domain.AuditEvent
	const notWhole, lost = "did not come back as it was appended", "got 0 records, want 150"
	outlives := []func(testing.TB, StoreHarness){
		auditEvidenceOutlivesAnError, auditEvidenceOutlivesAPanic, auditEvidenceOutlivesAContext,
		auditEvidenceOutlivesAFailedStatement,
	}
	promise.ExpectDefects(t, auditEventPromises, brokenStore, defects{
		"an error commits": {commitsOn(true, false), found{
			"got 3 records, want 0":           {auditEventsGoWithARollback},
			`"lost-before" comes as number 1`: {auditEvidenceOutlivesAnError},
		}},
		"a panic commits": {commitsOn(false, true), found{`"lost-before" comes as number 1`: {auditEvidenceOutlivesAPanic}}},
		"contexts are ignored": {ignoresContexts, found{
			"Do returned <nil> after its context": {auditEvidenceOutlivesAContext},
		}},
		"the last of several events is lost": {brokenLog{add: func(ctx context.Context, log log, added events) error {
			return log.Append(ctx, added[:max(len(added)-1, min(len(added), 1))]...)
		}}.breaks, found{
			"two events of one call": {auditEventIDsAreUnique}, `"e" comes as number 2`: {auditTrailKeepsTheOrderOfAppending},
			"number 500 of 999": {auditTrailTakesManyAtOnce}, "got 0 records": {auditSubjectsAreKeptApart},
			"got 2 records, want 3": {auditEventsCannotBeTamperedWith},
		}},
		"events are doubled": {
			returnsTrails(func(trail events) events { return slices.Concat(trail, trail) }),
			found{
				"got 300 records, want 150": outlives,
				"got 2 records, want 1": {
					auditEventsComeWithTheCommit, auditEventIDsAreUnique, auditTrailIsReadByItsOwnSession, auditSubjectsAreKeptApart,
				},
				"got 10 records, want 5": {auditTrailIgnoresClocks}, "got 14 records, want 7": {auditTrailKeepsTheOrderOfAppending},
				"got 2000 records, want 1000": {auditTrailTakesManyAtOnce},
				"got 6 records, want 3":       {auditEventsCannotBeTamperedWith, auditEvidenceComesWithTheCommit},
				"left the evidence":           {auditEvidenceOfALostAttemptIsDropped},
			},
		},
		"an id that is there already is ignored": {
			brokenLog{add: ignoreTaken(log.Append), evidence: ignoreTaken(log.AppendEvidence)}.breaks,
			found{
				"Do returned <nil>":                     {auditEventIDsAreUnique},
				"Do succeeded after a failed statement": {auditEvidenceOutlivesAFailedStatement},
				"an id that is there already":           {auditEvidenceThatIsLostIsReported},
			},
		},
		"instants are rounded": {keepsEvents(func(e *domain.AuditEvent) { e.OccurredAt = e.OccurredAt.Add(500) }), found{
			"and returned as": {auditInstantIsInUTCAndMicroseconds},
		}},
		"instants are in another zone": {
			returnsEvents(func(e *domain.AuditEvent) { e.OccurredAt = e.OccurredAt.In(time.FixedZone("", 0)) }),
			found{"not in UTC": {auditInstantIsInUTCAndMicroseconds}},
		},
		"instants have nanoseconds": {
			returnsEvents(func(e *domain.AuditEvent) { e.OccurredAt = e.OccurredAt.Add(1) }),
			found{
				notWhole:          append(outlives, auditEventsComeWithTheCommit),
				"and returned as": {auditInstantIsInUTCAndMicroseconds},
			},
		},
		"types are lost": {keepsEvents(func(e *domain.AuditEvent) { e.EventType = domain.EventErasureRequested }), found{
			notWhole: {auditEventsComeWithTheCommit},
		}},
		"numbers are floats": {
			returnsEvents(payloads(func(value any) any {
				if n, ok := value.(int64); ok {
					return float64(n)
				}
				return value
			})),
			found{
				notWhole:               append(outlives, auditEventsComeWithTheCommit),
				"came back as float64": {auditPayloadComesBack},
			},
		},
		"numbers are imprecise": {keepsEvents(payloads(func(value any) any {
			if n, ok := value.(int64); ok {
				return int64(float64(n) / 2 * 2)
			}
			return value
		})), found{`int64 "9007199254740993" came back as int64 "9007199254740992"`: {auditPayloadComesBack}}},
		"texts are trimmed": {keepsEvents(payloads(func(value any) any {
			if text, ok := value.(string); ok {
				return strings.TrimSpace(text)
			}
			return value
		})), found{`string "news " came back as string "news"`: {auditPayloadComesBack}}},
		"booleans are numbers": {keepsEvents(payloads(func(value any) any {
			if value == true {
				return 1
			}
			return value
		})), found{`bool "true" came back as int64 "1"`: {auditPayloadComesBack}}},
		"the session's own are not read": {readsNotItsOwn, found{"got 0 records, want 1": {auditTrailIsReadByItsOwnSession}}},
		"the trail is in the order of clocks": {
			returnsTrails(func(trail events) events {
				slices.SortStableFunc(trail, func(a, b domain.AuditEvent) int { return a.OccurredAt.Compare(b.OccurredAt) })
				return trail
			}),
			found{
				`"evidence-149" comes as number 1`: outlives,
				`"event-003" comes as number 1`:    {auditTrailIgnoresClocks},
			},
		},
		"the trail is in the order of ids": {returnsTrails(func(trail events) events {
			slices.SortFunc(trail, func(a, b domain.AuditEvent) int { return strings.Compare(a.EventID, b.EventID) })
			return trail
		}), found{`"0" comes as number 1`: {auditTrailKeepsTheOrderOfAppending}, "where": {auditTrailTakesManyAtOnce}}},
		"the trail is cut": {
			returnsTrails(func(trail events) events { return trail[:min(len(trail), 100)] }),
			found{"got 100 records, want 150": outlives, "got 100 records, want 1000": {auditTrailTakesManyAtOnce}},
		},
		"ids are joined carelessly": {func(store *Store) {
			keepsEvents(func(e *domain.AuditEvent) { e.SubjectRef = joined(e.SubjectRef) })(store)
			brokenLog{trail: func(ctx context.Context, log log, id domain.SubjectID) (events, error) {
				trail, err := log.Trail(ctx, joined(id))
				for i := range trail {
					trail[i].SubjectRef = id
				}
				return trail, err
			}}.breaks(store)
		}, found{"records, want 1": {auditSubjectsAreKeptApart}}},
		"an event can be changed": {func(store *Store) {
			store.Tamper = func(testing.TB, string) (change, remove error) { return nil, errors.New("refused") }
		}, found{"could be changed": {auditEventsCannotBeTamperedWith}}},
		"an event can be removed": {func(store *Store) {
			store.Tamper = func(testing.TB, string) (change, remove error) { return errors.New("refused"), nil }
		}, found{"could be removed": {auditEventsCannotBeTamperedWith}}},
		"an event is removed although that is refused": {func(store *Store) {
			removed := ""
			returnsTrails(func(trail events) events {
				return slices.DeleteFunc(trail, func(e domain.AuditEvent) bool { return e.EventID == removed })
			})(store)
			store.Tamper = func(_ testing.TB, id string) (change, remove error) {
				removed = id
				return errors.New("refused"), errors.New("refused")
			}
		}, found{"the trail": {auditEventsCannotBeTamperedWith}}},
		"evidence is like other events": {
			brokenLog{
				evidence: func(ctx context.Context, log log, added events) error { return log.Append(ctx, added...) },
			}.breaks,
			found{lost: outlives, "does not say that evidence was lost": {auditEvidenceThatIsLostIsReported}},
		},
		"evidence is doubled": {
			brokenLog{evidence: func(ctx context.Context, log log, added events) error {
				for _, event := range added {
					again := event
					again.EventID += "-again"
					if err := log.AppendEvidence(ctx, event, again); err != nil {
						return err
					}
				}
				return nil
			}}.breaks,
			found{
				`"evidence-000-again" comes as number 2`: outlives,
				"comes as number 3 of 4":                 {auditTrailIsReadByItsOwnSession},
				`"e-again" comes as number 4`:            {auditTrailKeepsTheOrderOfAppending},
				"comes as number 2 of 6":                 {auditEvidenceComesWithTheCommit},
				"left the evidence":                      {auditEvidenceOfALostAttemptIsDropped},
			},
		},
		"only one event of evidence is kept": {
			brokenLog{evidence: func(ctx context.Context, log log, added events) error {
				return errors.Join(log.AppendEvidence(ctx, added[:min(len(added), 1)]...),
					log.Append(ctx, added[min(len(added), 1):]...))
			}}.breaks,
			found{
				"got 2 records, want 150":               outlives[:3],
				`"evidence-002" comes as number 2 of 2`: {auditEvidenceOutlivesAFailedStatement},
			},
		},
		"evidence of a failed session is refused": {
			brokenLog{evidence: func(ctx context.Context, log log, added events) error {
				if err := log.Append(ctx); err != nil {
					return err
				}
				return log.AppendEvidence(ctx, added...)
			}}.breaks,
			found{"got 2 records, want 150": {auditEvidenceOutlivesAFailedStatement}},
		},
		"evidence of a failed session succeeds": {
			brokenLog{evidence: func(ctx context.Context, log log, added events) error {
				_ = log.AppendEvidence(ctx, added...)
				return nil
			}}.breaks,
			found{"evidence after a failed statement returned <nil>": {auditEvidenceOutlivesAFailedStatement}},
		},
		"evidence outlives whatever it is": {preserves(func(ending) bool { return true }), found{}},
		"evidence outlives no error": {preserves(func(e ending) bool { return !errors.Is(e.err, errFailure) }), found{
			lost:                          {auditEvidenceOutlivesAnError, auditEvidenceOutlivesAFailedStatement},
			"an id that is there already": {auditEvidenceThatIsLostIsReported},
		}},
		"evidence outlives no panic": {preserves(func(e ending) bool { return !e.panicked }), found{
			lost: {auditEvidenceOutlivesAPanic},
		}},
		"evidence outlives no context": {preserves(func(e ending) bool { return e.ctx == nil }), found{
			lost: {auditEvidenceOutlivesAContext},
		}},
		"evidence outlives no failed statement": {
			preserves(func(e ending) bool { return !errors.Is(e.err, domain.ErrConflict) }),
			found{lost: {auditEvidenceOutlivesAFailedStatement}},
		},
		"evidence of lost attempts is kept": {keepsLostAttempts, found{
			`left the evidence`: {auditEvidenceOfALostAttemptIsDropped},
		}},
		"lost evidence goes unsaid": {
			changesDo(func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error {
				if err := do(ctx, fn); !errors.Is(err, errFailure) {
					return err
				}
				return errFailure
			}),
			found{"an id that is there already: the error of Do does not say": {auditEvidenceThatIsLostIsReported}},
		},
		"lost evidence is all that is said": {
			changesDo(func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error {
				err := do(ctx, fn)
				if joined, ok := err.(interface{ Unwrap() []error }); ok {
					return joined.Unwrap()[1]
				}
				return err
			}),
			found{
				"which is not the error of fn":              {auditEvidenceThatIsLostIsReported},
				"evidence with an id that is there already": {auditEventIDsAreUnique},
			},
		},
	})
}
