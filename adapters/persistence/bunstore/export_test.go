package bunstore

// Waiting is how many sessions wait for a statement to end.
func (s *Store) Waiting() int { return s.lookups.Waiting() + s.appending.Waiting() }

// Shares reports whether a session would share statements now.
func (s *Store) Shares() bool { return s.shares() }
