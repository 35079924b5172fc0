package floor

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// sqlite has one connection for writes, and other connections for concurrent reads. Requests wait in database/sql until
// the connection for writes is free. They do not poll for the lock of the file. The connection for writes overwrites
// deleted data in the file, as habeas does.
type sqlite struct{ reads, writes *sql.DB }

func openSQLite(_ context.Context, databaseURL string, connections int) (database, error) {
	reads, err := sql.Open("sqlite", databaseURL)
	if err != nil {
		return nil, err
	}
	writes, err := sql.Open("sqlite", databaseURL+"&_txlock=immediate&_pragma=secure_delete(1)")
	if err != nil {
		return nil, err
	}
	writes.SetMaxOpenConns(1)
	reads.SetMaxOpenConns(connections)
	reads.SetMaxIdleConns(connections)
	return sqlite{reads, writes}, nil
}

func (s sqlite) close() {
	_ = s.reads.Close()
	_ = s.writes.Close()
}

// instants is the format in which habeas stores instants.
const instants = "2006-01-02T15:04:05.000000Z"

func (sqlite) instant(t time.Time) any { return t.UTC().Format(instants) }
func (sqlite) time(t time.Time) any    { return t.UTC().Format("2006-01-02 15:04:05-07:00") }
func (sqlite) lockUser() string        { return `SELECT 1 FROM users WHERE id = $1` } // one connection writes

func (s sqlite) latest(ctx context.Context, status *consent) (earlier bool, err error) {
	var policy, recorded, source string
	err = s.reads.QueryRowContext(ctx, latestConsent, status.SubjectID, status.Purpose).
		Scan(&policy, &status.Granted, &recorded, &source, &earlier)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	at, err := time.Parse(instants, recorded)
	status.PolicyVersion, status.RecordedAt, status.Source = &policy, &at, &source
	return earlier, err
}

func (s sqlite) isRegistered(ctx context.Context, user int64) (registered bool, err error) {
	err = s.reads.QueryRowContext(ctx, isRegistered, user).Scan(&registered)
	return registered, err
}

func (s sqlite) write(ctx context.Context, fn func(transaction) error) error {
	tx, err := s.writes.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(&sqliteTx{Tx: tx}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s sqlite) read(ctx context.Context, fn func(transaction) error) error {
	tx, err := s.reads.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	reading := &sqliteTx{Tx: tx, reads: true}
	if err := errors.Join(fn(reading), tx.Rollback()); err != nil { // the transaction contains only reads
		return err
	}
	return s.write(ctx, func(tx transaction) error { return tx.send(ctx, reading.held) })
}

type sqliteTx struct {
	*sql.Tx
	reads bool
	held  []statement // writes that run after a transaction of reads
}

// anonymousBlob rewrites a statement for SQLite. It replaces :anonymous by an expression for a random text, and the $
// of the parameters by ?.
var anonymousBlob = strings.NewReplacer(":anonymous", `'anon-' || lower(hex(randomblob(16)))`, "$", "?")

func (s *sqliteTx) exec(ctx context.Context, text string, args ...any) (int64, error) {
	result, err := s.ExecContext(ctx, anonymousBlob.Replace(text), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *sqliteTx) eachRow(ctx context.Context, fn func([]any), text string, args ...any) error {
	rows, err := s.QueryContext(ctx, anonymousBlob.Replace(text), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, column := range columns {
			switch value := values[i].(type) {
			case string: // the ledgers store instants as texts
				if column == "recorded_at" {
					values[i], err = time.Parse(instants, value)
				}
			case int64:
				if column == "granted" || column == "restricted" {
					values[i] = value != 0
				}
			}
		}
		if err != nil {
			return err
		}
		fn(values)
	}
	return rows.Err()
}

func (s *sqliteTx) send(ctx context.Context, statements []statement) error {
	if s.reads {
		s.held = statements
		return nil
	}
	for _, statement := range statements {
		if _, err := s.exec(ctx, statement.text, statement.args...); err != nil {
			return err
		}
	}
	return nil
}
