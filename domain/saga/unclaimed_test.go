package saga_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// searching is a runner that searches for unclaimed entries. It counts the claims and the searches.
type searching struct {
	world
	clock            *fixture.Clock
	claims, searches int
	claimed          []domain.OutboxEntry
	found            []domain.OutboxEntry
	err              error
}

func newSearching(t *testing.T, reported *[]domain.OutboxEntry, registered ...ports.Resolver) *searching {
	t.Helper()
	l := &searching{clock: fixture.NewClock(noon)}
	l.world = newWorld(t, nil, registered...)
	runner, err := saga.NewRunner(saga.Config{
		Sessions: l.sessions, Clock: l.clock, IDs: sequence(t), Resolvers: registered,
		Options:     saga.Options{Batch: 2},
		OnAbandoned: func(_ context.Context, entry domain.OutboxEntry) { *reported = append(*reported, entry) },
	})
	must(t, err)
	l.Runner = runner
	l.expectSession().AnyTimes()
	l.outbox.EXPECT().Claim(anything, anything).DoAndReturn(
		func(context.Context, domain.ClaimQuery) ([]domain.OutboxEntry, error) {
			l.claims++
			return l.claimed, nil
		}).AnyTimes()
	l.outbox.EXPECT().Unclaimed(anything, anything, anything).DoAndReturn(
		func(_ context.Context, before time.Time, _ int) ([]domain.OutboxEntry, error) {
			if want := l.clock.Now().Add(-24 * time.Hour); !before.Equal(want) {
				t.Errorf("searched for entries that were due before %v, want %v", before, want)
			}
			l.searches++
			return l.found, l.err
		}).AnyTimes()
	return l
}

func TestARunnerSearchesForUnclaimedEntriesOnceAnHour(t *testing.T) {
	l := newSearching(t, &[]domain.OutboxEntry{}, uncalled(t))
	for _, c := range []struct {
		after    time.Duration
		searches int
	}{
		{0, 1},
		{0, 1},
		{59 * time.Minute, 1},
		{time.Minute, 2},
		{time.Minute, 2},
		{10 * time.Hour, 3},
		{-100 * time.Hour, 4}, // the clock is set back
		{time.Minute, 4},
		{time.Hour, 5},
	} {
		l.clock.Advance(c.after)
		if settled, err := l.RunOnce(t.Context()); settled != 0 || err != nil || l.searches != c.searches {
			t.Errorf("%v later: got %d, %v, and searched %d times, want %d", c.after, settled, err, l.searches, c.searches)
		}
	}
}

func TestAFullClaimPostponesTheSearch(t *testing.T) {
	l := newSearching(t, &[]domain.OutboxEntry{}, desk(t, responds(false, nil)))
	l.settled()
	l.audit.EXPECT().Append(anything, anything).AnyTimes()
	l.claimed = claimed(t, domain.OperationErase, 1, 2)
	for i := range l.claimed {
		l.claimed[i].NextAttemptAt = nil
	}
	for _, c := range []struct {
		after    time.Duration
		searches int
	}{{0, 0}, {59 * time.Minute, 0}, {time.Minute, 1}, {time.Hour, 1}, {time.Hour, 2}} {
		l.clock.Advance(c.after)
		if _, err := l.RunOnce(t.Context()); err != nil || l.searches != c.searches {
			t.Errorf("%v later: %v, and searched %d times, want %d", c.after, err, l.searches, c.searches)
		}
	}
}

func TestUnclaimedEntriesAreReported(t *testing.T) {
	var reported []domain.OutboxEntry
	l := newSearching(t, &reported) // without a resolver
	l.found = claimed(t, domain.OperationErase, 3, 3)
	l.found[1].Operation, l.found[2].SubjectID = "of a later version", domain.SubjectID{}
	l.audit.EXPECT().Append(anything, domain.AuditEvent{
		EventID: "id-1", EventType: domain.EventErasureStepFailed, SubjectRef: l.found[0].SubjectID, OccurredAt: noon,
		Payload: domain.Payload{
			"target": "desk", "external": true, "attempts": 3, "error": "unclaimed", "abandoned": false,
			"operation_id": "operation",
		},
	})
	if settled, err := l.RunOnce(t.Context()); settled != 0 || err != nil || l.claims != 0 {
		t.Errorf("got %d, %v, and %d claims", settled, err, l.claims)
	}
	if !reflect.DeepEqual(reported, l.found) {
		t.Errorf("reported %+v", reported)
	}
	l.clock.Set(noon.Add(time.Hour))
	l.err, reported = errBoom, nil
	if _, err := l.RunOnce(t.Context()); !errors.Is(err, errBoom) || len(reported) > 0 {
		t.Errorf("got %v, and reported %+v", err, reported)
	}
}

func TestARunnerClaimsTheOperationsOfItsSystems(t *testing.T) {
	erasing := mocks.NewMockResolver(gomock.NewController(t))
	erasing.EXPECT().Name().Return("mail").AnyTimes()
	w := newWorld(t, func(c *saga.Config) { c.MaxBackoff = 30 * time.Hour }, uncalled(t), erasing)
	w.expectSession()
	w.outbox.EXPECT().Claim(anything, anything).DoAndReturn(
		func(_ context.Context, query domain.ClaimQuery) ([]domain.OutboxEntry, error) {
			if query.LongestWait != 30*time.Hour+time.Minute {
				t.Errorf("the longest wait is %v", query.LongestWait)
			}
			var takes []domain.Take
			for _, take := range query.Takes {
				if take.Fresh <= 0 || take.Retries <= 0 {
					t.Errorf("a take is %+v", take)
				}
				takes = append(takes, domain.Take{Resolver: take.Resolver, Operation: take.Operation})
			}
			if !slices.Equal(takes, []domain.Take{
				{Resolver: "desk", Operation: domain.OperationErase},
				{Resolver: "desk", Operation: domain.OperationRectify},
				{Resolver: "mail", Operation: domain.OperationErase},
			}) {
				t.Errorf("the claim takes %v", takes)
			}
			return nil, nil
		})
	w.mustSettle(t, 0)
}

func TestUnreadableEntriesAreRecordedAndReported(t *testing.T) {
	var reported []domain.OutboxEntry
	l := newSearching(t, &reported, uncalled(t))
	class := domain.LastErrorUnreadable
	l.claimed = claimed(t, domain.OperationRectify, 1, 2)
	for i := range l.claimed {
		l.claimed[i].Status, l.claimed[i].LastError = domain.OutboxAbandoned, &class
	}
	l.claimed[1].SubjectID = domain.SubjectID{}
	l.audit.EXPECT().Append(anything, domain.AuditEvent{
		EventID: "id-2", EventType: domain.EventRectificationStepFailed, SubjectRef: l.claimed[0].SubjectID, OccurredAt: noon,
		Payload: domain.Payload{
			"target": "desk", "external": true, "attempts": 1, "error": "unreadable", "abandoned": true,
			"operation_id": "operation",
		},
	})
	if settled, err := l.RunOnce(t.Context()); settled != 2 || err != nil {
		t.Errorf("got %d, %v", settled, err)
	}
	if !reflect.DeepEqual(reported, l.claimed) {
		t.Errorf("reported %+v", reported)
	}
}
