package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Abandoned returns up to limit entries of the outbox that were given up, oldest first, that come after the one given;
// the first ones if after is nil.
func (i *Integration) Abandoned(
	ctx context.Context, after *domain.OutboxEntry, limit int,
) (entries []domain.OutboxEntry, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		entries, err = s.Outbox().Abandoned(ctx, after, limit)
		return err
	})
	return entries, err
}

// Requeue makes abandoned erasures pending again, and returns them; see saga.Runner.Requeue.
func (i *Integration) Requeue(ctx context.Context, entryIDs ...string) (requeued []domain.OutboxEntry, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		requeued, err = i.stack.Runner.Requeue(ctx, s, entryIDs...)
		return err
	})
	return requeued, err
}

// RequeueMatching is Requeue for up to limit abandoned erasures that match a filter; see saga.Runner.RequeueMatching.
func (i *Integration) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) (requeued []domain.OutboxEntry, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		requeued, err = i.stack.Runner.RequeueMatching(ctx, s, filter, limit)
		return err
	})
	return requeued, err
}

// Discard makes abandoned entries succeeded, because a person has dealt with them by other means, and returns them; see
// saga.Runner.Discard for the reason.
func (i *Integration) Discard(
	ctx context.Context, reason string, entryIDs ...string,
) (discarded []domain.OutboxEntry, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		discarded, err = i.stack.Runner.Discard(ctx, s, reason, entryIDs...)
		return err
	})
	return discarded, err
}

// Purge removes entries that succeeded and are older than saga.Options.Retention, and returns how many; see
// saga.Runner.Purge.
func (i *Integration) Purge(ctx context.Context) (removed int64, err error) {
	return i.stack.Runner.Purge(ctx)
}
