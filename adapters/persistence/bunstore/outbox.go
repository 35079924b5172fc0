package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type outbox struct{ *session }

func (s *session) Outbox() ports.Outbox           { return outbox{s} }
func (s *session) OutboxAdmin() ports.OutboxAdmin { return outbox{s} }

func (o outbox) Enqueue(ctx context.Context, added ...domain.OutboxEntry) error {
	for _, entry := range added {
		ref, err := syntax.JSON("outbox", entry.Ref)
		if err != nil {
			return err
		}
		var corrections any
		if entry.Corrections != nil {
			if corrections, err = syntax.JSON("outbox", entry.Corrections); err != nil {
				return err
			}
		}
		if err := o.ledger.Buffer(ctx, ledger.Entries, entry.EntryID, entry.SubjectID.String(), entry.Resolver, ref,
			string(entry.Operation), corrections, string(entry.Status), entry.Attempts,
			o.store.dialect.Instant(entry.EnqueuedAt), syntax.Nullable(syntax.Optional(entry.OperationID))); err != nil {
			return err
		}
		o.enqueued = true
	}
	return nil
}

// maxEntriesPerStatement is the maximum number of ids of outbox entries that a statement gets as parameters. Databases
// limit the number of parameters of a statement.
const maxEntriesPerStatement = 1000

func (o outbox) Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
	if err := o.sendEntries(ctx); err != nil {
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
	}, o.store.outbox.Counts)
	return counts, err
}

func (o outbox) Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.db.Usable()
	}
	text, args := o.store.outbox.Abandoned, []any{limit}
	if after != nil {
		text = o.store.outbox.AbandonedAfter
		args = append(args, o.store.dialect.Instant(after.EnqueuedAt), after.EntryID)
	}
	return o.readEntries(ctx, o.db.Read, "list abandoned", text, args...)
}

func (o outbox) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	if o.ledger.Prefetched != nil && o.ledger.Prefetched.SubjectID == id && !o.ledger.Prefetched.UnsentCorrections {
		return nil, o.db.Usable()
	}
	if err := o.db.OverwriteDeleted(ctx); err != nil {
		return nil, err
	}
	return o.change(ctx, "withdraw", o.store.outbox.Withdraw, id.String())
}

// change runs a statement that updates outbox entries, and returns the updated entries, oldest first.
func (o outbox) change(ctx context.Context, op, text string, args ...any) ([]domain.OutboxEntry, error) {
	changed, err := o.readEntries(ctx, o.db.WriteRows, op, text, args...)
	slices.SortFunc(changed, domain.OutboxEntry.Compare)
	return changed, err
}

func (o outbox) Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error) {
	if limit <= 0 {
		return 0, o.db.Usable()
	}
	return o.db.Write(ctx, "purge outbox", o.store.outbox.Purge, o.store.dialect.Instant(enqueuedBefore), limit)
}

// sendEntries inserts the buffered rows if there are outbox entries among them, so that the next statement on the
// outbox sees these entries.
func (o outbox) sendEntries(ctx context.Context) error {
	if len(o.ledger.Buffered[ledger.Entries]) == 0 {
		return nil
	}
	return o.ledger.Flush(ctx)
}

// writePlanned runs a statement on a batch of outbox entries in the same way as writeRows, and measures its duration.
// If the statement is slow, the database may use a cached query plan that suits an empty outbox. writePlanned then
// changes a comment in later statements, so that the database plans them again.
func (o outbox) writePlanned(
	ctx context.Context, op string, scanRow func(*sql.Rows) error, text string, args ...any,
) error {
	mark, began := o.store.plans.Mark(), time.Now()
	err := o.db.WriteRows(ctx, op, scanRow, text+mark, args...)
	o.store.plans.Took(mark, began, time.Now())
	return err
}

// runner is session.read or session.db.WriteRows. It runs a statement and calls scanRow for every row.
type runner func(ctx context.Context, op string, scanRow func(*sql.Rows) error, text string, args ...any) error

// readEntries runs a statement that returns outbox entries. Fields that cannot be decoded are zero.
func (o outbox) readEntries(
	ctx context.Context, run runner, op, text string, args ...any,
) ([]domain.OutboxEntry, error) {
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	var found []domain.OutboxEntry
	err := run(ctx, op, func(rows *sql.Rows) error {
		entry, _, err := scanEntry(rows)
		found = append(found, entry)
		return err
	}, text, args...)
	return found, err
}
