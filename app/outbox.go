package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Abandoned returns up to limit outbox entries that were given up, oldest first. For the first page, pass nil as the
// entry. For each further page, pass the last entry of the previous page.
func (i *Integration) Abandoned(
	ctx context.Context, after *domain.OutboxEntry, limit int,
) (entries []domain.OutboxEntry, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		entries, err = s.OutboxAdmin().Abandoned(ctx, after, limit)
		return err
	})
	return entries, err
}

// Requeue sets abandoned erasures in the outbox back to pending, and returns their entries. It skips rectifications.
// See saga.Runner.Requeue.
func (i *Integration) Requeue(ctx context.Context, entryIDs ...string) (requeued []domain.OutboxEntry, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		requeued, err = i.stack.Runner.Requeue(ctx, s, entryIDs...)
		return err
	})
	return requeued, err
}

// RequeueMatching works like Requeue, but selects the entries by a filter. It requeues at most limit entries. See
// saga.Runner.RequeueMatching.
func (i *Integration) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) (requeued []domain.OutboxEntry, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		requeued, err = i.stack.Runner.RequeueMatching(ctx, s, filter, limit)
		return err
	})
	return requeued, err
}

// Discard marks abandoned outbox entries as succeeded, and returns these entries. Call it after a person has done the
// work of the entries by other means. See saga.Runner.Discard for the permitted form of the parameter reason.
func (i *Integration) Discard(
	ctx context.Context, reason string, entryIDs ...string,
) (discarded []domain.OutboxEntry, err error) {
	err = i.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		discarded, err = i.stack.Runner.Discard(ctx, s, reason, entryIDs...)
		return err
	})
	return discarded, err
}

// Purge removes succeeded entries that are older than saga.Options.Retention, and returns their number. See
// saga.Runner.Purge.
func (i *Integration) Purge(ctx context.Context) (removed int64, err error) {
	return i.stack.Runner.Purge(ctx)
}
