package sqlitestore_test

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// A session that has read before somebody else wrote cannot write any more: it is tried again, and the evidence of the
// attempt that was lost goes with it.
func TestASessionThatLosesTheRaceForTheWriteLockIsTriedAgain(t *testing.T) {
	shop := open(t)
	jane, err := domain.NewSubjectID("a", "1")
	must(t, err)
	event := func(id string) domain.AuditEvent {
		return domain.AuditEvent{
			EventID: id, EventType: domain.EventErasureRequested, SubjectRef: jane, OccurredAt: time.Now(),
		}
	}
	attempts := 0
	must(t, shop.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		attempts++
		if _, err := s.Audit().Trail(ctx, jane); err != nil {
			return err
		}
		if attempts == 1 {
			must(t, shop.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
				return s.Audit().Append(ctx, event("another's"))
			}))
		}
		if err := s.Audit().AppendEvidence(ctx, event("evidence "+string(rune('0'+attempts)))); err != nil {
			return err
		}
		return s.Subjects().Lock(ctx, jane, time.Now())
	}))
	var events []string
	must(t, shop.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		trail, err := s.Audit().Trail(ctx, jane)
		for _, event := range trail {
			events = append(events, event.EventID)
		}
		return err
	}))
	if attempts != 2 || len(events) != 2 || events[1] != "evidence 2" {
		t.Errorf("%d attempts left the events %q", attempts, events)
	}
}
