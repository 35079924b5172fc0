// Package unsent holds the rows that a session still sends to the database: records of the ledgers, requests, audit
// events, outbox entries and the ends of marks. It also holds the subjects that the session erases. The packages that
// add the rows share one Session, and none of them needs another.
package unsent

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// Store has the statements that write rows. It is safe for concurrent use.
type Store struct {
	dialect syntax.Dialect
	tables  syntax.Tables
	inserts *inserts
	lock    string // locks the ledgers of the subjects of the list $1; "" if the database has one writer at a time
}

// New returns the statements for the tables.
func New(d syntax.Dialect, tables syntax.Tables) *Store {
	s := &Store{dialect: d, tables: tables, inserts: newInserts(d, tables)}
	if d.CombinesChanges() {
		s.lock = syntax.Fill("SELECT {lock} FROM ({ids}) AS v (subject_id)",
			"lock", LockLedgers(d, tables, "v.subject_id"), "ids", d.ArrayElements("$1"))
	}
	return s
}

// Session holds the rows of a session that it has not sent yet. It sends them when their number reaches maxRows, before
// the session reads rows of the same kind, and when the session ends.
type Session struct {
	store   *Store
	db      *conn.Session
	rows    Rows
	locked  []string  // the subjects whose ledgers the session has locked
	erasing []Erasing // the subjects that the session erases
	erased  []string  // the ids of erased subjects of sent records, see TakeErased
	granted []string  // the subjects of sent consents that are given

	Prefetched *Prefetched // values that the last statement of an erasure's steps has prefetched
	Standing   *Standing   // what the last export has read of the register
}

// Erasing is a subject that the session has locked for an erasure.
type Erasing struct {
	ID    domain.SubjectID
	At    time.Time // the instant in the mark
	Added time.Time // the creation time of the row that the erasure has found; may be zero
}

// Session returns the rows of a session.
func (s *Store) Session(db *conn.Session) Session { return Session{store: s, db: db} }

// maxRows is the maximum number of rows that a session holds before it sends them. The limit exists because SQLite
// searches the list of all parameters of a statement once for each parameter. The cost of a statement therefore grows
// with the square of the number of parameters.
const maxRows = 100

// Add adds a row, and sends all rows when their number reaches maxRows.
func (s *Session) Add(ctx context.Context, k Kind, row ...any) error {
	if err := s.db.Usable(); err != nil {
		return err
	}
	s.rows[k] = append(s.rows[k], row)
	switch k { //nolint:exhaustive // of the other kinds, an erasure has prefetched values
	case Events:
	case Requests:
		s.Standing = nil
	default:
		s.Prefetched = nil
	}
	if k.IsLedger() {
		s.db.For(subjectOfRow(row))
	}
	if s.rows.count() < maxRows {
		return nil
	}
	return s.Flush(ctx)
}

// Has reports whether there are rows of one of the kinds.
func (s *Session) Has(kinds ...Kind) bool {
	return slices.ContainsFunc(kinds, func(k Kind) bool { return len(s.rows[k]) > 0 })
}

// Send sends the rows if there are rows of one of the kinds among them, so that the next statement sees these rows.
func (s *Session) Send(ctx context.Context, kinds ...Kind) error {
	if !s.Has(kinds...) {
		return nil
	}
	return s.Flush(ctx)
}

// Flush sends the rows, and closes the ledgers of the subjects that the session erases.
func (s *Session) Flush(ctx context.Context) error {
	if people, inOrder := s.rows.people(); !inOrder {
		if err := s.lockAll(ctx, people); err != nil {
			return err
		}
	}
	for _, e := range s.erasing {
		s.rows[LedgerClosings] = append(s.rows[LedgerClosings], s.closing(e.ID, e.Added))
	}
	s.granted = append(s.granted, s.rows.granted()...)
	for _, insert := range s.store.inserts.take(&s.rows) {
		if err := s.send(ctx, insert); err != nil {
			return err
		}
	}
	return nil
}

// send runs the statement, and notes the erased subjects of its records. It refuses temporary tables in front of those
// of habeas, because the records would be lost with them.
func (s *Session) send(ctx context.Context, insert insert) error {
	inFront := ""
	scanRow := func(rows *sql.Rows) error {
		var erased, hiding sql.NullString
		err := rows.Scan(&erased, &hiding)
		if erased.Valid {
			s.erased = append(s.erased, erased.String)
		}
		inFront = cmp.Or(inFront, hiding.String)
		return err
	}
	if insert.alerts { // nearly always without a row
		n, err := s.db.Write(ctx, "append", insert.text, insert.args...)
		if err != nil || n == 0 {
			return err
		}
		insert.text, insert.args = s.store.inserts.inFront, nil
	}
	err := s.db.WriteRows(ctx, "append", scanRow, insert.text, insert.args...)
	if err == nil && inFront != "" {
		err = s.db.Fail(ctx, "append", syntax.RefuseInFront("append", inFront))
	}
	return err
}

// SendAlone sends the rows if one statement can send all of them. This statement is its own transaction. It sends
// nothing, and SendAlone returns false, if there are records of an erased subject: the session must also close the
// ledgers of this subject in the same transaction. It does the same if temporary tables are in front of those of
// habeas.
func (s *Session) SendAlone(ctx context.Context) (done bool, err error) {
	if _, inOrder := s.rows.people(); !inOrder || !s.store.inserts.fitsAlone(&s.rows) {
		return false, nil
	}
	kept := s.rows
	insert := s.store.inserts.takeAlone(&s.rows)
	rows, err := s.db.WriteAlone(ctx, "append", insert.text, insert.args)
	if err == nil && rows == 0 {
		s.rows = kept
		return false, nil
	}
	return true, err
}

// AddAlone adds the events in a separate transaction.
func (s *Session) AddAlone(ctx context.Context, events [][]any) error {
	insert := s.store.inserts.takeAlone(&Rows{Events: events})
	rows, err := s.db.WriteAlone(ctx, "append", insert.text, insert.args)
	if err == nil && rows == 0 {
		err = syntax.RefuseInFront("append", TableOf(s.store.tables, Events))
	}
	return err
}

// Lock locks the ledgers of a subject until the transaction ends, unless the session has done so. It begins the
// transaction if the session has none. A session that has unsent records of further subjects locks the ledgers of all
// of them, in the order of the ids.
func (s *Session) Lock(ctx context.Context, id domain.SubjectID) error {
	text := id.String()
	s.db.For(text)
	if err := s.db.Begin(ctx); err != nil || slices.Contains(s.locked, text) {
		return err
	}
	people, _ := s.rows.people()
	return s.lockAll(ctx, append(people, text))
}

// LockOthers prepares a statement that locks the ledgers of the subject: it locks those of all subjects of unsent
// records, if there is another subject among them, so that the order of the ids is kept.
func (s *Session) LockOthers(ctx context.Context, id domain.SubjectID) error {
	text := id.String()
	s.db.For(text)
	if people, _ := s.rows.people(); len(people) == 0 || len(people) == 1 && people[0] == text {
		return nil
	}
	return s.Lock(ctx, id)
}

// lockAll locks the ledgers of the subjects in the order of their ids.
func (s *Session) lockAll(ctx context.Context, people []string) error {
	s.locked, s.Standing = append(s.locked, people...), nil
	if s.store.lock == "" {
		return nil
	}
	slices.Sort(people)
	_, err := s.db.Write(ctx, "lock subject", s.store.lock, syntax.TextList(slices.Compact(people)))
	return err
}

// Erase notes that the session erases a subject. The session then completes the mark whenever it sends rows: it stores
// the creation time of the row that the erasure has found, and all records of the subject then belong to an earlier
// life of the id.
func (s *Session) Erase(e Erasing) {
	s.Standing = nil
	if known := s.Erasing(e.ID); known == nil {
		s.erasing, s.locked = append(s.erasing, e), append(s.locked, e.ID.String())
	} else if known.At = e.At; !e.Added.IsZero() {
		known.Added = e.Added
	}
}

// Erasing returns the subject if the session has locked it for an erasure, and otherwise nil.
func (s *Session) Erasing(id domain.SubjectID) *Erasing {
	for i := range s.erasing {
		if s.erasing[i].ID == id {
			return &s.erasing[i]
		}
	}
	return nil
}

// BeginLife sends all rows, and ends the erasure of the subject in this session: the records that the session adds
// afterwards belong to the new life of the id that the caller begins. The caller has locked the ledgers.
func (s *Session) BeginLife(ctx context.Context, id domain.SubjectID) error {
	err := s.Flush(ctx)
	s.erasing = slices.DeleteFunc(s.erasing, func(e Erasing) bool { return e.ID == id })
	s.erased = slices.DeleteFunc(s.erased, func(text string) bool { return text == id.String() })
	return err
}

// TakeErased returns the ids of subjects that may have been erased, and of which the session has sent records since the
// last call. It leaves out the subjects that the session erases itself. The subjects in granted have given a consent.
func (s *Session) TakeErased() (erased, granted []string) {
	erased, granted = s.erased, s.granted
	s.erased, s.granted = nil, nil
	slices.Sort(erased)
	return slices.DeleteFunc(slices.Compact(erased), func(text string) bool {
		return slices.ContainsFunc(s.erasing, func(e Erasing) bool { return e.ID.String() == text })
	}), granted
}

// Close closes the ledgers of an erased subject: all its records then belong to an earlier life of the id.
func (s *Session) Close(ctx context.Context, id domain.SubjectID) error {
	insert := s.store.inserts.take(&Rows{LedgerClosings: {s.closing(id, time.Time{})}})[0]
	return s.send(ctx, insert)
}

// NoteErased notes that the session has sent a record of a subject that may have been erased, see TakeErased.
func (s *Session) NoteErased(id domain.SubjectID) { s.erased = append(s.erased, id.String()) }

// closing returns the row that completes a mark.
func (s *Session) closing(id domain.SubjectID, added time.Time) []any {
	if added.IsZero() {
		return []any{id.String(), nil}
	}
	return []any{id.String(), s.store.dialect.Instant(added)}
}
