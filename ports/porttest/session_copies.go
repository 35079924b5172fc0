package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func sessionKeepsCopies(t testing.TB, h StoreHarness) {
	store := h.open(t)
	id := subject(t, "acme", 1)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		events := []domain.AuditEvent{event("kept", id)}
		events[0].Payload = domain.Payload{"target": "kept"}
		restriction := restrict(id, pointer("kept"), 0)
		restriction.Reason = pointer("kept")
		if err := s.Audit().Append(ctx, events...); err != nil {
			return err
		}
		if err := s.Restrictions().Append(ctx, restriction); err != nil {
			return err
		}
		events[0].Payload["target"], events[0] = "changed", event("changed", id)
		*restriction.Purpose, *restriction.Reason = "changed", "changed"
		return nil
	})
	for range 2 { // the second time after what was returned has been changed
		do(t, store, func(ctx context.Context, s ports.Session) error {
			for range 2 {
				trail, err := s.Audit().Trail(ctx, id)
				if err != nil {
					return err
				}
				history, err := s.Restrictions().History(ctx, id, pointer("kept"))
				if err != nil {
					return err
				}
				must(t, len(trail) == 1 && trail[0].EventID == "kept" && trail[0].Payload["target"] == "kept",
					"an event changed with the one that was given or returned")
				must(t, len(history) == 1 && history[0].Reason != nil && *history[0].Reason == "kept",
					"a restriction changed with the one that was given or returned")
				trail[0].Payload["target"], trail[0] = "changed", event("changed", id)
				*history[0].Purpose, *history[0].Reason = "changed", "changed"
			}
			return nil
		})
	}
}
