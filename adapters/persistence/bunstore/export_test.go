package bunstore

// Waiting is how many sessions wait for a statement to end.
func (s *Store) Waiting() int { return s.questions.count() + s.appending.count() }

// Shares reports whether a session would share statements now.
func (s *Store) Shares() bool { return s.shares() }

func (c *combiner[T]) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}
