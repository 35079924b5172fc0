package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Abandoned returns up to limit outbox entries that were given up or spared, oldest first. For the first page, pass nil
// as the entry. For each further page, pass the last entry of the previous page.
func (o *Operator) Abandoned(
	ctx context.Context, after *domain.OutboxEntry, limit int,
) ([]domain.OutboxEntry, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.OutboxEntry, error) {
		return s.OutboxAdmin().Abandoned(ctx, after, limit)
	})
}

// Requeue sets abandoned erasures in the outbox back to pending, and returns their entries. It skips rectifications.
// See saga.Runner.Requeue.
func (o *Operator) Requeue(ctx context.Context, entryIDs ...string) ([]domain.OutboxEntry, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.OutboxEntry, error) {
		return o.stack.Runner.Requeue(ctx, s, entryIDs...)
	})
}

// RequeueMatching works like Requeue, but selects the entries by a filter. It requeues at most limit entries. See
// saga.Runner.RequeueMatching.
func (o *Operator) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.OutboxEntry, error) {
		return o.stack.Runner.RequeueMatching(ctx, s, filter, limit)
	})
}

// Discard marks abandoned and spared outbox entries as succeeded, and returns these entries. Call it after a person has
// done the work of the entries by other means, or has found out whose record a system has spared. See
// saga.Runner.Discard for the permitted form of the parameter reason.
func (o *Operator) Discard(
	ctx context.Context, reason string, entryIDs ...string,
) ([]domain.OutboxEntry, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.OutboxEntry, error) {
		return o.stack.Runner.Discard(ctx, s, reason, entryIDs...)
	})
}

// Purge removes succeeded entries that are older than saga.Options.Retention, and returns their number. See
// saga.Runner.Purge.
func (o *Operator) Purge(ctx context.Context) (removed int64, err error) {
	return o.stack.Runner.Purge(ctx)
}
