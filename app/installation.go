package app

import (
	"context"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Installation returns the identity of the tables of habeas, and the data map to which they belong. It returns a
// domain.ForeignMapError if that is another data map.
func (i *Integration) Installation(ctx context.Context) (domain.Installation, error) {
	return inSession(ctx, i.stack.Sessions, func(ctx context.Context, s ports.Session) (domain.Installation, error) {
		return s.Installation().Read(ctx)
	})
}

// AcceptMap applies the pending migrations, records the data map of this program in the installation, and returns the
// data map that was recorded before. Call it once after the subject's table was renamed or the type of its key was
// changed. Do not call it for a further data map in the same database: its people would share the ledgers and the
// erasures of the people with the same ids. Give that data map a Config.Name instead. Running processes keep the
// comparison of their first session, so restart them. AcceptMap returns domain.ErrConfiguration if Config.Stack is set.
func (i *Integration) AcceptMap(ctx context.Context) (before domain.Installation, err error) {
	if i.store == nil {
		return before, noDatabase()
	}
	if err := bunstore.Migrate(ctx, i.db, i.tables); err != nil {
		return before, err
	}
	return inSession(ctx, i.stack.Sessions, func(ctx context.Context, s ports.Session) (domain.Installation, error) {
		return s.Installation().Accept(ctx)
	})
}

// RenewInstallation gives the tables of habeas a new identity and returns it. Call it in a clone of a database that
// lives on beside the original. From then on, the journal lines of each of the two are refused by the other one, except
// the lines of erasures before the clone.
func (i *Integration) RenewInstallation(ctx context.Context) (domain.Installation, error) {
	return inSession(ctx, i.stack.Sessions, func(ctx context.Context, s ports.Session) (domain.Installation, error) {
		return s.Installation().Renew(ctx)
	})
}

// beginWork compares the data map with the installation, and records the resolvers and whether hooks run. The worker
// calls it before its first batch. It also records the duties of this process.
func (i *Integration) beginWork(ctx context.Context) error {
	return i.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		if err := s.Installation().Started(ctx, i.stack.Erases()); err != nil {
			return err
		}
		return i.duties.Begin(ctx, s)
	})
}
