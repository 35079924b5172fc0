package bunstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.OutboxOperations = outbox{}

func (o outbox) Backlog(ctx context.Context) ([]domain.OutboxBacklog, error) {
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	var all []domain.OutboxBacklog
	table := o.store.tables.outbox
	err := o.read(ctx, "backlog", func(rows *sql.Rows) error {
		var resolver string
		var status domain.OutboxStatus
		var n int64
		var oldest, due optionalInstant
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
		all[i].Oldest, all[i].OldestDue = earlier(all[i].Oldest, oldest.time), earlier(all[i].OldestDue, due.time)
		return nil
	}, "SELECT resolver, status, count(*), min(enqueued_at), min(COALESCE(next_attempt_at, enqueued_at)) FROM "+table+
		" WHERE "+isOpen+" GROUP BY resolver, status"+
		" UNION ALL SELECT resolver, 'abandoned', count(*), NULL, NULL FROM "+table+
		" WHERE "+isAbandoned+" GROUP BY resolver")
	slices.SortFunc(all, func(a, b domain.OutboxBacklog) int { return strings.Compare(a.Resolver, b.Resolver) })
	return all, err
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// renewed is what a requeue makes of an entry.
func (o outbox) renewed() string {
	return "status = 'pending', attempts = 0, last_attempt_at = NULL, next_attempt_at = NULL, last_error = NULL," +
		" tried_since = " + o.store.dialect.beginning()
}

func (o outbox) Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error) {
	if len(entryIDs) == 0 {
		return nil, o.usable()
	}
	return o.requeue(ctx, o.amongst("$1"), asList(entryIDs))
}

func (o outbox) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.usable()
	}
	args := parameters{limit}
	condition := isAbandoned + " AND operation = 'erase'"
	if filter.Resolver != "" {
		condition += " AND resolver = " + args.add(filter.Resolver, "text")
	}
	if !filter.EnqueuedBefore.IsZero() {
		condition += " AND enqueued_at < " +
			args.add(o.store.dialect.instant(filter.EnqueuedBefore), o.store.dialect.instantType())
	}
	if !filter.EnqueuedFrom.IsZero() {
		condition += " AND enqueued_at >= " +
			args.add(o.store.dialect.instant(filter.EnqueuedFrom), o.store.dialect.instantType())
	}
	return o.requeue(ctx, o.store.dialect.amongst("entry_id", "SELECT entry_id FROM "+o.store.tables.outbox+" WHERE "+
		condition+" ORDER BY enqueued_at, entry_id LIMIT $1"), args...)
}

func (o outbox) requeue(ctx context.Context, condition string, args ...any) ([]domain.OutboxEntry, error) {
	condition = isStillAbandoned + " AND operation = 'erase' AND " + condition
	requeued, err := o.change(ctx, "requeue", condition, o.renewed(), args...)
	o.enqueued = o.enqueued || len(requeued) > 0
	return requeued, err
}

// Discard locks what the entries belong to as Settle does, so that one of them sees the last entry of an operation go.
func (o outbox) Discard(ctx context.Context, entryIDs []string) ([]domain.Discarded, error) {
	if len(entryIDs) == 0 {
		return nil, o.usable()
	}
	if err := o.forget(ctx); err != nil {
		return nil, err
	}
	chosen := isStillAbandoned + " AND " + o.amongst("$1")
	list := asList(entryIDs)
	found, err := o.found(ctx, o.read, "discard",
		"SELECT "+entryColumns+" FROM "+o.store.tables.outbox+" WHERE "+chosen, list)
	if err != nil {
		return nil, err
	}
	settlements := make([]domain.Settlement, len(found))
	for i, entry := range found {
		settlements[i].Entry = entry
	}
	open := open{}
	for chunk := range slices.Chunk(settlements, mostSettled) {
		if err := o.lock(ctx, chunk, open); err != nil {
			return nil, err
		}
	}
	changed, err := o.change(ctx, "discard", chosen, "status = 'succeeded', last_error = NULL, next_attempt_at = NULL,"+
		" lease_token = NULL, ref = NULL, corrections = NULL", list)
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
			last[of] = i
		}
	}
	for of, i := range last {
		discarded[i].Completes = len(open[of]) == 0
	}
	return discarded, nil
}

func (o outbox) TriedSince(ctx context.Context, entryIDs []string) (map[string]time.Time, error) {
	found := map[string]time.Time{}
	if len(entryIDs) == 0 {
		return found, o.usable()
	}
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	err := o.read(ctx, "tried since", func(rows *sql.Rows) error {
		var id string
		var since optionalInstant
		err := rows.Scan(&id, &since)
		if since.time != nil {
			found[id] = *since.time
		}
		return err
	}, "SELECT entry_id, tried_since FROM "+o.store.tables.outbox+" WHERE tried_since > "+o.store.dialect.beginning()+
		" AND "+o.amongst("$1"), asList(entryIDs))
	return found, err
}

// amongst is the condition that an entry's id is in a list, which is a parameter.
func (o outbox) amongst(list string) string {
	return o.store.dialect.amongst("entry_id", o.store.dialect.elements(list))
}

// asList is any number of texts as one parameter.
func asList(texts []string) string {
	list, err := json.Marshal(texts)
	if err != nil {
		panic(err) // texts have a form in JSON
	}
	return string(list)
}
