package porttest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func auditEventsComeWithTheCommit(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	first := event("first", id)
	first.EventType, first.Payload = domain.EventExportCompleted, domain.Payload{"records": int64(3)}
	second := event("second", id)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		if err := s.Audit().Append(ctx); err != nil { // an empty call
			return err
		}
		return s.Audit().Append(ctx, first)
	})
	expectRecords(t, "the trail", eventID, trail(t, store, id), first)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, second) })
	whole := trail(t, store, id)
	for i := range whole { // another case checks the time zone
		whole[i].OccurredAt = whole[i].OccurredAt.UTC()
	}
	expectWhole(t, "the trail", eventID, whole, first, second)
}

func auditEventsGoWithARollback(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	for _, read := range []bool{false, true} { // a read makes the store send its buffered appends
		err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			if err := s.Audit().Append(ctx, events("lost", 3, id)...); err != nil {
				return err
			}
			if read {
				if _, err := s.Audit().Trail(ctx, id); err != nil {
					return err
				}
			}
			return errFailure
		})
		assert(t, errors.Is(err, errFailure), "Do returned %v, which is not the error of fn", err)
		expectRecords(t, "the trail", eventID, trail(t, store, id))
	}
}

func auditEventIDsAreUnique(t testing.TB, h StoreHarness) {
	store, id, other := h.open(t), subject(t, "acme", 1), subject(t, "acme", 2)
	taken := event("taken", id)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, taken) })
	for what, add := range map[string]func(context.Context, ports.AuditLog) error{
		"the same event": func(ctx context.Context, log ports.AuditLog) error { return log.Append(ctx, taken) },
		"another subject's event": func(ctx context.Context, log ports.AuditLog) error {
			return log.Append(ctx, event("taken", other))
		},
		"evidence": func(ctx context.Context, log ports.AuditLog) error { return log.AppendEvidence(ctx, taken) },
		"two events of one call": func(ctx context.Context, log ports.AuditLog) error {
			return log.Append(ctx, event("new", id), event("new", id))
		},
		"events of two calls": func(ctx context.Context, log ports.AuditLog) error {
			return errors.Join(log.Append(ctx, event("new", id)), log.Append(ctx, event("new", other)))
		},
	} {
		err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error { return add(ctx, s.Audit()) })
		assert(t, errors.Is(err, domain.ErrConflict),
			"%s with an id that is there already: Do returned %v, which is not %v", what, err, domain.ErrConflict)
	}
	expectRecords(t, "the trail", eventID, trail(t, store, id), taken)
	expectRecords(t, "another subject's trail", eventID, trail(t, store, other))
}

func auditInstantIsInUTCAndMicroseconds(t testing.TB, h StoreHarness) {
	store, number := h.open(t), int64(0)
	for given, want := range instantsToRound() {
		number++
		id := subject(t, "acme", number)
		made := event("event-"+strconv.FormatInt(number, 10), id)
		made.OccurredAt = given
		do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, made) })
		for _, event := range trail(t, store, id) {
			expectInstant(t, "OccurredAt", event.OccurredAt, given, want)
		}
	}
}

func auditPayloadComesBack(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	given, want := domain.Payload{"true": true, "false": false, "text": ""}, domain.Payload{}
	for i, text := range distinctTexts() {
		given["text-"+strconv.Itoa(i)] = text
	}
	for name, value := range given {
		want[name] = value
	}
	for i, n := range []int64{0, 1, -1, 1<<53 + 1, -1<<53 - 1, math.MaxInt64, math.MinInt64} {
		name := "number-" + strconv.Itoa(i)
		given[name], want[name] = n, n
		given["int-"+name], want["int-"+name] = int(n), n
	}
	for name, payload := range map[string]domain.Payload{"full": given, "empty": {}, "nil": nil} {
		made := event(name, id)
		made.Payload = payload
		do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, made) })
	}
	for _, event := range trail(t, store, id) {
		if event.EventID != "full" {
			assert(t, len(event.Payload) == 0,
				"a payload that was %s came back with %d values", event.EventID, len(event.Payload))
			continue
		}
		assert(t, len(event.Payload) == len(want), "a payload of %d values came back with %d", len(want), len(event.Payload))
		for name, value := range want {
			if got := event.Payload[name]; got != value {
				t.Errorf("in a payload, %T %+q came back as %T %+q", given[name], fmt.Sprint(given[name]), got, fmt.Sprint(got))
			}
		}
	}
}

func auditTrailIsReadByItsOwnSession(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	made := events("event", 4, id)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for i, event := range made {
			add := s.Audit().Append
			if i%2 == 1 {
				add = s.Audit().AppendEvidence
			}
			if err := add(ctx, event); err != nil {
				return err
			}
			read, err := s.Audit().Trail(ctx, id)
			if err != nil {
				return err
			}
			expectRecords(t, "the trail in the session", eventID, read, made[:i+1]...)
		}
		return nil
	})
	expectRecords(t, "the trail", eventID, trail(t, store, id), made...)
}

func auditTrailIgnoresClocks(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	made := events("event", 5, id)
	for i, seconds := range []int{20, 0, 10, -10, 10} {
		made[i].OccurredAt = after(seconds)
	}
	for _, inOne := range inOneAndMany {
		store := h.open(t)
		appendAll(t, store, inOne, made, func(ctx context.Context, s ports.Session, event domain.AuditEvent) error {
			return s.Audit().Append(ctx, event)
		})
		expectRecords(t, "the trail", eventID, trail(t, store, id), made...)
	}
}

func auditTrailKeepsTheOrderOfAppending(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	made := []domain.AuditEvent{
		event("d", id), event("b", id), event("e", id), event("a", id), event("c", id), event("A", id), event("0", id),
	}
	do(t, store, func(ctx context.Context, s ports.Session) error {
		return errors.Join(
			s.Audit().Append(ctx, made[0], made[1]), s.Audit().AppendEvidence(ctx, made[2]),
			s.Consents().Append(ctx, grant(id, "news", 0)), s.Audit().Append(ctx, made[3]),
			s.Audit().AppendEvidence(ctx, made[4], made[5]), s.Audit().Append(ctx, made[6]),
		)
	})
	expectRecords(t, "the trail", eventID, trail(t, store, id), made...)
}

// largeBatch is a number of audit events that a store must accept in one session. The number is far above the number of
// events that one request causes, so that a store with a limit fails.
const largeBatch = 500

func auditTrailTakesALargeBatch(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	batch, one := events("several", largeBatch, id), events("one", largeBatch, id)
	store := h.open(t)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, batch...) })
	appendAll(t, store, true, one, func(ctx context.Context, s ports.Session, event domain.AuditEvent) error {
		return s.Audit().Append(ctx, event)
	})
	expectRecords(t, "the trail", eventID, trail(t, store, id), append(batch, one...)...)
}

func auditSubjectsAreKeptApart(t testing.TB, h StoreHarness) {
	store, ids := h.open(t), distinctSubjects(t)
	var made []domain.AuditEvent
	for i, id := range ids {
		made = append(made, event("event-"+strconv.Itoa(i), id))
	}
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, made...) })
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for i, id := range ids {
			events, err := s.Audit().Trail(ctx, id)
			if err != nil {
				return err
			}
			expectRecords(t, "the trail of "+strconv.QuoteToASCII(id.String()), eventID, events, made[i])
			if t.Failed() { // the other subjects would fail in the same way
				return nil
			}
		}
		events, err := s.Audit().Trail(ctx, subject(t, "nobody", 1))
		expectRecords(t, "the trail of an unknown subject", eventID, events)
		return err
	})
}

func auditEventsCannotBeTamperedWith(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	requireHook(t, store.Tamper != nil, "Tamper")
	made := events("event", 3, id)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, made...) })
	change, remove := store.Tamper(t, made[1].EventID)
	assert(t, change != nil, "an event could be changed")
	assert(t, remove != nil, "an event could be removed")
	expectRecords(t, "the trail", eventID, trail(t, store, id), made...)
}
