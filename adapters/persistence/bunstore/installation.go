package bunstore

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
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
	mayRecord := s.db.Tx != nil && !s.db.ReadOnly
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
		return s.db.Fail(ctx, "installation", err)
	}
	if err := recorded.Check(s.store.text.DataMap); err != nil {
		s.db.Failed, s.refused = err, true
		return err
	}
	if s.admission == admitted {
		s.store.admitted.Store(true)
	}
	return nil
}

// record records the data map, unless an open session records the same one. It returns the installation afterwards. It
// returns domain.ErrConflict if an open session records another data map.
func (s *session) record(ctx context.Context) (recorded domain.Installation, err error) {
	own, texts := domain.InstallationOf(s.store.text.DataMap), s.store.installation
	if texts.Announce != "" {
		rival := false
		if err := s.db.Tx.Query(ctx, conn.Ignore, texts.Announce, own.Key()); err != nil {
			return recorded, err
		}
		err := s.db.Tx.Query(ctx, func(*sql.Rows) error { rival = true; return nil }, texts.Rivals, own.Key())
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
	if _, err := s.db.Tx.Exec(ctx, texts.Record, own.SubjectTable, domain.EncodeKeyColumns(own.KeyColumns)); err != nil {
		return recorded, err
	}
	return s.readKey(ctx) // another session may have recorded its data map in the meantime
}

// readKey reads the id of the installation and its data map.
func (s *session) readKey(ctx context.Context) (domain.Installation, error) {
	query := s.store.pool.Query
	if s.db.Tx != nil {
		query = s.db.Tx.Query
	}
	return readKey(ctx, query, s.store.installation.Key, s.store.text.Tables.Prefix)
}

// Read implements ports.InstallationStore.
func (i installationStore) Read(ctx context.Context) (domain.Installation, error) {
	if err := i.db.Ready(ctx); err != nil {
		return domain.Installation{}, err
	}
	return i.readAll(ctx)
}

func (i installationStore) readAll(ctx context.Context) (domain.Installation, error) {
	found, err := i.readKey(ctx)
	if err != nil {
		return found, i.db.Fail(ctx, "installation", err)
	}
	err = i.db.Read(ctx, "installation", func(rows *sql.Rows) error {
		var ancestor domain.Ancestor
		err := rows.Scan(&ancestor.ID, &ancestor.Until)
		found.Ancestors = append(found.Ancestors, ancestor)
		return err
	}, i.store.installation.Ancestors)
	if err != nil {
		return found, err
	}
	return found, i.db.Read(ctx, "installation", func(rows *sql.Rows) error {
		var names string
		found.Started = &domain.StartedWorker{}
		if err := rows.Scan(&names, &found.Started.Hooks); err != nil {
			return err
		}
		return json.Unmarshal([]byte(names), &found.Started.Resolvers)
	}, i.store.installation.Worker)
}

// Accept implements ports.InstallationStore.
func (i installationStore) Accept(ctx context.Context) (before domain.Installation, err error) {
	if err := i.db.Usable(); err != nil {
		return before, err
	}
	i.admission = recordedHere // the comparison must not refuse the data map that Accept records
	if err := i.db.Begin(ctx); err != nil {
		return before, err
	}
	if before, err = i.readAll(ctx); err != nil {
		return before, err
	}
	own := domain.InstallationOf(i.store.text.DataMap)
	_, err = i.db.Write(ctx, "installation", i.store.installation.Accept, own.SubjectTable,
		domain.EncodeKeyColumns(own.KeyColumns))
	return before, err
}

// Renew implements ports.InstallationStore.
func (i installationStore) Renew(ctx context.Context) (domain.Installation, error) {
	for _, text := range []string{i.store.installation.Retire, i.store.installation.Renew} {
		if _, err := i.db.Write(ctx, "installation", text); err != nil {
			return domain.Installation{}, err
		}
	}
	return i.readAll(ctx)
}

// Started implements ports.InstallationStore.
func (i installationStore) Started(ctx context.Context, worker domain.StartedWorker) error {
	_, err := i.db.Write(ctx, "installation", i.store.installation.Started, syntax.TextList(worker.Resolvers), worker.Hooks)
	return err
}
