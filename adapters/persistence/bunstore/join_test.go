package bunstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// inHostTransaction begins a transaction of the application and runs fn with a session factory for this transaction.
func (s *shop) inHostTransaction(
	t testing.TB, fn func(ctx context.Context, tx bun.Tx, sessions ports.SessionFactory) error,
) error {
	t.Helper()
	return s.db.RunInTx(context.Background(), nil, func(ctx context.Context, tx bun.Tx) error {
		sessions, err := s.store.Join(tx)
		must(t, err)
		return fn(ctx, tx, sessions)
	})
}

func TestAJoinedSessionCommitsWithItsHost(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		must(t, s.inHostTransaction(t, func(ctx context.Context, tx bun.Tx, sessions ports.SessionFactory) error {
			if _, err := tx.NewUpdate().Table("users").Set("theme = 'light'").Where("id = 1").Exec(ctx); err != nil {
				return err
			}
			return sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
				if _, err := s.exporter.Export(ctx, session, s.alice); err != nil {
					return err
				}
				_, err := s.consent.Record(ctx, session, s.alice.ID, grant("p"))
				return err
			})
		}))
		if !s.granted(t, "p") {
			t.Error("the record is lost")
		}
	})
}

func TestARollbackOfTheHostRemovesTheWritesOfAJoinedSession(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		before := s.dump(t)
		err := s.inHostTransaction(t, func(ctx context.Context, _ bun.Tx, sessions ports.SessionFactory) error {
			must(t, sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
				_, err := s.eraser.Erase(ctx, session, s.alice)
				return err
			}))
			return errHost
		})
		if !errors.Is(err, errHost) {
			t.Fatal(err)
		}
		if !slices.Equal(s.dump(t), before) || len(s.trail(t, s.alice.ID)) > 0 {
			t.Error("something outlived the host's rollback")
		}
	})
}

func TestAJoinedSessionThatFailsUndoesOnlyItsOwnWrites(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		failOn(t, db, "orders")
		before := s.dump(t)
		must(t, s.inHostTransaction(t, func(ctx context.Context, tx bun.Tx, sessions ports.SessionFactory) error {
			err := sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
				_, err := s.eraser.Erase(ctx, session, s.alice)
				return err
			})
			if err == nil {
				t.Error("the erasure succeeded")
			}
			_, err = tx.NewUpdate().Table("users").Set("theme = 'dark'").Where("id = 1").Exec(ctx)
			return err
		}))
		if !slices.Equal(s.dump(t), before) {
			t.Error("half an erasure was committed")
		}
		s.wantFailedStep(t, "orders")
	})
}

func TestAJoinedSessionWhoseContextEndsLeavesItsEvidence(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		failOn(t, db, "orders")
		must(t, s.inHostTransaction(t, func(ctx context.Context, _ bun.Tx, sessions ports.SessionFactory) error {
			request, end := context.WithCancel(ctx)
			defer end()
			err := sessions.Do(request, func(ctx context.Context, session ports.Session) error {
				_, err := s.eraser.Erase(ctx, session, s.alice)
				end()
				return err
			})
			if err == nil {
				t.Error("the erasure succeeded")
			}
			return nil
		}))
		s.wantFailedStep(t, "orders")
	})
}

func TestAJoinedSessionThatPanicsUndoesItself(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		before := s.dump(t)
		must(t, s.inHostTransaction(t, func(ctx context.Context, _ bun.Tx, sessions ports.SessionFactory) error {
			defer func() { _ = recover() }()
			return sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
				_, err := s.eraser.Erase(ctx, session, s.alice)
				must(t, err)
				panic("after the erasure")
			})
		}))
		if !slices.Equal(s.dump(t), before) {
			t.Error("an erasure outlived its panic")
		}
		if trail := s.trail(t, s.alice.ID); !slices.Equal(trail, rolledBack) {
			t.Errorf("trail %v", trail)
		}
	})
}

func TestAJoinedConnectionWorksLikeATransaction(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		ctx := context.Background()
		conn, err := db.Conn(ctx)
		must(t, err)
		_, err = conn.ExecContext(ctx, "BEGIN")
		must(t, err)
		sessions, err := s.store.Join(conn)
		must(t, err)
		must(t, sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.Record(ctx, session, s.alice.ID, grant("p"))
			return err
		}))
		_, err = conn.ExecContext(ctx, "COMMIT")
		must(t, err)
		must(t, conn.Close())
		if !s.granted(t, "p") {
			t.Error("the record is lost")
		}
	})
}

func TestADatabaseCannotBeJoined(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.SQLite(t), 0)
	if _, err := s.store.Join(s.db); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}

func TestASessionInsideAJoinedOneIsAnError(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 0)
		nothing := func(context.Context, ports.Session) error { return nil }
		err := s.inHostTransaction(t, func(ctx context.Context, _ bun.Tx, sessions ports.SessionFactory) error {
			return sessions.Do(ctx, func(ctx context.Context, _ ports.Session) error { return s.store.Do(ctx, nothing) })
		})
		if !errors.Is(err, domain.ErrSession) {
			t.Errorf("got %v", err)
		}
	})
}
