package bunstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

var ofRegistry = domain.Take{Resolver: "registry", Operation: domain.OperationRectify, Fresh: 10}

// registry is a resolver that can rectify and has only a name. The tests never call its other methods.
type registry struct{ ports.RectifyingResolver }

func (registry) Name() string { return "registry" }

func TestAnErasureWithdrawsPendingCorrections(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1, registry{})
		at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		s.do(t, func(ctx context.Context, session ports.Session) error {
			for _, e := range []struct {
				id     string
				of     domain.Subject
				status domain.OutboxStatus
			}{
				{"a", s.alice, domain.OutboxPending},
				{"b", s.alice, domain.OutboxFailed},
				{"c", s.alice, domain.OutboxInFlight},
				{"d", s.bob, domain.OutboxPending},
			} {
				entry := domain.OutboxEntry{
					EntryID: e.id, SubjectID: e.of.ID, Resolver: "registry", Operation: domain.OperationRectify,
					Ref: domain.SubjectRef{Kind: "registry", Value: "r"}, Status: e.status, EnqueuedAt: at,
					Corrections: domain.Corrections{domain.CategoryContact: "new@example.org"},
				}
				must(t, session.Outbox().Enqueue(ctx, entry))
			}
			return nil
		})
		var inFlight []domain.OutboxEntry
		s.do(t, func(ctx context.Context, session ports.Session) (err error) {
			inFlight, err = session.Outbox().Claim(ctx, query(at, "token", ofRegistry))
			return err
		})
		_, err := s.erase(s.alice)
		must(t, err)

		s.do(t, func(ctx context.Context, session ports.Session) error {
			abandoned, err := session.OutboxAdmin().Abandoned(ctx, nil, 10)
			must(t, err)
			for _, entry := range abandoned {
				if entry.SubjectID != s.alice.ID || entry.Corrections != nil || entry.Ref.Value != "" {
					t.Errorf("entry %+v", entry)
				}
			}
			if len(abandoned) != 3 {
				t.Errorf("%d entries were taken back", len(abandoned))
			}
			settlement := domain.Settlement{Entry: inFlight[0], Status: domain.OutboxFailed, NextAttemptAt: &at}
			results, err := session.Outbox().Settle(ctx, []domain.Settlement{settlement})
			if err == nil && !results[0].Stale {
				t.Error("a call in flight could still be settled")
			}
			return err
		})
		failed := slices.DeleteFunc(s.trail(t, s.alice.ID), func(e domain.EventType) bool {
			return e != domain.EventRectificationStepFailed
		})
		if len(failed) != 3 {
			t.Errorf("%d events", len(failed))
		}
	})
}

func TestANewRectificationCompletesDespiteAnAbandonedOne(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 0)
		at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		settle := func(entryID string, status domain.OutboxStatus) (completes bool) {
			s.do(t, func(ctx context.Context, session ports.Session) error {
				must(t, session.Outbox().Enqueue(ctx, domain.OutboxEntry{
					EntryID: entryID, SubjectID: s.alice.ID, Resolver: "registry", Operation: domain.OperationRectify,
					Status: domain.OutboxPending, EnqueuedAt: at,
				}))
				claimed, err := session.Outbox().Claim(ctx, query(at, "token-"+entryID, ofRegistry))
				must(t, err)
				results, err := session.Outbox().Settle(ctx, []domain.Settlement{{Entry: claimed[0], Status: status}})
				completes = results[0].Completes
				return err
			})
			return completes
		}
		if settle("a", domain.OutboxAbandoned) || !settle("b", domain.OutboxSucceeded) {
			t.Error("only the second one completes the rectification")
		}
	})
}
