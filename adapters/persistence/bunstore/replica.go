package bunstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
)

// replicaTimeout bounds the wait for a connection to a replica.
const replicaTimeout = 2 * time.Second

// checkReplica refuses a handle that cannot be one on a replica of the database.
func checkReplica(d sqlDialect, replica *bun.DB) error {
	if replica != nil && (!d.hasStandbys() || replica.Dialect().Name() != dialect.PG) {
		return configurationError("ReadDB must be a replica of a PostgreSQL database")
	}
	return nil
}

// onReplica calls fn with the session reading from the replica, in one snapshot, if the replica can be reached and
// knows all erasures of the subject. It reports whether it called fn; if not, the caller calls fn on the primary.
func (s *session) onReplica(ctx context.Context, id domain.SubjectID, fn func() error) (done bool, err error) {
	replica := s.store.readDB
	if replica == nil || s.tx != nil {
		return false, nil
	}
	var current int64
	err = s.read(ctx, "export", scanCount(&current), s.store.erasuresOf(), id.String())
	if err != nil {
		return true, err
	}
	soon, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	conn, err := replica.Conn(soon)
	if err != nil {
		return false, nil
	}
	defer func() { _ = conn.Close() }()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return false, nil
	}
	defer func() { _ = tx.Rollback() }() // of nothing
	var known int64
	err = query(ctx, s.store.db, tx.Tx, scanCount(&known), s.store.erasuresOf(), id.String())
	if err != nil || known != current {
		return false, nil
	}
	s.tx = postgresTransaction{tx}
	defer func() { s.tx = nil }()
	return true, fn()
}

// erasuresOf is the statement that counts the erasures of a subject that are committed.
func (s *Store) erasuresOf() string {
	return "SELECT erasures FROM " + s.tables.erasures + " WHERE subject_id = $1"
}

func scanCount(count *int64) func(*sql.Rows) error {
	return func(rows *sql.Rows) error { return rows.Scan(count) }
}
