package saga

// PostponeSearch postpones the next search for unclaimed outbox entries by an hour.
func (r *Runner) PostponeSearch() { r.unclaimed.isDue(r.config.Clock.Now(), false) }

// Configured returns the configuration with the defaults.
func (r *Runner) Configured() Config { return r.config }
