package outbox

import (
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// updateUnreadable abandons outbox entries that cannot be read. For an erasure, it keeps the column ref, so that an
// operator can repair and requeue the entry.
const updateUnreadable = `
	UPDATE {outbox} SET
		status = 'abandoned', last_error = '` + domain.LastErrorUnreadable + `', next_attempt_at = NULL,
		lease_token = NULL, ref = CASE WHEN operation = 'rectify' THEN NULL ELSE ref END, corrections = NULL
	WHERE entry_id IN (`

// maxEntriesPerStatement is the maximum number of ids of outbox entries that a statement gets as parameters. Databases
// limit the number of parameters of a statement.
const maxEntriesPerStatement = 1000

// unreadableStatement returns the statement that sets outbox entries to abandoned. The parameters of the statement are
// the ids of the entries.
func (o *Store) unreadableStatement(idCount int) string {
	ids := make([]string, idCount)
	for i := range ids {
		ids[i] = syntax.Placeholder(i + 1)
	}
	return o.unreadable + strings.Join(ids, ", ") + ")"
}

// abandonUnreadable gives the outbox entries with these indexes the status abandoned, because one of their columns
// cannot be decoded. An entry of an erasure keeps its ref, so that a person can repair and requeue the entry.
func (o *Session) abandonUnreadable(ctx context.Context, entries []domain.OutboxEntry, indexes []int) error {
	for chunk := range slices.Chunk(indexes, maxEntriesPerStatement) {
		args := make([]any, len(chunk))
		for i, at := range chunk {
			entry := &entries[at]
			args[i] = entry.EntryID
			class := domain.LastErrorUnreadable
			entry.Status, entry.LastError = domain.OutboxAbandoned, &class
			entry.NextAttemptAt, entry.LeaseToken, entry.Corrections = nil, nil, nil
		}
		if _, err := o.db.Write(ctx, "claim", o.store.unreadableStatement(len(chunk)), args...); err != nil {
			return err
		}
	}
	return nil
}
