package bunstore

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
)

// MigrationStates returns all migrations in the order in which Migrate applies them. Each has one of the states
// applied, pending and unrecorded. Unrecorded means that tables of habeas exist, but not the table that records the
// applied migrations. MigrationStates only reads. It returns the same errors as Migrate.
func MigrationStates(ctx context.Context, db *bun.DB, opts Options) ([]domain.Migration, error) {
	m, err := newMigration(db, opts)
	if err != nil {
		return nil, err
	}
	var states []domain.Migration
	err = conn.Retry(ctx, func() error {
		states, err = m.states(ctx)
		return conn.Wrap(ctx, "migrations", err)
	})
	return states, err
}

func (m migration) states(ctx context.Context) ([]domain.Migration, error) {
	state, err := m.find(ctx, m.pool.Query)
	if err != nil {
		return nil, err
	}
	states := make([]domain.Migration, len(m.files))
	for i, file := range m.files {
		states[i] = domain.Migration{Name: file.name, State: domain.MigrationApplied}
		switch {
		case state.unrecorded:
			states[i].State = domain.MigrationUnrecorded
		case slices.Contains(state.pending, file.name):
			states[i].State = domain.MigrationPending
		}
	}
	return states, nil
}
