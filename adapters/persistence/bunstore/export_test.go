package bunstore

// Waiting returns the number of sessions that wait for a statement that several sessions share.
func (s *Store) Waiting() int { return s.lookups.Waiting() + s.appending.Waiting() }

// Shares reports whether a new session would share statements with other sessions.
func (s *Store) Shares() bool { return s.canShare() }
