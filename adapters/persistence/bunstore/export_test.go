package bunstore

import "time"

// AwaitForeign sets the time in which the server of a foreign table must answer Find.
func (s *Store) AwaitForeign(patience time.Duration) { s.finding.Patience = patience }

// Waiting returns the number of sessions that wait for a statement that several sessions share.
func (s *Store) Waiting() int { return s.ledgers.Waiting() }

// Shares reports whether a new session would share statements with other sessions.
func (s *Store) Shares() bool { return s.ledgers.CanShare() }
