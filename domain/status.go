package domain

import "time"

// Status is the overview for an operator. It shows the calls to external systems that are still due, and the findings
// that a person has to handle.
type Status struct {
	// Map is the name of the data map if it has one (see CheckMapName). It belongs to the tables of habeas whose state
	// this is.
	Map     string                 `json:"map,omitempty"`
	At      time.Time              `json:"at"`
	Counts  map[OutboxStatus]int64 `json:"counts"` // of all entries of the outbox; has every status
	Backlog []OutboxBacklog        `json:"backlog"`
	// Duties are the background duties of the workers, in the order of DutyNames. A duty that no worker has is missing.
	Duties []Duty `json:"duties"`
	// PendingMigrations are the names of migrations that were not applied.
	PendingMigrations []string `json:"pending_migrations"`
	// Findings are the problems that a person has to handle. They may name external systems, but never a subject.
	Findings []Finding `json:"findings"`
}

// NewStatus returns the Status of an empty outbox at an instant. Its maps and slices are not nil.
func NewStatus(at time.Time) Status {
	status := Status{
		At: Instant(at), Counts: map[OutboxStatus]int64{}, Backlog: []OutboxBacklog{}, Duties: []Duty{},
		PendingMigrations: []string{}, Findings: []Finding{},
	}
	for _, s := range OutboxStatuses() {
		status.Counts[s] = 0
	}
	return status
}

// MigrationState is the state of a migration of the tables of habeas.
type MigrationState string

// The states of a migration.
const (
	MigrationApplied MigrationState = "applied"
	MigrationPending MigrationState = "pending"
	// MigrationUnrecorded: tables of habeas exist without a record of migrations, because the application runs the
	// migrations with its own tool.
	MigrationUnrecorded MigrationState = "unrecorded"
)

// Migration is a step that creates or updates the tables of habeas.
type Migration struct {
	Name  string         `json:"name"`
	State MigrationState `json:"state"`
}
