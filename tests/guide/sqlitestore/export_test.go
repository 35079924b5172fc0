package sqlitestore

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Statements returns how many statements the store has sent.
func (s *Store) Statements() int { return int(s.statements.Load()) }

// Connections returns how many connections sessions have at the moment.
func (s *Store) Connections() int { return s.db.Stats().InUse }

// Entries returns the whole outbox as it is stored, oldest first.
func (s *Store) Entries(ctx context.Context) (entries []domain.OutboxEntry, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+entryColumns+` FROM habeas_outbox ORDER BY enqueued_at, entry_id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		entry, err := scanWhatCanBeRead(rows)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, rows.Err()
}
