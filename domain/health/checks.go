package health

// Health is the state of habeas in one process for one data map, for probes. It contains no names of a schema and no
// error messages.
type Health struct {
	// Map is the name of the data map if it has one (see datamap.CheckMapName).
	Map string `json:"map,omitempty"`
	// Live is always true, because the process has responded.
	Live bool `json:"live"`
	// Ready is true if the process can serve requests: none of the checks of the database, the migrations and the worker
	// has failed.
	Ready bool `json:"ready"`
	// Degraded is true if the outbox has entries that are abandoned or late, if the database can only be read, if a newer
	// version of habeas has changed the tables, if rows have an erased id and nothing tells whose they are, or if a
	// background duty (see domain.Duty) is not fulfilled or has leftovers. A person should then act. The process still
	// serves requests.
	Degraded bool `json:"degraded"`
	// Checks has one check for each name, in the order of the constants, but CheckWritable, CheckVersion, CheckLives
	// and the checks of duties only if they failed.
	Checks []Check `json:"checks"`
}

// Check is one check of a Health, with its result.
type Check struct {
	Name   CheckName   `json:"name"`
	Status CheckStatus `json:"status"`
	Err    error       `json:"-"` // the reason of a failed or unknown check, for a log; may be nil
}

// CheckName is the name of a Check.
type CheckName string

// The checks.
const (
	CheckDatabase   CheckName = "database"          // the database responds in time
	CheckMigrations CheckName = "migrations"        // the tables of habeas are those of this version and data map
	CheckWorker     CheckName = "worker"            // the last sign of life of the worker is recent
	CheckAbandoned  CheckName = "abandoned_entries" // the outbox has no abandoned entries
	CheckLate       CheckName = "late_entries"      // the outbox has no late entries
	CheckWritable   CheckName = "writable"          // the database can be written, not only read by exports
	CheckVersion    CheckName = "version"           // no newer version of habeas has changed the tables
	CheckLives      CheckName = "known_lives"       // of each row with an erased id, it is known whose it is

	// The checks of the duties: each is fulfilled and has no leftovers.
	CheckWorkers      CheckName = "workers" // a worker is alive, in any process
	CheckJournal      CheckName = "journal"
	CheckSweep        CheckName = "sweep"
	CheckVerification CheckName = "verification"
)

// Gates reports whether a process is not ready after the check failed. Every other failed check degrades the process.
func (n CheckName) Gates() bool {
	return n == CheckDatabase || n == CheckMigrations || n == CheckWorker
}

// CheckStatus is the result of a Check.
type CheckStatus string

// The results of a check.
const (
	CheckOK      CheckStatus = "ok"
	CheckFailed  CheckStatus = "failed"
	CheckUnknown CheckStatus = "unknown" // the check could not run
	CheckOff     CheckStatus = "off"     // the check does not apply, because no worker is running in the process
)

// NewHealth returns the Health for the results of the checks.
func NewHealth(checks ...Check) Health {
	health := Health{Live: true, Ready: true, Checks: checks}
	for _, check := range checks {
		if check.Status != CheckFailed {
			continue
		}
		if check.Name.Gates() {
			health.Ready = false
		} else {
			health.Degraded = true
		}
	}
	return health
}

// Status returns the result of the check with the given name, or CheckUnknown if there is no such check.
func (h Health) Status(name CheckName) CheckStatus {
	for _, check := range h.Checks {
		if check.Name == name {
			return check.Status
		}
	}
	return CheckUnknown
}
