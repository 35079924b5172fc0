package app

import (
	"context"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/duties"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

// Outbox has the methods for the outbox, which is the table of calls to external systems, and for the worker that
// processes it.
type Outbox struct {
	stack    Stack
	sessions ports.SessionFactory
	schema   *Schema
	duties   *duties.Book
}

// Status returns the state of the outbox and of the background duties, and findings that need the attention of a
// person. See saga.Runner.Status, duties.Findings and lives.Finding. If no migration is pending, Status reads the marks
// of all erasures. If migrations are pending, Status adds a finding with the code migration-pending instead. It does
// not check migrations if Config.Stack is set.
func (o *Outbox) Status(ctx context.Context) (status saga.Status, err error) {
	var pending []string
	var migrations []domain.Migration
	if o.schema.store != nil {
		if migrations, err = o.schema.Migrations(ctx); err != nil {
			return saga.Status{}, err
		}
	}
	for _, migration := range migrations {
		if migration.State == domain.MigrationPending {
			pending = append(pending, migration.Name)
		}
	}
	status = saga.NewStatus(o.stack.Clock.Now())
	if o.schema.store == nil || len(pending) < len(migrations) { // without any migration, the outbox does not exist
		err = o.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			if status, err = o.stack.Runner.Status(ctx, s); err == nil {
				status.Duties, err = o.duties.Read(ctx, s)
			}
			return err
		})
		if err != nil {
			return saga.Status{}, err
		}
		status.Findings = append(status.Findings, duties.Findings(status.Duties, status.At)...)
	}
	if len(pending) > 0 {
		status.PendingMigrations = pending
		status.Findings = append(status.Findings, pendingMigrations(pending))
	} else {
		unknown, err := lives.Count(ctx, o.sessions)
		if err != nil {
			return saga.Status{}, err
		}
		if finding, found := lives.Finding(unknown); found {
			status.Findings = append(status.Findings, finding)
		}
	}
	status.Map = o.schema.tables.Name
	return status, nil
}

func pendingMigrations(names []string) datamap.Finding {
	return datamap.Finding{
		Code: "migration-pending", Severity: datamap.SeverityError,
		Reason: "These migrations of the tables of habeas are pending: " + strings.Join(names, ", ") + ".",
		Remedy: "Run the migrations.",
	}
}

// Abandoned returns up to limit outbox entries that were given up or spared, oldest first. For the first page, pass nil
// as the entry. For each further page, pass the last entry of the previous page.
func (o *Outbox) Abandoned(
	ctx context.Context, after *domain.OutboxEntry, limit int,
) ([]domain.OutboxEntry, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.OutboxEntry, error) {
		return s.OutboxAdmin().Abandoned(ctx, after, limit)
	})
}

// Requeue sets abandoned erasures in the outbox back to pending, and returns their entries. It skips rectifications.
// See saga.Runner.Requeue.
func (o *Outbox) Requeue(ctx context.Context, entryIDs ...string) ([]domain.OutboxEntry, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.OutboxEntry, error) {
		return o.stack.Runner.Requeue(ctx, s, entryIDs...)
	})
}

// RequeueMatching works like Requeue, but selects the entries by a filter. It requeues at most limit entries. See
// saga.Runner.RequeueMatching.
func (o *Outbox) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.OutboxEntry, error) {
		return o.stack.Runner.RequeueMatching(ctx, s, filter, limit)
	})
}

// Discard marks abandoned and spared outbox entries as succeeded, and returns these entries. Call it after a person has
// done the work of the entries by other means, or has found out whose record a system has spared. See
// saga.Runner.Discard for the permitted form of the parameter reason.
func (o *Outbox) Discard(
	ctx context.Context, reason string, entryIDs ...string,
) ([]domain.OutboxEntry, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.OutboxEntry, error) {
		return o.stack.Runner.Discard(ctx, s, reason, entryIDs...)
	})
}

// Purge removes succeeded entries that are older than saga.Options.Retention, and returns their number. See
// saga.Runner.Purge.
func (o *Outbox) Purge(ctx context.Context) (removed int64, err error) {
	return o.stack.Runner.Purge(ctx)
}
