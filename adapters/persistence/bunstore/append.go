package bunstore

import (
	"context"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
)

// most bounds how many rows a session holds back: few enough for the parameters of one statement, which SQLite looks up
// one by one.
const most = 100

// hold keeps a row back, and sends everything once it is much.
func (s *session) hold(ctx context.Context, k sqltext.Kind, row ...any) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.held[k] = append(s.held[k], row)
	if k != sqltext.Events {
		s.ahead = nil
	}
	if s.held.Rows() < most {
		return nil
	}
	return s.flush(ctx)
}

// flush sends what is held.
func (s *session) flush(ctx context.Context) error {
	for _, insert := range s.store.inserts.Take(&s.held) {
		if _, err := s.write(ctx, "append", insert.Text, insert.Args...); err != nil {
			return err
		}
	}
	return nil
}

// newAppending batches the rows of sessions that only append.
func newAppending(s *Store) *batch.Batcher[*sqltext.Appends] {
	return &batch.Batcher[*sqltext.Appends]{Run: s.append, Keep: (*sqltext.Appends).Keep, RetryAlone: conn.Refused}
}

// append inserts what one session or several hold, in one statement.
func (s *Store) append(ctx context.Context, held ...*sqltext.Appends) error {
	all := *held[0]
	if len(held) > 1 {
		all = sqltext.JoinAppends(held)
	}
	insert := s.inserts.Take(&all)[0]
	return s.pool.ExecAlone(ctx, insert.Text, insert.Args)
}
