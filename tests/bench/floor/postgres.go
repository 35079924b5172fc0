package floor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type postgres struct{ pool *pgxpool.Pool }

func openPostgres(ctx context.Context, databaseURL string, connections int) (database, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(connections)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return postgres{pool}, err
}

func (p postgres) close() { p.pool.Close() }

func (postgres) instant(t time.Time) any { return t }
func (postgres) time(t time.Time) any    { return t }
func (postgres) lockUser() string        { return `SELECT 1 FROM users WHERE id = $1 FOR UPDATE` }

func (p postgres) latest(ctx context.Context, status *consent) (earlier bool, err error) {
	err = p.pool.QueryRow(ctx, latestConsent, status.SubjectID, status.Purpose).
		Scan(&status.PolicyVersion, &status.Granted, &status.RecordedAt, &status.Source, &earlier)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return earlier, err
}

func (p postgres) isRegistered(ctx context.Context, user int64) (registered bool, err error) {
	err = p.pool.QueryRow(ctx, isRegistered, user).Scan(&registered)
	return registered, err
}

func (p postgres) write(ctx context.Context, fn func(transaction) error) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error { return fn(postgresTx{tx}) })
}

func (p postgres) read(ctx context.Context, fn func(transaction) error) error {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead}
	return pgx.BeginTxFunc(ctx, p.pool, snapshot, func(tx pgx.Tx) error { return fn(postgresTx{tx}) })
}

type postgresTx struct{ tx pgx.Tx }

var anonymousText = strings.NewReplacer(":anonymous", `'anon-' || replace(gen_random_uuid()::text, '-', '')`)

func (p postgresTx) exec(ctx context.Context, text string, args ...any) (int64, error) {
	tag, err := p.tx.Exec(ctx, anonymousText.Replace(text), args...)
	return tag.RowsAffected(), err
}

func (p postgresTx) eachRow(ctx context.Context, fn func([]any), text string, args ...any) error {
	rows, err := p.tx.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		fn(values)
	}
	return rows.Err()
}

// send sends the statements to the server in one round trip.
func (p postgresTx) send(ctx context.Context, statements []statement) error {
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.text, s.args...)
	}
	return p.tx.SendBatch(ctx, &batch).Close()
}
