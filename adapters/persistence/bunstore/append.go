package bunstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// maxBufferedRows is the maximum number of rows that a session buffers before it inserts them. The limit exists because
// SQLite searches the list of all parameters of a statement once for each parameter. The cost of a statement therefore
// grows with the square of the number of parameters.
const maxBufferedRows = 100

// buffer adds a row to the buffer of the session, and inserts all buffered rows when their number reaches
// maxBufferedRows.
func (s *session) buffer(ctx context.Context, k sqltext.Kind, row ...any) error {
	if err := s.db.Usable(); err != nil {
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

// flush inserts the buffered rows, and closes the ledgers of the subjects that the session erases.
func (s *session) flush(ctx context.Context) error {
	s.buffered[sqltext.LedgerClosings] = s.closings()
	var erased []string
	for _, insert := range s.store.inserts.Take(&s.buffered) {
		found, err := s.insert(ctx, insert)
		if err != nil {
			return err
		}
		erased = append(erased, found...)
	}
	return s.closeEnded(ctx, erased)
}

// insert runs the statement. If it adds records to the ledger of an erased subject, insert returns ids that contain
// those of all such subjects.
func (s *session) insert(ctx context.Context, insert sqltext.Insert) (erased []string, err error) {
	if len(insert.Subjects) > 0 && !s.store.dialect.CombinesChanges() {
		return s.insertReturning(ctx, insert)
	}
	rows, err := s.db.Write(ctx, "append", insert.Text, insert.Args...)
	if err != nil || rows == 0 {
		return nil, err
	}
	return insert.Subjects, nil
}

// insertReturning runs a statement that returns the erased subjects of its records.
func (s *session) insertReturning(ctx context.Context, insert sqltext.Insert) (erased []string, err error) {
	err = s.db.WriteRows(ctx, "append", collectErased(&erased), insert.Text, insert.Args...)
	return erased, err
}

// collectErased returns a function that scans the ids of erased subjects, which a statement of ledger records returns.
func collectErased(ids *[]string) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var id sql.NullString
		err := rows.Scan(&id)
		if id.Valid {
			*ids = append(*ids, id.String)
		}
		return err
	}
}

// closeEnded closes the ledgers of those of the erased subjects whose life has ended, after records of them were added.
// Without that, the records would count for the next person with the id.
func (s *session) closeEnded(ctx context.Context, erased []string) error {
	slices.Sort(erased)
	for _, text := range slices.Compact(erased) {
		id, err := domain.ParseSubjectID(text)
		if err != nil {
			return s.db.Fail(ctx, "append", err)
		}
		if s.isErasing(id) {
			continue
		}
		if ended, err := s.isEnded(ctx, id); err != nil {
			return err
		} else if ended {
			closing := s.store.inserts.Take(&sqltext.UnsentRows{sqltext.LedgerClosings: {{text, nil}}})[0]
			if _, err := s.db.Write(ctx, "append", closing.Text, closing.Args...); err != nil {
				return err
			}
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

// append inserts the buffered rows of one session, or of several sessions, in one statement. If there are records of an
// erased subject, a session inserts the rows, so that it can close the ledgers of the subject in the same transaction.
func (s *Store) append(ctx context.Context, held ...*sqltext.UnsentRows) error {
	all := mergeUnsent(held)
	insert := s.inserts.TakeAlone(&all)
	if rows, err := s.pool.ExecAlone(ctx, insert.Text, insert.Args); err != nil || rows > 0 {
		return err
	}
	closing := s.newSession()
	return closing.run(ctx, func(ctx context.Context, _ ports.Session) error {
		closing.buffered = mergeUnsent(held)
		return closing.flush(ctx)
	})
}

// mergeUnsent returns the rows of one session, or of several sessions.
func mergeUnsent(held []*sqltext.UnsentRows) sqltext.UnsentRows {
	if len(held) == 1 {
		return *held[0]
	}
	return sqltext.MergeUnsent(held)
}
