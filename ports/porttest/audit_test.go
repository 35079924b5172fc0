package porttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// auditCall holds the arguments of a call of a broken AuditLog, and the correct AuditLog.
type auditCall struct {
	ports.AuditLog
	ctx    context.Context
	events []domain.AuditEvent
	id     domain.SubjectID
}

func (c auditCall) add() error                          { return c.Append(c.ctx, c.events...) }
func (c auditCall) evidence() error                     { return c.AppendEvidence(c.ctx, c.events...) }
func (c auditCall) onRollback() error                   { return c.AppendOnRollback(c.ctx, c.events...) }
func (c auditCall) trail() ([]domain.AuditEvent, error) { return c.Trail(c.ctx, c.id) }

// brokenLog is a defective AuditLog. Each function that is set replaces a method. The other methods are correct.
type brokenLog struct {
	ports.AuditLog
	add, evidence, onRollback func(c auditCall) error
	trail                     func(c auditCall) ([]domain.AuditEvent, error)
}

func (b brokenLog) Append(ctx context.Context, events ...domain.AuditEvent) error {
	return replacedOr(b.add, auditCall.add)(auditCall{AuditLog: b.AuditLog, ctx: ctx, events: events})
}

func (b brokenLog) AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error {
	return replacedOr(b.evidence, auditCall.evidence)(auditCall{AuditLog: b.AuditLog, ctx: ctx, events: events})
}

func (b brokenLog) AppendOnRollback(ctx context.Context, events ...domain.AuditEvent) error {
	return replacedOr(b.onRollback, auditCall.onRollback)(auditCall{AuditLog: b.AuditLog, ctx: ctx, events: events})
}

func (b brokenLog) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	return callOr(b.trail, auditCall.trail, auditCall{AuditLog: b.AuditLog, ctx: ctx, id: id})
}

func replacedOr(broken, good func(auditCall) error) func(auditCall) error {
	if broken != nil {
		return broken
	}
	return good
}

func (b brokenLog) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.AuditLog = s.Audit()
		return replacedStores{Session: s, audit: broken}
	})(store)
}

// keepsEvents returns a function that makes a store defective: it passes each event through fn before it stores the
// event.
func keepsEvents(fn func(*domain.AuditEvent)) func(*Store) {
	with := func(append func(auditCall) error) func(auditCall) error {
		return func(c auditCall) error {
			c.events = changed(slices.Clone(c.events), fn)
			return append(c)
		}
	}
	return brokenLog{add: with(auditCall.add), evidence: with(auditCall.evidence)}.breaks
}

// returnsTrails returns a function that makes a store defective: its Trail passes the events through fn before it
// returns them.
func returnsTrails(fn func([]domain.AuditEvent) []domain.AuditEvent) func(*Store) {
	return brokenLog{trail: func(c auditCall) ([]domain.AuditEvent, error) {
		events, err := c.trail()
		return fn(events), err
	}}.breaks
}

// returnsEvents returns a function that makes a store defective: its Trail passes each event through fn before it
// returns the event.
func returnsEvents(fn func(*domain.AuditEvent)) func(*Store) {
	return returnsTrails(func(events []domain.AuditEvent) []domain.AuditEvent { return changed(events, fn) })
}

// changesPayload returns a function that changes an event: fn(value) replaces each value in its payload.
func changesPayload(fn func(any) any) func(*domain.AuditEvent) {
	return func(event *domain.AuditEvent) {
		changed := domain.Payload{}
		for name, value := range event.Payload {
			changed[name] = fn(value)
		}
		event.Payload = changed
	}
}

func TestAuditLogsThatBreakAPromiseFail(t *testing.T) {
	type events = []domain.AuditEvent
	const lost = "got 0 records, want 150"
	promise.ExpectDefects(t, auditEventPromises, brokenStore, defects{
		"an error commits": {commitsOn(true, false), found{"got 3 records, want 0": {auditEventsGoWithARollback}}},
		"a panic commits":  {commitsOn(false, true), found{`"lost-before" is record 1`: {auditEvidenceOutlivesAPanic}}},
		"contexts are ignored": {ignoresContexts, found{
			"Do returned <nil> after its context": {auditEvidenceOutlivesAContext},
		}},
		"the last of several events is lost": {brokenLog{add: func(c auditCall) error {
			c.events = c.events[:max(len(c.events)-1, min(len(c.events), 1))]
			return c.add()
		}}.breaks, found{`"e" is record 2`: {auditTrailKeepsTheOrderOfAppending}}},
		"events are doubled": {returnsTrails(func(trail events) events { return slices.Concat(trail, trail) }), found{
			"got 2000 records, want 1000": {auditTrailTakesALargeBatch},
			"got 6 records, want 3":       {auditEvidenceComesWithTheCommit},
		}},
		"an id that is there already is ignored": {
			brokenLog{add: skipTakenIDs(auditCall.add), evidence: skipTakenIDs(auditCall.evidence)}.breaks,
			found{"Do returned <nil>": {auditEventIDsAreUnique}},
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
			found{"and returned as": {auditInstantIsInUTCAndMicroseconds}},
		},
		"types are lost": {keepsEvents(func(e *domain.AuditEvent) { e.EventType = domain.EventErasureRequested }), found{
			"did not come back as it was appended": {auditEventsComeWithTheCommit},
		}},
		"numbers are floats": {returnsEvents(changesPayload(func(value any) any {
			if n, ok := value.(int64); ok {
				return float64(n)
			}
			return value
		})), found{"came back as float64": {auditPayloadComesBack}}},
		"numbers are imprecise": {keepsEvents(changesPayload(func(value any) any {
			if n, ok := value.(int64); ok {
				return int64(float64(n) / 2 * 2)
			}
			return value
		})), found{`int64 "9007199254740993" came back as int64 "9007199254740992"`: {auditPayloadComesBack}}},
		"texts are trimmed": {keepsEvents(changesPayload(func(value any) any {
			if text, ok := value.(string); ok {
				return strings.TrimSpace(text)
			}
			return value
		})), found{`string "news " came back as string "news"`: {auditPayloadComesBack}}},
		"booleans are numbers": {keepsEvents(changesPayload(func(value any) any {
			if value == true {
				return 1
			}
			return value
		})), found{`bool "true" came back as int64 "1"`: {auditPayloadComesBack}}},
		"the session's own are not read": {hidesOwnEvents, found{"got 0 records, want 1": {auditTrailIsReadByItsOwnSession}}},
		"the trail is in the order of clocks": {returnsTrails(func(trail events) events {
			slices.SortStableFunc(trail, func(a, b domain.AuditEvent) int { return a.OccurredAt.Compare(b.OccurredAt) })
			return trail
		}), found{`"event-003" is record 1`: {auditTrailIgnoresClocks}}},
		"the trail is in the order of ids": {returnsTrails(func(trail events) events {
			slices.SortFunc(trail, func(a, b domain.AuditEvent) int { return strings.Compare(a.EventID, b.EventID) })
			return trail
		}), found{`"0" is record 1`: {auditTrailKeepsTheOrderOfAppending}, "there": {auditTrailTakesALargeBatch}}},
		"the trail is cut": {returnsTrails(func(trail events) events { return trail[:min(len(trail), 100)] }), found{
			"got 100 records, want 1000": {auditTrailTakesALargeBatch},
		}},
		"ids are joined carelessly": {func(store *Store) {
			keepsEvents(func(e *domain.AuditEvent) { e.SubjectRef = joinElements(e.SubjectRef) })(store)
			brokenLog{trail: func(c auditCall) (events, error) {
				trail, err := c.Trail(c.ctx, joinElements(c.id))
				return changed(trail, func(e *domain.AuditEvent) { e.SubjectRef = c.id }), err
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
		"evidence is like other events": {brokenLog{evidence: auditCall.add}.breaks, found{
			"does not say that evidence was lost": {auditEvidenceThatIsLostIsReported},
		}},
		"evidence is doubled": {brokenLog{evidence: func(c auditCall) error {
			for _, event := range c.events {
				again := event
				again.EventID += "-again"
				if err := c.AppendEvidence(c.ctx, event, again); err != nil {
					return err
				}
			}
			return nil
		}}.breaks, found{"is record 2 of 6": {auditEvidenceComesWithTheCommit}}},
		"only one event of evidence is kept": {brokenLog{evidence: func(c auditCall) error {
			first := min(len(c.events), 1)
			return errors.Join(c.AppendEvidence(c.ctx, c.events[:first]...), c.Append(c.ctx, c.events[first:]...))
		}}.breaks, found{"got 2 records, want 150": {auditEvidenceOutlivesAnError}}},
		"evidence of a failed session is refused": {brokenLog{evidence: func(c auditCall) error {
			if err := c.Append(c.ctx); err != nil {
				return err
			}
			return c.evidence()
		}}.breaks, found{"got 2 records, want 150": {auditEvidenceOutlivesAFailedStatement}}},
		"evidence of a failed session succeeds": {
			brokenLog{evidence: func(c auditCall) error { _ = c.evidence(); return nil }}.breaks,
			found{"evidence after a failed statement returned <nil>": {auditEvidenceOutlivesAFailedStatement}},
		},
		"evidence outlives whatever it is": {keepsEvidenceAfter(func(ending) bool { return true }), found{}},
		"an error drops evidence": {keepsEvidenceAfter(func(e ending) bool { return !errors.Is(e.err, errFailure) }), found{
			lost: {auditEvidenceOutlivesAnError},
		}},
		"evidence outlives no panic": {keepsEvidenceAfter(func(e ending) bool { return !e.panicked }), found{
			lost: {auditEvidenceOutlivesAPanic},
		}},
		"evidence outlives no context": {keepsEvidenceAfter(func(e ending) bool { return e.ctx == nil }), found{
			lost: {auditEvidenceOutlivesAContext},
		}},
		"a failed statement drops evidence": {
			keepsEvidenceAfter(func(e ending) bool { return !errors.Is(e.err, domain.ErrConflict) }),
			found{lost: {auditEvidenceOutlivesAFailedStatement}},
		},
		"evidence of lost attempts is kept": {keepsLostAttempts, found{
			`left the evidence`: {auditEvidenceOfALostAttemptIsDropped},
		}},
		"lost evidence is not reported": {changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
			if err := do(ctx, fn); !errors.Is(err, errFailure) {
				return err
			}
			return errFailure
		}), found{"an id that is there already: the error of Do does not say": {auditEvidenceThatIsLostIsReported}}},
		"lost evidence hides the error of fn": {changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
			err := do(ctx, fn)
			if joined, ok := err.(interface{ Unwrap() []error }); ok {
				return joined.Unwrap()[1]
			}
			return err
		}), found{"evidence with an id that is there already": {auditEventIDsAreUnique}}},
	})
}
