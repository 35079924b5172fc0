package domain

import "time"

// Status is the first thing that an operator looks at: what external systems still owe subjects, and what a person has
// to look into.
type Status struct {
	At      time.Time              `json:"at"`
	Counts  map[OutboxStatus]int64 `json:"counts"` // of all entries of the outbox; every status is there
	Backlog []OutboxBacklog        `json:"backlog"`
	// PendingMigrations are the names of migrations that were not applied.
	PendingMigrations []string `json:"pending_migrations"`
	// Findings are what a person has to look into; none if all is well. They name systems, never a subject.
	Findings []Finding `json:"findings"`
}

// NewStatus returns the status of an empty outbox, in which nothing is nil.
func NewStatus(at time.Time) Status {
	status := Status{
		At: Instant(at), Counts: map[OutboxStatus]int64{}, Backlog: []OutboxBacklog{}, PendingMigrations: []string{},
		Findings: []Finding{},
	}
	for _, s := range OutboxStatuses() {
		status.Counts[s] = 0
	}
	return status
}

// MigrationState says whether a migration of the tables of habeas was applied.
type MigrationState string

// The states of a migration.
const (
	MigrationApplied MigrationState = "applied"
	MigrationPending MigrationState = "pending"
	// MigrationUnrecorded: there are tables of habeas and no record of migrations, because the application runs them with
	// a tool of its own.
	MigrationUnrecorded MigrationState = "unrecorded"
)

// Migration is a step that makes the tables of habeas, or brings them up to date.
type Migration struct {
	Name  string         `json:"name"`
	State MigrationState `json:"state"`
}
