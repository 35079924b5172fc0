// Package duties keeps the state of the background duties.
package duties

import (
	"context"
	"database/sql"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// Store has the table of the duties. It is safe for concurrent use.
type Store struct {
	dialect syntax.Dialect
	tables  syntax.Tables
}

// New returns the store of the tables of habeas.
func New(dialect syntax.Dialect, tables syntax.Tables) *Store { return &Store{dialect, tables} }

// Session returns the part of a session that works on the duties.
func (s *Store) Session(db *conn.Session) Session { return Session{s, db} }

// Session is the part of a session that works on the duties. It implements ports.DutyStore.
type Session struct {
	*Store

	db *conn.Session
}

const readDuties = `
	SELECT duty, every, began_at, succeeded_at, failed_at, failed_as, left_over FROM {duties} WHERE every > 0`

// Read implements ports.DutyStore.
func (s *Session) Read(ctx context.Context) (all []domain.Duty, err error) {
	found := map[domain.DutyName]domain.Duty{}
	err = s.db.Read(ctx, "duties", func(rows *sql.Rows) error {
		var duty domain.Duty
		var began, succeeded, failed syntax.OptionalInstant
		var failedAs sql.NullString
		err := rows.Scan(&duty.Name, &duty.Every, &began, &succeeded, &failed, &failedAs, &duty.LeftOver)
		duty.Began, duty.LastSuccess, duty.LastFailure = began.Time, succeeded.Time, failed.Time
		duty.LastError = domain.Outcome(failedAs.String)
		found[duty.Name] = duty
		return err
	}, s.tables.Fill(readDuties))
	for _, name := range domain.DutyNames() {
		if duty, known := found[name]; known {
			all = append(all, duty)
		}
	}
	return all, err
}

const begin = `
	INSERT INTO {duties} AS d (duty, every, began_at) VALUES ($1, $2, $3)
	ON CONFLICT (duty) DO UPDATE SET every = excluded.every,
		began_at = CASE WHEN excluded.began_at IS NOT NULL THEN COALESCE(d.began_at, excluded.began_at) END`

// Begin implements ports.DutyStore.
func (s *Session) Begin(ctx context.Context, duty domain.Duty) error {
	return s.write(ctx, begin, duty.Name, int64(duty.Every), s.instant(duty.Began))
}

const ended = `
	INSERT INTO {duties} AS d (duty, every, succeeded_at, failed_at, failed_as) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT (duty) DO UPDATE SET every = excluded.every,
		succeeded_at = CASE WHEN d.succeeded_at > excluded.succeeded_at THEN d.succeeded_at
			ELSE COALESCE(excluded.succeeded_at, d.succeeded_at) END,
		failed_at = CASE WHEN d.failed_at > excluded.failed_at THEN d.failed_at
			ELSE COALESCE(excluded.failed_at, d.failed_at) END,
		failed_as = CASE WHEN d.failed_at > excluded.failed_at THEN d.failed_as
			ELSE COALESCE(excluded.failed_as, d.failed_as) END`

// Ended implements ports.DutyStore.
func (s *Session) Ended(ctx context.Context, duty domain.Duty) error {
	var failedAs any
	if duty.LastFailure != nil {
		failedAs = string(duty.LastError)
	}
	return s.write(ctx, ended, duty.Name, int64(duty.Every), s.instant(duty.LastSuccess), s.instant(duty.LastFailure),
		failedAs)
}

const opening = `
	INSERT INTO {duties} AS d (duty, pass_began_at) VALUES ($1, $2)
	ON CONFLICT (duty) DO UPDATE SET pass_began_at = excluded.pass_began_at
	WHERE d.pass_began_at IS NULL OR d.pass_began_at <= $3 OR d.pass_began_at > excluded.pass_began_at`

// BeginPass implements ports.DutyStore.
func (s *Session) BeginPass(
	ctx context.Context, name domain.DutyName, at time.Time, interval time.Duration,
) (begun bool, err error) {
	rows, err := s.db.Write(ctx, "duties", s.tables.Fill(opening), string(name), s.dialect.Instant(at),
		s.dialect.Instant(at.Add(-interval)))
	return rows > 0, err
}

const (
	counting = `
		INSERT INTO {duties} AS d (duty, left_over, pass_left_over) VALUES ($1, $2, $2)
		ON CONFLICT (duty) DO UPDATE SET pass_left_over = d.pass_left_over + excluded.pass_left_over,
			left_over = CASE WHEN d.left_over > d.pass_left_over + excluded.left_over THEN d.left_over
				ELSE d.pass_left_over + excluded.left_over END`

	closing = `
		INSERT INTO {duties} AS d (duty, left_over) VALUES ($1, $2)
		ON CONFLICT (duty) DO UPDATE SET left_over = d.pass_left_over + excluded.left_over, pass_left_over = 0`
)

// CountPass implements ports.DutyStore.
func (s *Session) CountPass(ctx context.Context, name domain.DutyName, n int64, ends bool) error {
	if ends {
		return s.write(ctx, closing, name, n)
	}
	return s.write(ctx, counting, name, n)
}

const (
	addLeftOver = `
		INSERT INTO {duties} AS d (duty, left_over) VALUES ($1, $2)
		ON CONFLICT (duty) DO UPDATE SET left_over = CASE WHEN d.left_over + $3 < 0 THEN 0 ELSE d.left_over + $3 END`

	setLeftOver = `
		INSERT INTO {duties} (duty, left_over) VALUES ($1, $2)
		ON CONFLICT (duty) DO UPDATE SET left_over = excluded.left_over`
)

// AddLeftOver implements ports.DutyStore.
func (s *Session) AddLeftOver(ctx context.Context, name domain.DutyName, n int64) error {
	return s.write(ctx, addLeftOver, name, max(0, n), n)
}

// SetLeftOver implements ports.DutyStore.
func (s *Session) SetLeftOver(ctx context.Context, name domain.DutyName, n int64) error {
	return s.write(ctx, setLeftOver, name, n)
}

// write runs a statement on a duty.
func (s *Session) write(ctx context.Context, text string, name domain.DutyName, args ...any) error {
	_, err := s.db.Write(ctx, "duties", s.tables.Fill(text), append([]any{string(name)}, args...)...)
	return err
}

// instant returns the parameter for an instant, which is nil for NULL.
func (s *Session) instant(at *time.Time) any {
	if at == nil {
		return nil
	}
	return s.dialect.Instant(*at)
}
