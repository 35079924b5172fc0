package app

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/duties"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

// Operator has the methods for operators, such as support staff, a data protection officer or the engineer on call. The
// commands of package cli call these methods, and an application can call them from its own pages. Most methods use one
// session without a timeout. No method checks whether its caller is authorized. If ctx comes from domain.WithOperator,
// the audit events have the id of the operator. An Operator is safe for concurrent use.
type Operator struct {
	stack    Stack
	sessions ports.SessionFactory
	store    *bunstore.Store  // nil if Config.Stack is set
	db       *bun.DB          // the database of the store
	tables   bunstore.Options // the schema and the name of the tables of habeas
	duties   *duties.Book

	journalKey []byte // see Config.JournalKey
}

// DataMap returns the data map.
func (o *Operator) DataMap() datamap.DataMap { return o.stack.DataMap }

// Plan returns the erasure plan. The caller must not modify it.
func (o *Operator) Plan() datamap.Plan { return o.stack.Eraser.Plan() }

// Status returns the state of the outbox and of the background duties, and findings that need the attention of a
// person. See saga.Runner.Status, duties.Findings and lives.Finding. If no migration is pending, Status reads the marks
// of all erasures. If migrations are pending, Status adds a finding with the code migration-pending instead. It does
// not check migrations if Config.Stack is set.
func (o *Operator) Status(ctx context.Context) (status saga.Status, err error) {
	var pending []string
	var migrations []domain.Migration
	if o.store != nil {
		if migrations, err = o.Migrations(ctx); err != nil {
			return saga.Status{}, err
		}
	}
	for _, migration := range migrations {
		if migration.State == domain.MigrationPending {
			pending = append(pending, migration.Name)
		}
	}
	status = saga.NewStatus(o.stack.Clock.Now())
	if o.store == nil || len(pending) < len(migrations) { // without any migration, the outbox does not exist
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
	status.Map = o.tables.Name
	return status, nil
}

func pendingMigrations(names []string) datamap.Finding {
	return datamap.Finding{
		Code: "migration-pending", Severity: datamap.SeverityError,
		Reason: "These migrations of the tables of habeas are pending: " + strings.Join(names, ", ") + ".",
		Remedy: "Run the migrations.",
	}
}

// inSession returns the result of fn if the session commits. Otherwise it returns the zero value and the error.
func inSession[T any](
	ctx context.Context, sessions ports.SessionFactory, fn func(context.Context, ports.Session) (T, error),
) (result T, err error) {
	err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		result, err = fn(ctx, s)
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return result, nil
}
