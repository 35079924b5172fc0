// Package installation compares the data map of a store with the one to which the tables of habeas belong, and reads
// and raises the sequences of these tables.
package installation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Store has the statements on the installation, for one data map. It is safe for concurrent use.
type Store struct {
	dataMap  datamap.DataMap
	needs    Environment
	own      dialect
	tables   syntax.Tables
	admitted atomic.Bool // a committed record of the installation has this data map
}

// New returns the statements for a data map and the tables of habeas.
func New(needs Environment, dataMap datamap.DataMap, tables syntax.Tables) *Store {
	return &Store{dataMap: dataMap, needs: needs, own: dialectOf(needs.Dialect), tables: tables}
}

// Admitted reports whether a committed record of the installation has the data map.
func (s *Store) Admitted() bool { return s.admitted.Load() }

// Session returns the part of a session that uses the installation.
func (s *Store) Session(db *conn.Session) Session {
	return Session{store: s, db: db}
}

// Session is the part of a session that compares its data map with the installation. It implements
// ports.InstallationStore.
type Session struct {
	store     *Store
	db        *conn.Session
	admission admission // of the data map, see Admit
	Refused   bool      // the tables belong to another data map, or the environment is refused
}

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

// Admit compares the store's data map with the installation before the first statement of a session. If the
// installation has no data map yet and the session may write, Admit records the data map. It does nothing if the store
// has found its data map in a committed record before.
func (s *Session) Admit(ctx context.Context) error {
	if s.admission >= leftToAnother || s.store.admitted.Load() {
		return nil
	}
	mayRecord := s.db.Tx != nil && !s.db.ReadOnly
	if s.admission == nothingRecorded && !mayRecord {
		return nil
	}
	s.admission = admitted // the statements of admit pass
	recorded, err := s.readKey(ctx)
	var refused *domain.Error
	s.Refused = errors.As(err, &refused) && refused.Code == domain.ErrConfiguration
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
	if err := recorded.Check(s.store.dataMap); err != nil {
		s.db.Failed, s.Refused = err, true
		return err
	}
	if s.admission == admitted {
		s.store.admitted.Store(true)
	}
	return nil
}

// Committed notes that the session has committed.
func (s *Session) Committed() {
	if s.admission == recordedHere {
		s.store.admitted.Store(true)
	}
}

const recordMap = `
	UPDATE {installation} SET subject_table = $1, key_columns = $2
	WHERE only_row IN (SELECT only_row FROM {installation} WHERE subject_table IS NULL{if free})`

// record records the data map, unless an open session records the same one. It returns the installation afterwards. It
// returns domain.ErrConflict if an open session records another data map.
func (s *Session) record(ctx context.Context) (recorded datamap.Installation, err error) {
	own := datamap.InstallationOf(s.store.dataMap)
	announce, rivals, ifFree := s.store.own.recording(s.store.tables)
	if announce != "" {
		rival := false
		if err := s.db.Tx.Query(ctx, conn.Ignore, announce, own.Key()); err != nil {
			return recorded, err
		}
		err := s.db.Tx.Query(ctx, func(*sql.Rows) error { rival = true; return nil }, rivals, own.Key())
		if err != nil {
			return recorded, err
		}
		if rival {
			s.Refused = true
			return recorded, &domain.Error{
				Code: domain.ErrConflict, Op: "installation", Message: "another process is recording another data map for the" +
					" tables of habeas: give one of them a name of its own (Config.Name)",
			}
		}
	}
	_, err = s.db.Tx.Exec(ctx, s.store.tables.Fill(recordMap, "if free", ifFree), own.SubjectTable,
		datamap.EncodeKeyColumns(own.KeyColumns))
	if err != nil {
		return recorded, err
	}
	return s.readKey(ctx) // another session may have recorded its data map in the meantime
}

const installationKey = `SELECT installation, subject_table, key_columns, {environment} FROM {installation}`

// readKey reads the id of the installation and its data map.
func (s *Session) readKey(ctx context.Context) (datamap.Installation, error) {
	query := s.db.Pool.Query
	if s.db.Tx != nil {
		query = s.db.Tx.Query
	}
	return Read(ctx, query, s.store.needs, s.store.tables)
}

// Read reads the id of an installation and its data map. It checks the environment in the same statement.
func Read(
	ctx context.Context, query conn.Query, needs Environment, tables syntax.Tables,
) (found datamap.Installation, err error) {
	exists, environment := false, ""
	err = query(ctx, func(rows *sql.Rows) error {
		var table, columns sql.NullString
		exists = true
		if err := rows.Scan(&found.ID, &table, &columns, &environment); err != nil || !table.Valid {
			return err
		}
		found.SubjectTable = table.String
		return json.Unmarshal([]byte(columns.String), &found.KeyColumns)
	}, tables.Fill(installationKey, "environment", dialectOf(needs.Dialect).environment()))
	if err == nil && exists {
		err = needs.refuse(environment)
	}
	if err == nil && !exists {
		err = domain.Misconfigured("installation", "the table "+tables.Prefix+"installation has lost its row:"+
			" restore it from a backup of the same database")
	}
	return found, err
}

const (
	ancestors     = `SELECT installation, until_intake FROM {ancestors} ORDER BY place`
	startedWorker = `SELECT registers, resolvers, hooks FROM {installation}`
)

// Read implements ports.InstallationStore.
func (i *Session) Read(ctx context.Context) (datamap.Installation, error) {
	if err := i.db.Ready(ctx); err != nil {
		return datamap.Installation{}, err
	}
	return i.readAll(ctx)
}

func (i *Session) readAll(ctx context.Context) (datamap.Installation, error) {
	found, err := i.readKey(ctx)
	if err != nil {
		return found, i.db.Fail(ctx, "installation", err)
	}
	err = i.db.Read(ctx, "installation", func(rows *sql.Rows) error {
		var ancestor datamap.Ancestor
		err := rows.Scan(&ancestor.ID, &ancestor.Until)
		found.Ancestors = append(found.Ancestors, ancestor)
		return err
	}, i.store.tables.Fill(ancestors))
	if err != nil {
		return found, err
	}
	return found, i.db.Read(ctx, "installation", func(rows *sql.Rows) error {
		var names sql.NullString
		var hooks sql.NullBool
		if err := rows.Scan(&found.Registers, &names, &hooks); err != nil || !names.Valid {
			return err
		}
		found.Started = &datamap.StartedWorker{Hooks: hooks.Bool}
		return json.Unmarshal([]byte(names.String), &found.Started.Resolvers)
	}, i.store.tables.Fill(startedWorker))
}

const acceptMap = `UPDATE {installation} SET subject_table = $1, key_columns = $2`

// Accept implements ports.InstallationStore.
func (i *Session) Accept(ctx context.Context) (before datamap.Installation, err error) {
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
	own := datamap.InstallationOf(i.store.dataMap)
	_, err = i.db.Write(ctx, "installation", i.store.tables.Fill(acceptMap), own.SubjectTable,
		datamap.EncodeKeyColumns(own.KeyColumns))
	return before, err
}

const (
	retire = `
		INSERT INTO {ancestors} (installation, until_intake)
		SELECT installation, COALESCE((SELECT max(intake) FROM {erasures} WHERE erasures > 0), 0) FROM {installation}`

	renew = `UPDATE {installation} SET installation = {id}`
)

// Renew implements ports.InstallationStore.
func (i *Session) Renew(ctx context.Context) (datamap.Installation, error) {
	for _, text := range []string{retire, renew} {
		text = i.store.tables.Fill(text, "id", i.store.own.randomID())
		if _, err := i.db.Write(ctx, "installation", text); err != nil {
			return datamap.Installation{}, err
		}
	}
	return i.readAll(ctx)
}

const recordWorker = `UPDATE {installation} SET resolvers = $1, hooks = $2`

// Started implements ports.InstallationStore.
func (i *Session) Started(ctx context.Context, worker datamap.StartedWorker) error {
	_, err := i.db.Write(ctx, "installation", i.store.tables.Fill(recordWorker), syntax.TextList(worker.Resolvers),
		worker.Hooks)
	return err
}

const recordRegisters = `UPDATE {installation} SET registers = TRUE WHERE NOT registers`

// Registers implements ports.InstallationStore.
func (i *Session) Registers(ctx context.Context) error {
	_, err := i.db.Write(ctx, "installation", i.store.tables.Fill(recordRegisters))
	return err
}

const (
	retention       = `SELECT retention_since FROM {installation} WHERE retention_hash = $1`
	recordRetention = `UPDATE {installation} SET retention_hash = $1, retention_since = $2`
)

// RetentionSince implements ports.InstallationStore.
func (i *Session) RetentionSince(ctx context.Context, hash int64, at time.Time) (since time.Time, err error) {
	var stored syntax.OptionalInstant
	err = i.db.Read(ctx, "installation", func(rows *sql.Rows) error { return rows.Scan(&stored) },
		i.store.tables.Fill(retention), hash)
	if err != nil || stored.Time != nil {
		return stored.OrZero(), err
	}
	_, err = i.db.Write(ctx, "installation", i.store.tables.Fill(recordRetention), hash,
		i.store.needs.Dialect.Instant(at))
	return domain.Instant(at), err
}
