package memory

import "github.com/habeas-data/habeas/domain"

// Entries are those of the outbox. No port shows what has succeeded.
func Entries(s *Store) []domain.OutboxEntry { return s.committed.Load().entries }
