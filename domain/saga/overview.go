package saga

import (
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Status is the overview for an operator. It shows the calls to external systems that are still due, and the findings
// that a person has to handle.
type Status struct {
	// Map is the name of the data map if it has one (see datamap.CheckMapName). It belongs to the tables of habeas whose
	// state this is.
	Map     string                        `json:"map,omitempty"`
	At      time.Time                     `json:"at"`
	Counts  map[domain.OutboxStatus]int64 `json:"counts"` // of all entries of the outbox; has every status
	Backlog []domain.OutboxBacklog        `json:"backlog"`
	// Duties are the background duties of the workers, in the order of domain.DutyNames. A duty that no worker has is
	// missing.
	Duties []domain.Duty `json:"duties"`
	// PendingMigrations are the names of migrations that were not applied.
	PendingMigrations []string `json:"pending_migrations"`
	// Findings are the problems that a person has to handle. They may name external systems, but never a subject.
	Findings []datamap.Finding `json:"findings"`
}

// NewStatus returns the Status of an empty outbox at an instant. Its maps and slices are not nil.
func NewStatus(at time.Time) Status {
	status := Status{
		At: domain.Instant(at), Counts: map[domain.OutboxStatus]int64{}, Backlog: []domain.OutboxBacklog{},
		Duties:            []domain.Duty{},
		PendingMigrations: []string{}, Findings: []datamap.Finding{},
	}
	for _, s := range domain.OutboxStatuses() {
		status.Counts[s] = 0
	}
	return status
}
