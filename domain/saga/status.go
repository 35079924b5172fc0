package saga

import (
	"context"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// stalledAfter is how long an entry may be due before Status reports that no worker claims it. It is longer than the
// default lease. If a worker dies, another worker claims its entries when the lease expires.
const stalledAfter = 15 * time.Minute

// lateAfter is the age from which an open entry is late. It is six days before the default GiveUpAfter, and long before
// the end of the month that the controller has to respond (Art. 12(3) GDPR).
const lateAfter = 24 * time.Hour

// Status returns the counts, the backlog and the findings of the outbox. It only reads. A finding is a problem of one
// external system. It has one of four codes:
//
//   - outbox-abandoned: entries were abandoned, so a person must act.
//   - outbox-spared: a resolver has spared records (see domain.ErrSpared), and no operator has discarded the entries
//     yet.
//   - outbox-late: an entry has been open for at least a day.
//   - outbox-stalled: an entry has been due for 15 minutes, and no worker has claimed it. Possible causes: no worker
//     with its resolver and its operation runs, the circuit breaker of its system is open, the system has requested a
//     wait, a rate limit (SystemLimits) or slow calls hold the worker back, or more entries are due than the worker can
//     process.
func (r *Runner) Status(ctx context.Context, s ports.Session) (status Status, err error) {
	status = NewStatus(r.config.Clock.Now())
	if status.Counts, err = s.OutboxAdmin().Counts(ctx); err != nil {
		return Status{}, err
	}
	backlogs, err := s.OutboxAdmin().Backlog(ctx)
	if err != nil {
		return Status{}, err
	}
	for _, backlog := range backlogs {
		status.Backlog = append(status.Backlog, backlog)
		status.Findings = append(status.Findings, findings(backlog, status.At)...)
	}
	return status, nil
}

func findings(backlog domain.OutboxBacklog, at time.Time) (found []datamap.Finding) {
	system := "System " + backlog.Resolver + ": "
	entriesWere := func(n int64) string {
		if n == 1 {
			return "1 entry was"
		}
		return strconv.FormatInt(n, 10) + " entries were"
	}
	if n := backlog.Counts[domain.OutboxAbandoned]; n > 0 {
		found = append(found, datamap.Finding{
			Code: "outbox-abandoned", Severity: datamap.SeverityError,
			Reason: system + entriesWere(n) + " abandoned. The system did not erase or correct the data.",
			Remedy: "Fix the cause. Then requeue or discard the erasures. A rectification cannot be requeued: " +
				"make the correction again and discard the entry.",
		})
	}
	if n := backlog.Counts[domain.OutboxSpared]; n > 0 {
		found = append(found, datamap.Finding{
			Code: "outbox-spared", Severity: datamap.SeverityWarning,
			Reason: system + entriesWere(n) + " spared. The system made the record after the erasure or the correction, so the" +
				" record seems to be of another person.",
			Remedy: "Find out whose record it is, and erase or correct it by hand if it is the person's. Then discard the" +
				" entry.",
		})
	}
	if backlog.Oldest != nil && at.Sub(*backlog.Oldest) >= lateAfter {
		found = append(found, datamap.Finding{
			Code: "outbox-late", Severity: datamap.SeverityWarning,
			Reason: system + "an entry has been open since " + backlog.Oldest.Format(time.RFC3339) + ".",
			Remedy: "Find out why its calls fail. The time limit is one month (Art. 12(3) GDPR).",
		})
	}
	if backlog.OldestDue != nil && at.Sub(*backlog.OldestDue) >= stalledAfter {
		found = append(found, datamap.Finding{
			Code: "outbox-stalled", Severity: datamap.SeverityError,
			Reason: system + "an entry has been due since " + backlog.OldestDue.Format(time.RFC3339) +
				", and no worker takes it.",
			Remedy: "Check that a worker with this resolver runs, and that the system responds.",
		})
	}
	return found
}

// Status is the overview for an operator. It shows the calls to external systems that have not succeeded, the
// background duties, and the findings that a person has to handle.
type Status struct {
	// Map is the name of the data map if it has one (see datamap.CheckMapName).
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
