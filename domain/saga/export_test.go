package saga

// HasLooked lets the runner not look for unclaimed entries until an hour has passed.
func (r *Runner) HasLooked() { r.unclaimed.isDue(r.Clock.Now(), false) }
