package saga

// HasLooked postpones the search for unclaimed entries by an hour.
func (r *Runner) HasLooked() { r.unclaimed.isDue(r.config.Clock.Now(), false) }

// Configured returns the configuration with the defaults.
func (r *Runner) Configured() Config { return r.config }
