package bunstore

import (
	"context"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
)

// maxBufferedRows is the maximum number of rows that a session buffers before it inserts them. The limit exists because
// SQLite searches the list of all parameters of a statement once for each parameter. The cost of a statement therefore
// grows with the square of the number of parameters.
const maxBufferedRows = 100

// buffer adds a row to the buffer of the session, and inserts all buffered rows when their number reaches
// maxBufferedRows.
func (s *session) buffer(ctx context.Context, k sqltext.Kind, row ...any) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.buffered[k] = append(s.buffered[k], row)
	if k != sqltext.Events {
		s.prefetched = nil
	}
	if s.buffered.Rows() < maxBufferedRows {
		return nil
	}
	return s.flush(ctx)
}

// flush inserts the buffered rows.
func (s *session) flush(ctx context.Context) error {
	for _, insert := range s.store.inserts.Take(&s.buffered) {
		if _, err := s.write(ctx, "append", insert.Text, insert.Args...); err != nil {
			return err
		}
	}
	return nil
}

// newAppending returns a batcher for sessions that do nothing but insert records. It combines the inserts of concurrent
// sessions.
func newAppending(s *Store) *batch.Batcher[*sqltext.UnsentRows] {
	return &batch.Batcher[*sqltext.UnsentRows]{
		Run: s.append, Keep: (*sqltext.UnsentRows).CopyStrings, RetryAlone: conn.Refused,
	}
}

// append inserts the buffered rows of one session, or of several sessions, in one statement.
func (s *Store) append(ctx context.Context, held ...*sqltext.UnsentRows) error {
	all := *held[0]
	if len(held) > 1 {
		all = sqltext.MergeUnsent(held)
	}
	insert := s.inserts.Take(&all)[0]
	return s.pool.ExecAlone(ctx, insert.Text, insert.Args)
}
