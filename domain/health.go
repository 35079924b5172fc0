package domain

// Health is the state of habeas in one process, for probes. It holds no name of a schema and no message.
type Health struct {
	// Live is true: the process has responded.
	Live bool `json:"live"`
	// Ready is true if the process can serve requests: none of the checks of the database, of the migrations and of the
	// worker has failed.
	Ready bool `json:"ready"`
	// Degraded is true if a person should look at the outbox: it has entries that were given up or that are late. The
	// process serves requests all the same.
	Degraded bool          `json:"degraded"`
	Checks   []HealthCheck `json:"checks"` // one of each name, in the order of the constants
}

// HealthCheck is one part of a Health.
type HealthCheck struct {
	Name   CheckName   `json:"name"`
	Status CheckStatus `json:"status"`
	Err    error       `json:"-"` // why the check failed or could not be made, for a log; may be nil
}

// CheckName names a HealthCheck.
type CheckName string

// The checks.
const (
	CheckDatabase   CheckName = "database"          // can be reached in time
	CheckMigrations CheckName = "migrations"        // all are applied
	CheckWorker     CheckName = "worker"            // was seen to work lately
	CheckAbandoned  CheckName = "abandoned_entries" // there are none in the outbox
	CheckLate       CheckName = "late_entries"      // there are none in the outbox
)

// CheckStatus is the result of a HealthCheck.
type CheckStatus string

// The results of a check.
const (
	CheckOK      CheckStatus = "ok"
	CheckFailed  CheckStatus = "failed"
	CheckUnknown CheckStatus = "unknown" // it could not be made
	CheckOff     CheckStatus = "off"     // there is nothing to check: no worker is running in the process
)

// NewHealth returns the health that follows from the checks.
func NewHealth(checks ...HealthCheck) Health {
	health := Health{Live: true, Ready: true, Checks: checks}
	for _, check := range checks {
		if check.Status != CheckFailed {
			continue
		}
		switch check.Name {
		case CheckDatabase, CheckMigrations, CheckWorker:
			health.Ready = false
		case CheckAbandoned, CheckLate:
			health.Degraded = true
		}
	}
	return health
}

// Status returns the result of the check of that name, CheckUnknown if there is none.
func (h Health) Status(name CheckName) CheckStatus {
	for _, check := range h.Checks {
		if check.Name == name {
			return check.Status
		}
	}
	return CheckUnknown
}
