package porttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
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

const (
	auditCommit, auditRollback   = "audit events come with the commit", "audit events go with a rollback"
	auditUnique, auditInstant    = "audit event ids are unique", "audit instant is in UTC and microseconds"
	auditPayload, auditOwn       = "audit payload comes back", "audit trail is read by its own session"
	auditClocks, auditOrder      = "audit trail ignores clocks", "audit trail keeps the order of appending"
	auditMany, auditApart        = "audit trail takes many at once", "audit subjects are kept apart"
	auditTampered                = "audit events cannot be tampered with"
	evidenceCommit               = "audit evidence comes with the commit"
	evidenceError, evidencePanic = "audit evidence outlives an error", "audit evidence outlives a panic"
	evidenceContext              = "audit evidence outlives a context"
	evidenceFailed               = "audit evidence outlives a failed statement"
	evidenceAttempt              = "audit evidence of a lost attempt is dropped"
	evidenceLost                 = "audit evidence that is lost is reported"
)

func TestAuditLogsThatBreakAPromiseFail(t *testing.T) {
	type found = map[string]string
	type log = ports.AuditLog
	type events = []domain.AuditEvent
	const notWhole, lost = "did not come back as it was appended", "got 0 records, want 150"
	outlived := func(reason string) found {
		return found{evidenceError: reason, evidencePanic: reason, evidenceContext: reason, evidenceFailed: reason}
	}
	and := func(all found, more found) found {
		for name, reason := range more {
			all[name] = reason
		}
		return all
	}
	expectDefects(t, auditEventCases, map[string]storeDefect{
		"an error commits": {
			commitsOn(true, false), found{auditRollback: "got 3 records, want 0", evidenceError: `"lost-before" comes as number 1`},
		},
		"a panic commits":      {commitsOn(false, true), found{evidencePanic: `"lost-before" comes as number 1`}},
		"contexts are ignored": {ignoresContexts, found{evidenceContext: "Do returned <nil> after its context"}},
		"the last of several events is lost": {
			brokenLog{add: func(ctx context.Context, log log, added events) error {
				return log.Append(ctx, added[:max(len(added)-1, min(len(added), 1))]...)
			}}.breaks,
			found{auditUnique: "two events of one call", auditOrder: `"e" comes as number 2`, auditMany: "number 500 of 999", auditApart: "got 0 records", auditTampered: "got 2 records, want 3"},
		},
		"events are doubled": {
			returnsTrails(func(trail events) events { return slices.Concat(trail, trail) }),
			and(outlived("got 300 records, want 150"), found{
				auditCommit: "got 2 records, want 1", auditUnique: "got 2 records, want 1", auditOwn: "got 2 records, want 1",
				auditClocks: "got 10 records, want 5", auditOrder: "got 14 records, want 7", auditMany: "got 2000 records, want 1000",
				auditApart: "got 2 records, want 1", auditTampered: "got 6 records, want 3", evidenceCommit: "got 6 records, want 3",
				evidenceAttempt: "left the evidence",
			}),
		},
		"an id that is there already is ignored": {
			brokenLog{add: ignoreTaken(log.Append), evidence: ignoreTaken(log.AppendEvidence)}.breaks,
			found{auditUnique: "Do returned <nil>", evidenceFailed: "Do succeeded after a failed statement", evidenceLost: "an id that is there already"},
		},
		"instants are rounded": {
			keepsEvents(func(e *domain.AuditEvent) { e.OccurredAt = e.OccurredAt.Add(500) }), found{auditInstant: "and returned as"},
		},
		"instants are in another zone": {
			returnsEvents(func(e *domain.AuditEvent) { e.OccurredAt = e.OccurredAt.In(time.FixedZone("", 0)) }),
			found{auditInstant: "not in UTC"},
		},
		"instants have nanoseconds": {
			returnsEvents(func(e *domain.AuditEvent) { e.OccurredAt = e.OccurredAt.Add(1) }),
			and(outlived(notWhole), found{auditCommit: notWhole, auditInstant: "and returned as"}),
		},
		"types are lost": {
			keepsEvents(func(e *domain.AuditEvent) { e.EventType = domain.EventErasureRequested }),
			found{auditCommit: notWhole},
		},
		"numbers are floats": {
			returnsEvents(payloads(func(value any) any {
				if n, ok := value.(int64); ok {
					return float64(n)
				}
				return value
			})),
			and(outlived(notWhole), found{auditCommit: notWhole, auditPayload: "came back as float64"}),
		},
		"numbers are imprecise": {
			keepsEvents(payloads(func(value any) any {
				if n, ok := value.(int64); ok {
					return int64(float64(n) / 2 * 2)
				}
				return value
			})),
			found{auditPayload: `int64 "9007199254740993" came back as int64 "9007199254740992"`},
		},
		"texts are trimmed": {
			keepsEvents(payloads(func(value any) any {
				if text, ok := value.(string); ok {
					return strings.TrimSpace(text)
				}
				return value
			})),
			found{auditPayload: `string "news " came back as string "news"`},
		},
		"booleans are numbers": {
			keepsEvents(payloads(func(value any) any {
				if value == true {
					return 1
				}
				return value
			})),
			found{auditPayload: `bool "true" came back as int64 "1"`},
		},
		"the session's own are not read": {readsNotItsOwn, found{auditOwn: "got 0 records, want 1"}},
		"the trail is in the order of clocks": {
			returnsTrails(func(trail events) events {
				slices.SortStableFunc(trail, func(a, b domain.AuditEvent) int { return a.OccurredAt.Compare(b.OccurredAt) })
				return trail
			}),
			and(outlived(`"evidence-149" comes as number 1`), found{auditClocks: `"event-003" comes as number 1`}),
		},
		"the trail is in the order of ids": {
			returnsTrails(func(trail events) events {
				slices.SortFunc(trail, func(a, b domain.AuditEvent) int { return strings.Compare(a.EventID, b.EventID) })
				return trail
			}),
			found{auditOrder: `"0" comes as number 1`, auditMany: "where"},
		},
		"the trail is cut": {
			returnsTrails(func(trail events) events { return trail[:min(len(trail), 100)] }),
			and(outlived("got 100 records, want 150"), found{auditMany: "got 100 records, want 1000"}),
		},
		"ids are joined carelessly": {
			func(store *Store) {
				keepsEvents(func(e *domain.AuditEvent) { e.SubjectRef = joined(e.SubjectRef) })(store)
				brokenLog{trail: func(ctx context.Context, log log, id domain.SubjectID) (events, error) {
					trail, err := log.Trail(ctx, joined(id))
					for i := range trail {
						trail[i].SubjectRef = id
					}
					return trail, err
				}}.breaks(store)
			},
			found{auditApart: "records, want 1"},
		},
		"an event can be changed": {
			func(store *Store) {
				store.Tamper = func(testing.TB, string) (change, remove error) { return nil, errors.New("refused") }
			},
			found{auditTampered: "could be changed"},
		},
		"an event can be removed": {
			func(store *Store) {
				store.Tamper = func(testing.TB, string) (change, remove error) { return errors.New("refused"), nil }
			},
			found{auditTampered: "could be removed"},
		},
		"an event is removed although that is refused": {
			func(store *Store) {
				removed := ""
				returnsTrails(func(trail events) events {
					return slices.DeleteFunc(trail, func(e domain.AuditEvent) bool { return e.EventID == removed })
				})(store)
				store.Tamper = func(_ testing.TB, id string) (change, remove error) {
					removed = id
					return errors.New("refused"), errors.New("refused")
				}
			},
			found{auditTampered: "the trail"},
		},
		"evidence is like other events": {
			brokenLog{evidence: func(ctx context.Context, log log, added events) error { return log.Append(ctx, added...) }}.breaks,
			and(outlived(lost), found{evidenceLost: "does not say that evidence was lost"}),
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
			and(outlived(`"evidence-000-again" comes as number 2`), found{
				auditOwn: "comes as number 3 of 4", auditOrder: `"e-again" comes as number 4`, evidenceCommit: "comes as number 2 of 6",
				evidenceAttempt: "left the evidence",
			}),
		},
		"only one event of evidence is kept": {
			brokenLog{evidence: func(ctx context.Context, log log, added events) error {
				return errors.Join(log.AppendEvidence(ctx, added[:min(len(added), 1)]...), log.Append(ctx, added[min(len(added), 1):]...))
			}}.breaks,
			and(outlived("got 2 records, want 150"), found{evidenceFailed: `"evidence-002" comes as number 2 of 2`}),
		},
		"evidence of a failed session is refused": {
			brokenLog{evidence: func(ctx context.Context, log log, added events) error {
				if err := log.Append(ctx); err != nil {
					return err
				}
				return log.AppendEvidence(ctx, added...)
			}}.breaks,
			found{evidenceFailed: "got 2 records, want 150"},
		},
		"evidence of a failed session succeeds": {
			brokenLog{evidence: func(ctx context.Context, log log, added events) error {
				_ = log.AppendEvidence(ctx, added...)
				return nil
			}}.breaks,
			found{evidenceFailed: "evidence after a failed statement returned <nil>"},
		},
		"evidence outlives whatever it is": {preserves(func(ending) bool { return true }), found{}},
		"evidence outlives no error": {
			preserves(func(e ending) bool { return !errors.Is(e.err, errFailure) }),
			found{evidenceError: lost, evidenceFailed: lost, evidenceLost: "an id that is there already"},
		},
		"evidence outlives no panic":   {preserves(func(e ending) bool { return !e.panicked }), found{evidencePanic: lost}},
		"evidence outlives no context": {preserves(func(e ending) bool { return e.ctx == nil }), found{evidenceContext: lost}},
		"evidence outlives no failed statement": {
			preserves(func(e ending) bool { return !errors.Is(e.err, domain.ErrConflict) }), found{evidenceFailed: lost},
		},
		"evidence of lost attempts is kept": {keepsLostAttempts, found{evidenceAttempt: `left the evidence`}},
		"lost evidence goes unsaid": {
			changesDo(func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error {
				if err := do(ctx, fn); !errors.Is(err, errFailure) {
					return err
				}
				return errFailure
			}),
			found{evidenceLost: "an id that is there already: the error of Do does not say"},
		},
		"lost evidence is all that is said": {
			changesDo(func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error {
				err := do(ctx, fn)
				if joined, ok := err.(interface{ Unwrap() []error }); ok {
					return joined.Unwrap()[1]
				}
				return err
			}),
			found{evidenceLost: "which is not the error of fn", auditUnique: "evidence with an id that is there already"},
		},
	})
}
