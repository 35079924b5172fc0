package bunstore

// Waiting returns the number of sessions that wait for a shared statement.
func (s *Store) Waiting() int { return s.lookups.Waiting() + s.appending.Waiting() }

// Shares reports whether a new session would share statements.
func (s *Store) Shares() bool { return s.shares() }
