package bunstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Join returns a session factory that works inside a transaction of the application: what habeas writes commits and
// rolls back with it. tx is a bun.Tx, or a bun.Conn on which the application has begun a transaction; anything else
// is domain.ErrConfiguration. Like tx, the factory is for one goroutine.
//
// Each Do is a savepoint: where it fails, its own writes are undone and the transaction of the application goes on.
// Evidence is then written into that transaction, and shares its fate. Do retries nothing, and an export reads
// with the isolation that the application chose.
//
// On PostgreSQL, a session that appends to the ledger of a subject locks that ledger until the application's
// transaction ends: the records of a subject are in the order of their commits. Keep such transactions short.
//
// Constraint triggers of the data map's tables may be deferred to the commit. An erasure or a rectification fires them
// before it looks whether anything is left, and then gives them the mode that they were declared with. A trigger that
// shares its name with another constraint is domain.ErrConfiguration.
//
// What is to happen after a commit, such as a hook, waits for Joined.Committed.
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

// Joined opens sessions in a transaction of the application. It is for one goroutine.
type Joined struct {
	store *Store
	tx    *conn.Tx
	after []func(context.Context)
}

var _ ports.SessionFactory = (*Joined)(nil)

// Committed is called by the application once it has committed its transaction. It calls what the sessions have left
// for after their commit, such as the hooks of erasures, with ctx. An application that rolls back does not call it.
func (j *Joined) Committed(ctx context.Context) {
	after := j.after
	j.after = nil
	for _, fn := range after {
		fn(ctx)
	}
}

// Do implements ports.SessionFactory.
func (j *Joined) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	outer := ctx
	ctx, err := j.store.enter(ctx)
	if err != nil {
		return err
	}
	ctx, observed := ports.Begin(ctx, j.store.observer, domain.Activity{Kind: domain.ActivitySession})
	session := &session{store: j.store, preserve: j.preserve, tx: j.tx, joined: true}
	returned := false
	defer func() {
		if !returned { // fn panicked, or ended its goroutine
			observed.End(domain.Ended{Outcome: domain.OutcomePanic})
			session.tellEnd(outer, errPanicked)
		}
	}()
	err = j.tx.Savepoint(ctx)
	if err == nil {
		err = session.afterRollback(ctx, session.run(ctx, fn))
	}
	returned = true
	observed.End(domain.Ended{Outcome: domain.OutcomeOf(err)})
	if err != nil {
		session.tellEnd(outer, err)
		return err
	}
	for _, fn := range session.atEnd {
		j.after = append(j.after, func(ctx context.Context) { fn(ctx, nil) })
	}
	j.after = append(j.after, session.after...)
	return nil
}

func (j *Joined) preserve(ctx context.Context, evidence [][]any) error {
	session := &session{store: j.store, tx: j.tx, joined: true}
	session.held[sqltext.Events] = evidence
	return session.flush(ctx)
}
