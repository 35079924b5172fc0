package bunstore

import "time"

// AwaitForeign sets the time in which the server of a foreign table must answer Find.
func (s *Store) AwaitForeign(patience time.Duration) { s.finding.Patience = patience }
