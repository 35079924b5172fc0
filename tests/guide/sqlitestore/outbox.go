package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// outbox implements ports.Outbox.
type outbox struct{ *session }

const (
	entryColumns = `entry_id, subject, resolver, ref, operation, corrections, status, attempts, enqueued_at,
		last_attempt_at, next_attempt_at, last_error, lease_token`
	open   = `status IN ('pending', 'failed', 'in_flight')` // as the index has it
	oldest = ` ORDER BY enqueued_at, entry_id LIMIT ?1`
	forget = `ref = json_object('kind', resolver, 'value', ''), corrections = 'null'`
)

func (o outbox) Enqueue(_ context.Context, entries ...domain.OutboxEntry) error {
	for _, e := range entries {
		ref, err := json.Marshal(e.Ref)
		if err != nil {
			return o.fail(&domain.Error{Op: "enqueue", Message: "a ref has no form in JSON"})
		}
		corrections, err := json.Marshal(e.Corrections)
		if err != nil {
			return o.fail(&domain.Error{Op: "enqueue", Message: "a correction has no form in JSON"})
		}
		err = o.hold(`INSERT INTO habeas_outbox (entry_id, subject, resolver, ref, operation, corrections, status, attempts,
			enqueued_at) VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, ?)`,
			e.EntryID, e.SubjectID.String(), e.Resolver, string(ref), e.Operation, string(corrections), stamp(e.EnqueuedAt))
		if err != nil {
			return err
		}
	}
	return nil
}

func (o outbox) Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
	counts := map[domain.OutboxStatus]int64{}
	for _, status := range domain.OutboxStatuses() {
		counts[status] = 0
	}
	_, err := collect(ctx, o.session, false, func(row *sql.Rows) (none struct{}, err error) {
		var status domain.OutboxStatus
		var count int64
		err = row.Scan(&status, &count)
		counts[status] = count
		return none, err
	}, `SELECT status, count(*) FROM habeas_outbox GROUP BY status`)
	if err != nil {
		return nil, err
	}
	return counts, nil
}

func (o outbox) Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
	query, args := `SELECT `+entryColumns+` FROM habeas_outbox WHERE status = 'abandoned'`, []any{max(0, limit)}
	if after != nil {
		query += ` AND (enqueued_at, entry_id) > (?2, ?3)`
		args = append(args, stamp(after.EnqueuedAt), after.EntryID)
	}
	return collect(ctx, o.session, false, scanWhatCanBeRead, query+oldest, args...)
}

func (o outbox) Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error) {
	if len(entryIDs) == 0 {
		return nil, o.usable()
	}
	wanted, err := json.Marshal(entryIDs)
	if err != nil {
		return nil, o.fail(&domain.Error{Op: "requeue", Message: "the ids have no form in JSON"})
	}
	return o.change(ctx, `SET status = 'pending', attempts = 0, last_attempt_at = NULL, next_attempt_at = NULL,
		last_error = NULL WHERE entry_id IN (SELECT value FROM json_each(?)) AND status = 'abandoned'
		AND operation = 'erase'`, string(wanted))
}

func (o outbox) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	return o.change(ctx, `SET status = 'abandoned', last_error = 'erased', next_attempt_at = NULL, lease_token = NULL, `+
		forget+` WHERE subject = ? AND operation = 'rectify' AND `+open, id.String())
}

func (o outbox) Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error) {
	return o.exec(ctx, `DELETE FROM habeas_outbox WHERE entry_id IN (SELECT entry_id FROM habeas_outbox
		WHERE status = 'succeeded' AND enqueued_at < ?2`+oldest+`)`, max(0, limit), stamp(enqueuedBefore))
}

// change updates entries and returns them, oldest first.
func (o outbox) change(ctx context.Context, change string, args ...any) ([]domain.OutboxEntry, error) {
	changed, err := collect(ctx, o.session, true, scanWhatCanBeRead,
		`UPDATE habeas_outbox `+change+` RETURNING `+entryColumns, args...)
	slices.SortFunc(changed, byAge)
	return changed, err
}

func byAge(a, b domain.OutboxEntry) int {
	return cmp.Or(a.EnqueuedAt.Compare(b.EnqueuedAt), cmp.Compare(a.EntryID, b.EntryID))
}
