package bunstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// Join returns a session factory whose sessions run inside a transaction of the application. The writes of habeas
// commit and roll back with that transaction. tx must be a bun.Tx, or a bun.Conn on which the application has begun a
// transaction. Join returns domain.ErrConfiguration if tx has another type. Use the factory only in the goroutine that
// uses tx.
//
// Each call of Do on the factory sets a savepoint. If the session fails, Do rolls back to the savepoint, and the
// application can continue its transaction. Do then writes the evidence (audit events about the failed session) into
// the transaction of the application, so the evidence is lost if the application rolls back. Do does not retry. An
// export reads with the isolation level of the application's transaction.
//
// On PostgreSQL, a session that appends to a ledger of a subject (the consents or the restrictions) locks that ledger
// until the application's transaction ends. The lock keeps the records of a subject in the order of their commits. Keep
// such transactions short, because other appends for this subject wait. Erasures, registrations, corrections and sweeps
// first lock the ledgers, too, and then rows of the subject. So that the application's transaction does not deadlock
// with them, first call habeas (in any order), and then change rows of the subject that existed before. A transaction
// that works on several subjects calls habeas for them in the order of their ids.
//
// If triggers, rules or views of the database may restore old values, an erasure or a rectification verifies that no
// old values remain. Before this verification, the store makes deferred triggers fire, so that the verification sees
// their effects: the triggers of the data map's tables, and the triggers of other tables that write to any table.
// Otherwise, they would fire only at the commit. Afterwards, the store sets each trigger back to its declared mode. The
// erasure or the rectification returns domain.ErrConfiguration if another constraint has the same name as such a
// trigger, because SET CONSTRAINTS would affect both.
//
// Functions that run after a commit, such as hooks, run when the application calls Joined.Committed.
func (s *Store) Join(tx bun.IDB) (*Joined, error) {
	switch tx := tx.(type) {
	case bun.Tx:
		return &Joined{store: s, tx: s.pool.Join(tx.Tx)}, nil
	case *bun.Tx:
		return &Joined{store: s, tx: s.pool.Join(tx.Tx)}, nil
	case bun.Conn:
		return &Joined{store: s, tx: s.pool.Join(tx.Conn)}, nil
	default:
		return nil, domain.Misconfigured("bunstore", "only a bun.Tx or bun.Conn can be joined")
	}
}

// Joined opens sessions in a transaction of the application. It must not be used concurrently.
type Joined struct {
	store *Store
	tx    *conn.Tx
	atEnd []func(context.Context, error) // of the sessions that have succeeded
}

var _ ports.SessionFactory = (*Joined)(nil)

// Committed calls the functions that the sessions have registered for the time after the commit, such as hooks of
// erasures. It passes ctx to them. The application must call Committed after it has committed its transaction, and must
// not call Committed after a rollback.
func (j *Joined) Committed(ctx context.Context) {
	atEnd := j.atEnd
	j.atEnd = nil
	for _, fn := range atEnd {
		fn(ctx, nil)
	}
}

// Do implements ports.SessionFactory.
func (j *Joined) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	outer := ctx
	ctx, err := j.store.enter(ctx)
	if err != nil {
		return err
	}
	ctx, observed := ports.StartActivity(ctx, j.store.observer, observation.Activity{Kind: observation.ActivitySession})
	session := j.newSession()
	returned := false
	defer func() {
		if !returned { // fn panicked or called runtime.Goexit
			observed.End(observation.ActivityEnd{Outcome: domain.OutcomePanic})
			session.notifyEnd(outer, errPanicked)
		}
	}()
	err = j.tx.Savepoint(ctx)
	if err == nil {
		err = session.afterRollback(ctx, session.run(ctx, fn))
	}
	returned = true
	observed.End(observation.ActivityEnd{Outcome: domain.OutcomeOf(err)})
	if err != nil {
		session.notifyEnd(outer, err)
		return err
	}
	j.atEnd = append(j.atEnd, session.db.AtEnd...)
	return nil
}

func (j *Joined) newSession() *session {
	n := j.store.newSession()
	n.preserve, n.db.Tx, n.db.Joined = j.preserve, j.tx, true
	return n
}

// preserve writes evidence in the transaction of the application, even if the context of the session has ended.
func (j *Joined) preserve(ctx context.Context, evidence [][]any) error {
	ctx, cancel := forEvidence(ctx)
	defer cancel()
	session := j.newSession()
	for _, row := range evidence {
		if err := session.unsent.Add(ctx, unsent.Events, row...); err != nil {
			return err
		}
	}
	return session.unsent.Flush(ctx)
}

// Rehearse implements ports.SessionFactory. It always returns domain.ErrSession.
func (*Joined) Rehearse(context.Context, func(context.Context, ports.Session) error) error {
	return &domain.Error{
		Code: domain.ErrSession, Op: "rehearse", Message: "a rehearsal needs a transaction of its own: in a transaction of " +
			"the application, it would check changes that the application has not finished",
	}
}

// Probe implements ports.SessionFactory. It always returns domain.ErrSession.
func (*Joined) Probe(context.Context) error {
	return &domain.Error{
		Code: domain.ErrSession, Op: "probe", Message: "a transaction of the application cannot be probed: probe its store",
	}
}
