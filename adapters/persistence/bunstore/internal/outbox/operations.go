package outbox

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
)

const countEntries = `
	SELECT status, count(*) FROM {outbox} WHERE stage = 0 GROUP BY status
	UNION ALL
	SELECT status, count(*) FROM {outbox} WHERE stage > 0 GROUP BY status`

// Counts implements ports.OutboxAdmin.
func (o *Session) Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
	if err := o.unsent.Send(ctx, unsent.Entries); err != nil {
		return nil, err
	}
	counts := map[domain.OutboxStatus]int64{}
	for _, status := range domain.OutboxStatuses() {
		counts[status] = 0
	}
	err := o.db.Read(ctx, "count outbox", func(rows *sql.Rows) error {
		var status domain.OutboxStatus
		var n int64
		err := rows.Scan(&status, &n)
		counts[status] = n
		return err
	}, o.store.counts)
	return counts, err
}

const backlog = `
	SELECT resolver, status, count(*), min(enqueued_at), min(COALESCE(next_attempt_at, enqueued_at)) FROM {outbox}
	WHERE stage = 0 GROUP BY resolver, status
	UNION ALL
	SELECT resolver, status, count(*), NULL, NULL FROM {outbox}
	WHERE stage = 1 GROUP BY resolver, status`

// Backlog implements ports.OutboxAdmin.
func (o *Session) Backlog(ctx context.Context) ([]domain.OutboxBacklog, error) {
	if err := o.unsent.Send(ctx, unsent.Entries); err != nil {
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
	}, o.store.backlog)
	slices.SortFunc(all, func(a, b domain.OutboxBacklog) int { return strings.Compare(a.Resolver, b.Resolver) })
	return all, err
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

const (
	abandoned = `
		SELECT {entry} FROM {outbox}
		WHERE stage = 1
		ORDER BY enqueued_at, entry_id LIMIT $1`

	// abandonedAfter selects up to $1 abandoned or spared outbox entries, oldest first. The selection starts after the
	// entry with the id $3, which was enqueued at $2. The statement prefers the stored enqueued_at to $2, because $2 is
	// wrong if the driver could not read the instant.
	abandonedAfter = `
		SELECT {entry} FROM {outbox}
		WHERE stage = 1 AND (enqueued_at, entry_id) >
			(COALESCE((SELECT enqueued_at FROM {outbox} WHERE entry_id = $3), $2), $3)
		ORDER BY enqueued_at, entry_id LIMIT $1`
)

// Abandoned implements ports.OutboxAdmin.
func (o *Session) Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.db.Usable()
	}
	text, args := o.store.abandoned, []any{limit}
	if after != nil {
		text = o.store.abandonedAfter
		args = append(args, o.store.dialect.Instant(after.EnqueuedAt), after.EntryID)
	}
	return o.readEntries(ctx, o.db.Read, "list abandoned", text, args...)
}

const requeued = `
	status = 'pending', attempts = 0, last_attempt_at = NULL, next_attempt_at = NULL, last_error = NULL,
	tried_since = NULL`

// Requeue implements ports.OutboxAdmin.
func (o *Session) Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error) {
	if len(entryIDs) == 0 {
		return nil, o.db.Usable()
	}
	return o.requeue(ctx, o.store.requeue, syntax.TextList(entryIDs))
}

// matchingAbandoned selects the abandoned erasures that match a filter, oldest first.
const matchingAbandoned = `
	SELECT entry_id FROM {outbox}
	WHERE stage = 1 AND status = 'abandoned' AND operation = 'erase'{filter}
	ORDER BY enqueued_at, entry_id LIMIT $1`

// matchingStatement returns the statement that requeues the oldest abandoned erasures that match the filter. The
// statement returns the requeued entries. The parameter limit is their maximum number.
func (o *Store) matchingStatement(filter domain.OutboxFilter, limit int) (text string, args []any) {
	all, condition := syntax.Args{limit}, ""
	if filter.Resolver != "" {
		condition += " AND resolver = " + all.Add(filter.Resolver, "text")
	}
	d := o.dialect
	if !filter.EnqueuedBefore.IsZero() {
		condition += " AND enqueued_at < " + all.Add(d.Instant(filter.EnqueuedBefore), d.InstantType())
	}
	if !filter.EnqueuedFrom.IsZero() {
		condition += " AND enqueued_at >= " + all.Add(d.Instant(filter.EnqueuedFrom), d.InstantType())
	}
	return strings.Replace(o.requeueMatching, "{filter}", condition, 1), all
}

// RequeueMatching implements ports.OutboxAdmin.
func (o *Session) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.db.Usable()
	}
	text, args := o.store.matchingStatement(filter, limit)
	return o.requeue(ctx, text, args...)
}

func (o *Session) requeue(ctx context.Context, text string, args ...any) ([]domain.OutboxEntry, error) {
	requeued, err := o.change(ctx, "requeue", text, args...)
	if len(requeued) > 0 {
		o.Enqueued = true
		o.db.AtEnd = append(o.db.AtEnd, func(_ context.Context, err error) {
			if err == nil {
				o.store.marks.forget()
			}
		})
	}
	return requeued, err
}

const discarded = `
	status = 'succeeded', last_error = NULL, next_attempt_at = NULL, lease_token = NULL, ref = NULL,
	corrections = NULL`

// Discard implements ports.OutboxAdmin. Like Settle, it locks all open outbox entries of the operations to which
// the discarded entries belong. If concurrent sessions settle or discard entries of one operation, exactly one session
// therefore reports that the operation is complete.
func (o *Session) Discard(ctx context.Context, entryIDs []string) ([]domain.Discarded, error) {
	if len(entryIDs) == 0 {
		return nil, o.db.Usable()
	}
	if err := o.db.OverwriteDeleted(ctx); err != nil {
		return nil, err
	}
	list := syntax.TextList(entryIDs)
	found, err := o.readEntries(ctx, o.db.Read, "discard", o.store.abandonedInList, list)
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
	changed, err := o.change(ctx, "discard", o.store.discard, list)
	if err != nil {
		return nil, err
	}
	discarded := make([]domain.Discarded, len(changed))
	last := map[operationOf]int{}
	for i, entry := range changed {
		discarded[i].Entry = entry
		of := ofEntry(entry)
		_, waitedFor := open[of][entry.EntryID] // not if the entry was spared
		delete(open[of], entry.EntryID)
		if waitedFor && entry.Operation == domain.OperationErase {
			last[operationOf{of, entry.OperationID}] = i
		}
	}
	for of, i := range last {
		discarded[i].Completes = !open.hasEntry(of)
	}
	return discarded, nil
}

const firstClaims = `SELECT entry_id, tried_since FROM {outbox} WHERE tried_since > {earliest instant} AND {in list}`

// FirstClaims implements ports.Outbox.
func (o *Session) FirstClaims(ctx context.Context, entryIDs []string) (map[string]time.Time, error) {
	found := map[string]time.Time{}
	if len(entryIDs) == 0 {
		return found, o.db.Usable()
	}
	if err := o.unsent.Send(ctx, unsent.Entries); err != nil {
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
	}, o.store.firstClaims, syntax.TextList(entryIDs))
	return found, err
}

const purge = `
	DELETE FROM {outbox} WHERE entry_id IN (
		SELECT entry_id FROM {outbox}
		WHERE stage = 2 AND enqueued_at < $1
		ORDER BY enqueued_at, entry_id LIMIT $2)`

// Purge implements ports.OutboxAdmin.
func (o *Session) Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error) {
	if limit <= 0 {
		return 0, o.db.Usable()
	}
	return o.db.Write(ctx, "purge outbox", o.store.purge, o.store.dialect.Instant(enqueuedBefore), limit)
}
