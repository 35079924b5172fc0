package saga

// HasLooked lets the runner not look for unclaimed entries until an hour has passed.
func (r *Runner) HasLooked() { r.unclaimed.isDue(r.config.Clock.Now(), false) }

// Configured returns the configuration with the defaults filled in.
func (r *Runner) Configured() Config { return r.config }
