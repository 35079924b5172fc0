package app

import (
	"context"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/ports"
)

// Operator has the methods for operators, such as support staff, a data protection officer or the engineer on call. The
// commands of package cli call these methods, and an application can call them from its own pages. A page that needs
// only a part of them takes this part, such as Operator.Subjects. Most methods use one session without a timeout. No
// method checks whether its caller is authorized. If ctx comes from domain.WithOperator, the audit events have the id
// of the operator. An Operator is safe for concurrent use.
type Operator struct {
	*Subjects
	*Outbox
	*Retention
	*Schema
}

// newOperator returns the methods for operators of an Integration that has its services and its worker.
func newOperator(i *Integration, c Config) *Operator {
	schema := &Schema{
		stack: i.stack, sessions: i.sessions, store: i.store, db: c.DB,
		tables: bunstore.Options{Schema: c.Schema, Name: c.Name, Logger: c.Logger, TrustEncoding: c.TrustEncoding},
	}
	return &Operator{
		Subjects:  &Subjects{stack: i.stack, sessions: i.sessions},
		Outbox:    &Outbox{stack: i.stack, sessions: i.sessions, schema: schema, duties: i.background.duties},
		Retention: &Retention{stack: i.stack, sessions: i.sessions, journalKey: c.JournalKey},
		Schema:    schema,
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
