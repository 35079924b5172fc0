package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

func (o outbox) Backlog(ctx context.Context) ([]domain.OutboxBacklog, error) {
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	var all []domain.OutboxBacklog
	err := o.db.Read(ctx, "backlog", func(rows *sql.Rows) error {
		var resolver string
		var status domain.OutboxStatus
		var n int64
		var oldest, due syntax.OptionalInstant
		if err := rows.Scan(&resolver, &status, &n, &oldest, &due); err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(b domain.OutboxBacklog) bool { return b.Resolver == resolver })
		if i < 0 {
			i = len(all)
			all = append(all, domain.OutboxBacklog{Resolver: resolver, Counts: map[domain.OutboxStatus]int64{}})
			for _, status := range domain.OutboxStatuses() {
				if status != domain.OutboxSucceeded {
					all[i].Counts[status] = 0
				}
			}
		}
		all[i].Counts[status] += n
		all[i].Oldest, all[i].OldestDue = earlier(all[i].Oldest, oldest.Time), earlier(all[i].OldestDue, due.Time)
		return nil
	}, o.store.outbox.Backlog)
	slices.SortFunc(all, func(a, b domain.OutboxBacklog) int { return strings.Compare(a.Resolver, b.Resolver) })
	return all, err
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

func (o outbox) Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error) {
	if len(entryIDs) == 0 {
		return nil, o.db.Usable()
	}
	return o.requeue(ctx, o.store.outbox.Requeue, syntax.TextList(entryIDs))
}

func (o outbox) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.db.Usable()
	}
	text, args := o.store.outbox.RequeueMatching(filter, limit)
	return o.requeue(ctx, text, args...)
}

func (o outbox) requeue(ctx context.Context, text string, args ...any) ([]domain.OutboxEntry, error) {
	requeued, err := o.change(ctx, "requeue", text, args...)
	if len(requeued) > 0 {
		o.enqueued = true
		o.AfterEnd(func(_ context.Context, err error) {
			if err == nil {
				o.store.scans.Restart()
			}
		})
	}
	return requeued, err
}

// Discard implements ports.OutboxAdmin. Like Settle, it locks all open outbox entries of the operations to which
// the discarded entries belong. If concurrent sessions settle or discard entries of one operation, exactly one session
// therefore reports that the operation is complete.
func (o outbox) Discard(ctx context.Context, entryIDs []string) ([]domain.Discarded, error) {
	if len(entryIDs) == 0 {
		return nil, o.db.Usable()
	}
	if err := o.db.OverwriteDeleted(ctx); err != nil {
		return nil, err
	}
	list := syntax.TextList(entryIDs)
	found, err := o.readEntries(ctx, o.db.Read, "discard", o.store.outbox.AbandonedInList, list)
	if err != nil {
		return nil, err
	}
	settlements := make([]domain.Settlement, len(found))
	for i, entry := range found {
		settlements[i].Entry = entry
	}
	open := open{}
	for chunk := range slices.Chunk(settlements, maxSettlements) {
		if err := o.lock(ctx, chunk, open); err != nil {
			return nil, err
		}
	}
	changed, err := o.change(ctx, "discard", o.store.outbox.Discard, list)
	if err != nil {
		return nil, err
	}
	discarded := make([]domain.Discarded, len(changed))
	last := map[operationOf]int{}
	for i, entry := range changed {
		discarded[i].Entry = entry
		of := ofEntry(entry)
		delete(open[of], entry.EntryID)
		if _, locked := open[of]; locked && entry.Operation == domain.OperationErase {
			last[operationOf{of, entry.OperationID}] = i
		}
	}
	for of, i := range last {
		discarded[i].Completes = !open.hasEntry(of)
	}
	return discarded, nil
}

func (o outbox) FirstClaims(ctx context.Context, entryIDs []string) (map[string]time.Time, error) {
	found := map[string]time.Time{}
	if len(entryIDs) == 0 {
		return found, o.db.Usable()
	}
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	err := o.db.Read(ctx, "tried since", func(rows *sql.Rows) error {
		var id string
		var since syntax.OptionalInstant
		err := rows.Scan(&id, &since)
		if since.Time != nil {
			found[id] = *since.Time
		}
		return err
	}, o.store.outbox.FirstClaims, syntax.TextList(entryIDs))
	return found, err
}
