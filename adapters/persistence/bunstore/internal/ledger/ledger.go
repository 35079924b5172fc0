// Package ledger appends the records of consents and restrictions, the audit events and the outbox entries of a
// session, and reads the ledgers and the audit trail.
package ledger

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// Store has the statements on the ledgers. It is safe for concurrent use.
type Store struct {
	pool    *conn.Pool
	dialect syntax.Dialect
	texts   texts
	inserts *inserts

	// inSession runs a function in a session of its own.
	inSession func(context.Context, func(context.Context, *Session) error) error
}

// New returns the statements for the tables. The function inSession runs a function in a session of its own.
func New(
	pool *conn.Pool, d syntax.Dialect, tables syntax.Tables,
	inSession func(context.Context, func(context.Context, *Session) error) error,
) *Store {
	return &Store{
		pool: pool, dialect: d, texts: newTexts(tables), inserts: newInserts(d, tables), inSession: inSession,
	}
}

// Lives answers questions about the subjects of records.
type Lives interface {
	// Closings returns the rows of kind LedgerClosings for the subjects that the session erases.
	Closings() [][]any

	// IsErasing reports whether the session has locked the subject for an erasure.
	IsErasing(id domain.SubjectID) bool

	// IsEnded reports whether the life of an erased subject has ended.
	IsEnded(ctx context.Context, id domain.SubjectID) (bool, error)

	// KeepsEarlier reports whether the records of an earlier life count for the current status, see domain.Life.
	KeepsEarlier(ctx context.Context, id domain.SubjectID) (bool, error)
}

// Session is the part of a session that appends records and reads the ledgers. It buffers appended rows. It
// inserts them when their number reaches maxBufferedRows, before it reads rows of the same kind, and when the session
// ends.
type Session struct {
	store      *Store
	db         *conn.Session
	lives      Lives
	Buffered   UnsentRows  // the buffer of appended rows
	evidence   [][]any     // events to write again after a rollback
	onRollback [][]any     // events to write only after a rollback
	Prefetched *Prefetched // values that the last statement of an erasure's steps has prefetched
}

// Session returns the part of a session that uses the ledgers.
func (s *Store) Session(db *conn.Session, lives Lives) Session {
	return Session{store: s, db: db, lives: lives}
}

// maxBufferedRows is the maximum number of rows that a session buffers before it inserts them. The limit exists because
// SQLite searches the list of all parameters of a statement once for each parameter. The cost of a statement therefore
// grows with the square of the number of parameters.
const maxBufferedRows = 100

// Buffer adds a row to the buffer of the session, and inserts all buffered rows when their number reaches
// maxBufferedRows.
func (s *Session) Buffer(ctx context.Context, k Kind, row ...any) error {
	if err := s.db.Usable(); err != nil {
		return err
	}
	s.Buffered[k] = append(s.Buffered[k], row)
	if k != Events {
		s.Prefetched = nil
	}
	if s.Buffered.Rows() < maxBufferedRows {
		return nil
	}
	return s.Flush(ctx)
}

// Send inserts the buffered rows if there are rows of one of the kinds among them, so that the next statement sees
// these rows.
func (s *Session) Send(ctx context.Context, kinds ...Kind) error {
	if !slices.ContainsFunc(kinds, func(k Kind) bool { return len(s.Buffered[k]) > 0 }) {
		return nil
	}
	return s.Flush(ctx)
}

// Flush inserts the buffered rows, and closes the ledgers of the subjects that the session erases.
func (s *Session) Flush(ctx context.Context) error {
	s.Buffered[LedgerClosings] = s.lives.Closings()
	var erased []string
	for _, insert := range s.store.inserts.take(&s.Buffered) {
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
func (s *Session) insert(ctx context.Context, insert insert) (erased []string, err error) {
	if len(insert.subjects) > 0 && !s.store.dialect.CombinesChanges() {
		return s.insertReturning(ctx, insert)
	}
	rows, err := s.db.Write(ctx, "append", insert.text, insert.args...)
	if err != nil || rows == 0 {
		return nil, err
	}
	return insert.subjects, nil
}

// insertReturning runs a statement that returns the erased subjects of its records.
func (s *Session) insertReturning(ctx context.Context, insert insert) (erased []string, err error) {
	err = s.db.WriteRows(ctx, "append", collectErased(&erased), insert.text, insert.args...)
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
func (s *Session) closeEnded(ctx context.Context, erased []string) error {
	slices.Sort(erased)
	for _, text := range slices.Compact(erased) {
		id, err := domain.ParseSubjectID(text)
		if err != nil {
			return s.db.Fail(ctx, "append", err)
		}
		if s.lives.IsErasing(id) {
			continue
		}
		if ended, err := s.lives.IsEnded(ctx, id); err != nil {
			return err
		} else if ended {
			closing := s.store.inserts.take(&UnsentRows{LedgerClosings: {{text, nil}}})[0]
			if _, err := s.db.Write(ctx, "append", closing.text, closing.args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Append inserts the buffered rows of a session in one statement. If there are records of an erased subject, a session
// inserts the rows, so that it can close the ledgers of the subject in the same transaction.
func (s *Store) Append(ctx context.Context, unsent UnsentRows) error {
	kept := unsent
	insert := s.inserts.takeAlone(&unsent)
	if rows, err := s.pool.ExecAlone(ctx, insert.text, insert.args); err != nil || rows > 0 {
		return err
	}
	return s.inSession(ctx, func(ctx context.Context, l *Session) error {
		l.Buffered = kept
		return l.Flush(ctx)
	})
}

// AppendAlone inserts the buffered rows if one statement can insert all of them. This statement is its own transaction.
func (s *Session) AppendAlone(ctx context.Context) (done bool, err error) {
	if !s.store.inserts.fitsAlone(&s.Buffered) {
		return false, nil
	}
	return true, s.db.Fail(ctx, "append", s.store.Append(ctx, s.Buffered))
}

// Remains returns the audit events to write after a rollback. One statement inserts all of them. The database may have
// committed the session although its response was lost. The events in s.evidence then exist already, so the statement
// fails because of their ids, and inserts no event.
func (s *Session) Remains() [][]any { return slices.Concat(s.evidence, s.onRollback) }

const (
	// findErased returns a row for each erased subject. It locks the ledger of a subject first, and may wait for an
	// erasure there. The function then sees the mark of this erasure.
	findErased = `SELECT FROM (VALUES {subjects}) AS v (subject_id)
		WHERE CASE WHEN {lock} IS NOT NULL THEN {is erased}(v.subject_id) END`

	insertAlone = `
		INSERT INTO {into} ({columns})
		SELECT v.* FROM (VALUES `

	unlessErased = `) AS v ({columns}) WHERE NOT EXISTS (SELECT FROM erased)`
)

// aloneTemplates are the parts of the statement that takeAlone returns if there are ledger records.
type aloneTemplates struct {
	inserts [KindCount]insertTemplate
	finds   [KindCount]string // finds the erased subjects of the records of a ledger, without their ids
}

// erased returns the query for the erased subjects of the ledger records of a statement.
func (t *aloneTemplates) erased(counts [KindCount]int) string {
	var queries []string
	parameters := 0
	for k, n := range counts {
		columns := t.inserts[k].columns
		if n > 0 && Kind(k).IsLedger() {
			var subjects []string
			for row := range n {
				subjects = append(subjects, "("+syntax.Placeholder(parameters+row*columns+1)+"::text)")
			}
			queries = append(queries, syntax.Fill(t.finds[k], "subjects", strings.Join(subjects, ", ")))
		}
		parameters += n * columns
	}
	return strings.Join(queries, " UNION ALL ")
}

func newAloneTemplates(tables syntax.Tables, d syntax.Dialect) (templates aloneTemplates) {
	for k := Consents; k < LedgerClosings; k++ {
		text := func(text string) string {
			return tables.Fill(text, "into", TableOf(tables, k), "columns", insertedColumns[k],
				"lock", Lock(d, tables, k, "v.subject_id"))
		}
		templates.inserts[k] = insertTemplate{
			before: text(insertAlone), after: text(unlessErased), columns: len(castTypes[k]), types: castTypes[k],
		}
		if k.IsLedger() {
			templates.finds[k] = text(findErased)
		}
	}
	return templates
}

// fitsAlone reports whether takeAlone can write all rows of unsent.
func (i *inserts) fitsAlone(unsent *UnsentRows) bool {
	tables, records := 0, len(unsent[Consents])+len(unsent[Restrictions])
	for _, rows := range unsent {
		tables += min(len(rows), 1)
	}
	if records > 0 && len(unsent[ReasonClearings])+len(unsent[LedgerClosings]) > 0 {
		return false
	}
	return tables > 0 && i.combinesChanges || tables == 1 && records == 0
}

// takeAlone returns one statement that writes all rows of unsent in its own transaction, and empties unsent. If a
// ledger record is of an erased subject, the statement writes nothing, and its number of rows is 0: such a record needs
// a session that can also close the ledger of the subject.
func (i *inserts) takeAlone(unsent *UnsentRows) insert {
	if len(unsent[Consents])+len(unsent[Restrictions]) == 0 {
		return i.take(unsent)[0]
	}
	counts, args := unsent.flatten()
	*unsent = UnsentRows{}
	return insert{text: i.text(shape{counts: counts, alone: true}), args: args}
}
