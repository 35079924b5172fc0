package memory

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// installationStore implements ports.InstallationStore.
type installationStore struct{ *session }

func (s *session) Installation() ports.InstallationStore { return installationStore{s} }

func (i installationStore) Read(ctx context.Context) (datamap.Installation, error) {
	state, err := i.read(ctx, false)
	if err != nil {
		return datamap.Installation{}, err
	}
	return cloneInstallation(state.installation), nil
}

func (i installationStore) Accept(ctx context.Context) (before datamap.Installation, err error) {
	i.unchecked = true
	state, err := i.write(ctx)
	if err != nil {
		return before, err
	}
	before = cloneInstallation(state.installation)
	state.record()
	return before, nil
}

func (i installationStore) Renew(ctx context.Context) (datamap.Installation, error) {
	state, err := i.write(ctx)
	if err != nil {
		return datamap.Installation{}, err
	}
	renewed := cloneInstallation(state.installation)
	var highest int64
	for _, mark := range state.erasures {
		highest = max(highest, mark.Intake)
	}
	renewed.Ancestors = append(renewed.Ancestors, datamap.Ancestor{ID: renewed.ID, Until: highest})
	renewed.ID = rand.Text()
	state.installation = renewed
	return cloneInstallation(renewed), nil
}

func (i installationStore) Started(ctx context.Context, worker datamap.StartedWorker) error {
	state, err := i.write(ctx)
	if err == nil {
		worker.Resolvers = slices.Clone(worker.Resolvers)
		state.installation.Started = &worker
	}
	return err
}

func (i installationStore) Registers(ctx context.Context) error {
	state, err := i.write(ctx)
	if err == nil {
		state.installation.Registers = true
	}
	return err
}

func (i installationStore) RetentionSince(
	ctx context.Context, hash int64, at time.Time,
) (since time.Time, err error) {
	state, err := i.write(ctx)
	if err != nil {
		return since, err
	}
	if state.retentionHash != hash {
		state.retentionHash, state.retentionSince = hash, domain.Instant(at)
	}
	return state.retentionSince, nil
}

// RaiseSequences implements ports.InstallationStore. The ledgers and the trail are slices, so only the marks have a
// sequence.
func (i installationStore) RaiseSequences(ctx context.Context, intake int64) error {
	state, err := i.write(ctx)
	if err == nil {
		state.intake = max(state.intake, intake)
	}
	return err
}

// LowSequences implements ports.InstallationStore. The memory gives no ids to rows of the application.
func (i installationStore) LowSequences(ctx context.Context, _ int64) ([]string, error) {
	return nil, i.ready(ctx)
}

// admit compares the data map with the installation before the session uses the state. A session that writes records
// the data map if none is recorded.
func (s *session) admit(state *state, writes bool) error {
	if s.unchecked {
		return nil
	}
	if err := state.installation.Check(state.dataMap); err != nil {
		s.refused = true
		return s.fail(err)
	}
	if writes && !s.rehearsal && state.installation.SubjectTable == "" {
		state.record()
	}
	return nil
}

// record records the data map in the installation.
func (s *state) record() {
	own := datamap.InstallationOf(s.dataMap)
	s.installation.SubjectTable, s.installation.KeyColumns = own.SubjectTable, own.KeyColumns
}

func cloneInstallation(i datamap.Installation) datamap.Installation {
	i.KeyColumns, i.Ancestors = slices.Clone(i.KeyColumns), slices.Clone(i.Ancestors)
	if i.Started != nil {
		started := *i.Started
		started.Resolvers = slices.Clone(started.Resolvers)
		i.Started = &started
	}
	return i
}
