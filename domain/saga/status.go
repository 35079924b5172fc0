package saga

import (
	"context"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// untakenAfter is for how long an entry may be due before it looks as if no worker ran: longer than a lease, within
// which a worker that died is made up for.
const untakenAfter = 15 * time.Minute

// Status returns what the outbox holds, and what a person has to look into. The codes of its findings are
// outbox-abandoned (entries that were given up), outbox-late (an entry that is open for longer than LateAfter) and
// outbox-untaken (an entry that is due for a quarter of an hour: no worker runs, or it calls the system no more). It only reads. The
// error is domain.ErrConfiguration if the store has no ports.OutboxOperations.
func (r *Runner) Status(ctx context.Context, s ports.Session) (domain.Status, error) {
	operations, err := ports.OperationsOf(s.Outbox())
	if err != nil {
		return domain.Status{}, err
	}
	status := domain.NewStatus(r.config.Clock.Now())
	if status.Counts, err = s.Outbox().Counts(ctx); err != nil {
		return domain.Status{}, err
	}
	backlogs, err := operations.Backlog(ctx)
	if err != nil {
		return domain.Status{}, err
	}
	for _, backlog := range backlogs {
		status.Backlog = append(status.Backlog, backlog)
		status.Findings = append(status.Findings, r.findings(backlog, status.At)...)
	}
	return status, nil
}

func (r *Runner) findings(backlog domain.OutboxBacklog, at time.Time) (found []domain.Finding) {
	system := "System " + backlog.Resolver + ": "
	if n := backlog.Counts[domain.OutboxAbandoned]; n > 0 {
		given := strconv.FormatInt(n, 10) + " entries were"
		if n == 1 {
			given = "1 entry was"
		}
		found = append(found, domain.Finding{
			Code: "outbox-abandoned", Severity: domain.SeverityError,
			Reason: system + given + " given up. The system still has personal data.",
			Remedy: "See why, then requeue or discard what was given up.",
		})
	}
	if backlog.Oldest != nil && at.Sub(*backlog.Oldest) >= r.config.LateAfter {
		found = append(found, domain.Finding{
			Code: "outbox-late", Severity: domain.SeverityWarning,
			Reason: system + "an entry is open since " + backlog.Oldest.Format(time.RFC3339) + ".",
			Remedy: "See why the system fails, before the month of Art. 12(3) GDPR is over.",
		})
	}
	if backlog.OldestDue != nil && at.Sub(*backlog.OldestDue) >= untakenAfter {
		found = append(found, domain.Finding{
			Code: "outbox-untaken", Severity: domain.SeverityError,
			Reason: system + "an entry is due since " + backlog.OldestDue.Format(time.RFC3339) + ", and is not taken.",
			Remedy: "See whether a worker with a resolver of this name runs, and whether the system responds.",
		})
	}
	return found
}
