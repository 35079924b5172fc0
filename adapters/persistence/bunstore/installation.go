package bunstore

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

type installationStore struct{ *session }

func (s *session) Installation() ports.InstallationStore { return installationStore{s} }

// admission is the state of the comparison of the store's data map with the installation, the data map to which the
// tables of habeas belong.
type admission int

const (
	notCompared admission = iota
	nothingRecorded
	leftToAnother
	recordedHere // this session has recorded the data map, which counts when it commits
	admitted
)

// admit compares the store's data map with the installation before the first statement of a session. If the
// installation has no data map yet and the session may write, admit records the data map. It does nothing if the store
// has found its data map in a committed record before.
func (s *session) admit(ctx context.Context) error {
	if s.admission >= leftToAnother || s.store.admitted.Load() {
		return nil
	}
	mayRecord := s.tx != nil && !s.readOnly
	if s.admission == nothingRecorded && !mayRecord {
		return nil
	}
	s.admission = admitted // the statements of admit pass
	recorded, err := s.readKey(ctx)
	switch {
	case err == nil && recorded.SubjectTable == "" && !mayRecord:
		s.admission = nothingRecorded
		return nil
	case err == nil && recorded.SubjectTable == "":
		recorded, err = s.record(ctx)
		s.admission = recordedHere
		if err == nil && recorded.SubjectTable == "" { // another session of this data map records it now
			s.admission = leftToAnother
		}
	}
	if err != nil {
		return s.fail(ctx, "installation", err)
	}
	if err := recorded.Check(s.store.text.DataMap); err != nil {
		s.failed, s.refused = err, true
		return err
	}
	if s.admission == admitted {
		s.store.admitted.Store(true)
	}
	return nil
}

// record records the data map, unless an open session records the same one. It returns the installation afterwards. It
// returns domain.ErrConflict if an open session records another data map.
func (s *session) record(ctx context.Context) (recorded datamap.Installation, err error) {
	own, texts := datamap.InstallationOf(s.store.text.DataMap), s.store.installation
	if texts.Announce != "" {
		rival := false
		if err := s.tx.Query(ctx, conn.Ignore, texts.Announce, own.Key()); err != nil {
			return recorded, err
		}
		err := s.tx.Query(ctx, func(*sql.Rows) error { rival = true; return nil }, texts.Rivals, own.Key())
		if err != nil {
			return recorded, err
		}
		if rival {
			s.refused = true
			return recorded, &domain.Error{
				Code: domain.ErrConflict, Op: "installation", Message: "another process is recording another data map for the" +
					" tables of habeas: give one of them a name of its own (Config.Name)",
			}
		}
	}
	if _, err := s.tx.Exec(ctx, texts.Record, own.SubjectTable, datamap.EncodeKeyColumns(own.KeyColumns)); err != nil {
		return recorded, err
	}
	return s.readKey(ctx) // another session may have recorded its data map in the meantime
}

// readKey reads the id of the installation and its data map.
func (s *session) readKey(ctx context.Context) (datamap.Installation, error) {
	query := s.store.pool.Query
	if s.tx != nil {
		query = s.tx.Query
	}
	return readKey(ctx, query, s.store.installation.Key, s.store.text.Tables.Prefix)
}

// Read implements ports.InstallationStore.
func (i installationStore) Read(ctx context.Context) (datamap.Installation, error) {
	if err := i.usable(); err != nil {
		return datamap.Installation{}, err
	}
	if err := i.admit(ctx); err != nil {
		return datamap.Installation{}, err
	}
	return i.readAll(ctx)
}

func (i installationStore) readAll(ctx context.Context) (datamap.Installation, error) {
	found, err := i.readKey(ctx)
	if err != nil {
		return found, i.fail(ctx, "installation", err)
	}
	err = i.read(ctx, "installation", func(rows *sql.Rows) error {
		var ancestor datamap.Ancestor
		err := rows.Scan(&ancestor.ID, &ancestor.Until)
		found.Ancestors = append(found.Ancestors, ancestor)
		return err
	}, i.store.installation.Ancestors)
	if err != nil {
		return found, err
	}
	return found, i.read(ctx, "installation", func(rows *sql.Rows) error {
		var names string
		found.Started = &datamap.StartedWorker{}
		if err := rows.Scan(&names, &found.Started.Hooks); err != nil {
			return err
		}
		return json.Unmarshal([]byte(names), &found.Started.Resolvers)
	}, i.store.installation.Worker)
}

// Accept implements ports.InstallationStore.
func (i installationStore) Accept(ctx context.Context) (before datamap.Installation, err error) {
	if err := i.usable(); err != nil {
		return before, err
	}
	i.admission = recordedHere // the comparison must not refuse the data map that Accept records
	if err := i.begin(ctx); err != nil {
		return before, err
	}
	if before, err = i.readAll(ctx); err != nil {
		return before, err
	}
	own := datamap.InstallationOf(i.store.text.DataMap)
	_, err = i.write(ctx, "installation", i.store.installation.Accept, own.SubjectTable,
		datamap.EncodeKeyColumns(own.KeyColumns))
	return before, err
}

// Renew implements ports.InstallationStore.
func (i installationStore) Renew(ctx context.Context) (datamap.Installation, error) {
	for _, text := range []string{i.store.installation.Retire, i.store.installation.Renew} {
		if _, err := i.write(ctx, "installation", text); err != nil {
			return datamap.Installation{}, err
		}
	}
	return i.readAll(ctx)
}

// Started implements ports.InstallationStore.
func (i installationStore) Started(ctx context.Context, worker datamap.StartedWorker) error {
	_, err := i.write(ctx, "installation", i.store.installation.Started, asList(worker.Resolvers), worker.Hooks)
	return err
}
