// Package subject locks, erases, sweeps, rectifies and exports the data of a subject, and keeps the marks of erasures.
package subject

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/cascade"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
)

// Store has the statements on subjects, and what the store knows about the tables of a data map. It is safe for
// concurrent use.
type Store struct {
	writer            *rows.Writer
	dialect           syntax.Dialect
	locks             *lockStatements
	sweeps            sweepStatements
	lives             lifeStatements
	lastSteps         atomic.Pointer[cachedGroups]
	lastExports       atomic.Pointer[cachedExports]
	lastHoldings      atomic.Pointer[cachedExports]
	schemas           *live.Cache
	cascades          *cascade.Store
	models            *schema.Tables // the models that bun has registered
	synchronousCommit string
	readDB            *bun.DB // may be nil
	readsRegister     bool    // an export reads the register, see register.StandingValue
}

// Settings are those of the store for subjects.
type Settings struct {
	DB                *bun.DB
	ReadDB            *bun.DB // a replica from which exports read; may be nil
	SynchronousCommit string  // of erasures; "" for the setting of the connection
	Register          bool    // an export also reads the register
}

// New returns the statements for the tables of the writer.
func New(w *rows.Writer, schemas *live.Cache, settings Settings) *Store {
	s := &Store{
		writer: w, dialect: w.Dialect, schemas: schemas, cascades: cascade.New(w), models: settings.DB.Dialect().Tables(),
		synchronousCommit: settings.SynchronousCommit, readDB: settings.ReadDB,
		readsRegister: settings.Register && w.Dialect.CombinesChanges(),
	}
	s.locks, s.sweeps = newLocks(w), newSweeps(w)
	s.lives = newLives(w, s.locks)
	return s
}

// Work returns the part of a session that works on subjects.
func (s *Store) Work(db *conn.Session, rows *unsent.Session) Work {
	return Work{store: s, db: db, unsent: rows}
}

// Work is the part of a session that works on subjects. It implements ports.SubjectStore and ports.ErasedStore.
type Work struct {
	store  *Store
	db     *conn.Session
	unsent *unsent.Session

	subject   domain.SubjectID             // the subject whose key values are in keys
	keys      []any                        // the cached result of the method key
	schema    *live.Schema                 // of the application's tables; nil until it is needed
	fresh     bool                         // the schema was read immediately before, see locksSubject
	rectified []*verify.Step               // earlier rectifications, verified after each later one
	host      hostTransaction              // only if joined
	fired     bool                         // deferred triggers are set to IMMEDIATE
	late      []live.ConstraintTrigger     // triggers that deferAgain must set back to DEFERRED
	triggers  bool                         // the steps lead to tables with triggers, or to keys that act on a change
	checked   []*verify.Step               // the steps of applyVerified, for cascade.Store
	latest    map[int]map[string]time.Time // see domain.Applied
	blank     sql.NullBool                 // the steps of the erasure have read whether the subject's row is blank
}

// key returns the values of the subject's key columns. It caches the values of the last subject. The caller must not
// change the returned slice.
func (s *Work) key(id domain.SubjectID) ([]any, error) {
	if s.keys != nil && s.subject == id {
		return s.keys, nil
	}
	keys, err := s.store.writer.DataMap.Key(id)
	if err == nil {
		s.subject, s.keys = id, keys
	}
	return keys, err
}

// loadSchema sets s.schema to the schema with the fingerprint. It takes the schema from the store's cache, or reads
// it from the database.
func (s *Work) loadSchema(ctx context.Context, fingerprint string) (err error) {
	if s.fresh && s.schema.Fingerprint == fingerprint && fingerprint != "" {
		s.fresh = false
		return nil
	}
	if s.schema = s.store.schemas.Known(fingerprint); s.schema != nil {
		return nil
	}
	s.schema, err = s.store.schemas.Read(ctx, s.db.QueryFor("inspect"), fingerprint)
	return err
}

// readSchema returns the schema of the session. It loads the schema if necessary.
func (s *Work) readSchema(ctx context.Context, id domain.SubjectID, key []any) (*live.Schema, error) {
	if s.schema == nil {
		if err := s.readSubjectRow(ctx, id, key); err != nil {
			return nil, err
		}
	}
	return s.schema, nil
}

// explain returns an error that names the table and the reason if the database refused a statement. The reason is a
// missing privilege, or an object that does not allow the statement, such as a view. For other errors, explain returns
// err. Before explain looks up the privileges, it rolls the transaction back. In a transaction of the application, it
// rolls back only to the savepoint of the session.
func (s *Work) explain(ctx context.Context, op string, err error, needs ...live.Need) error {
	state := conn.SQLState(err)
	if state != "42501" && state != "42809" || s.db.Failed == nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	query, rolledBack := s.db.Undo(ctx)
	if !rolledBack {
		return err
	}
	why := s.store.schemas.FindLacking(ctx, query, needs)
	switch {
	case len(why) > 0:
	case state == "42809":
		return err
	default:
		why = append(why, live.Unexplained(needs))
	}
	s.db.Failed = &domain.Error{Code: domain.ErrConfiguration, Op: op, Message: strings.Join(why, "; "), Err: err}
	return s.db.Failed
}

// requireReadCommitted returns domain.ErrSession if a transaction of the application has another isolation level than
// READ COMMITTED. Such a transaction does not see rows that are committed while it runs. The store's own transactions
// are READ COMMITTED. The parameter action is the beginning of the error message.
func (s *Work) requireReadCommitted(ctx context.Context, op, action string) error {
	if !s.db.Joined || s.store.locks.transaction == "" {
		return nil
	}
	err := s.readTransaction(ctx, op)
	if isolation := s.host.isolation; err == nil && isolation != "read committed" {
		err = s.db.Fail(ctx, op, &domain.Error{
			Code: domain.ErrSession, Op: op,
			Message: action + " needs a transaction with the isolation level READ COMMITTED, but the transaction has " +
				isolation,
		})
	}
	return err
}

// hostTransaction describes a transaction of the application.
type hostTransaction struct {
	isolation string // "" if it is not known yet
	defers    bool   // the database has triggers that may fire at the commit

	isRead bool                     // late is known
	late   []live.ConstraintTrigger // see lateTriggers
}

// readTransaction reads s.host, once in a session.
func (s *Work) readTransaction(ctx context.Context, op string) error {
	if s.host.isolation != "" {
		return nil
	}
	return s.db.Read(ctx, op, func(rows *sql.Rows) error { return rows.Scan(&s.host.isolation, &s.host.defers) },
		s.store.locks.transaction)
}

// readSubjectRow reads the subject's row without a lock, and checks that the table stores the key with the same bytes
// as the id. It loads the schema into the session.
func (s *Work) readSubjectRow(ctx context.Context, id domain.SubjectID, key []any) error {
	_, err := s.checkSubjectRow(ctx, id, nil, s.store.locks.subjectRow, key...)
	return s.explain(ctx, "lock subject", err, live.ToRead(s.store.writer.DataMap.SubjectTable().Name))
}

// readSubjectRowAdded does the same as readSubjectRow for an erasure. It notes the creation time of the row.
func (s *Work) readSubjectRowAdded(ctx context.Context, id domain.SubjectID, key []any) error {
	var row erasedRow
	_, err := s.checkSubjectRow(ctx, id, row.targets(), s.store.locks.subjectRowAdded, withID(key, id)...)
	s.unsent.Erase(row.of(id))
	return s.explain(ctx, "lock subject", err, live.ToRead(s.store.writer.DataMap.SubjectTable().Name))
}

// erasedRow has the columns that an erasure reads with the subject's row: its creation time, and the instant in the
// mark.
type erasedRow struct {
	added  addedAt
	erased syntax.OptionalInstant
}

func (r *erasedRow) targets() []any { return []any{&r.added, &r.erased} }

func (r *erasedRow) of(id domain.SubjectID) unsent.Erasing {
	return unsent.Erasing{ID: id, At: r.erased.OrZero(), Added: time.Time(r.added)}
}

// withID returns the parameters of a statement: the subject's key and the id.
func withID(key []any, id domain.SubjectID) []any { return append(slices.Clip(key), id.String()) }

// checkSubjectRow runs a statement on the subject's row and reports whether the subject has a row. The statement
// returns the fingerprint and the subject's key as the table stores it. checkSubjectRow loads the schema with this
// fingerprint into the session. It fails if the table stores the key with other bytes than the id has. It scans further
// columns into further.
func (s *Work) checkSubjectRow(
	ctx context.Context, id domain.SubjectID, further []any, text string, args ...any,
) (present bool, err error) {
	row := newPreconditions(s.store.locks)
	targets := append(make([]any, 0, 2+len(row.texts)+len(further)), &present, &row.fingerprint)
	targets = append(conn.AddTargets(targets, row.texts), further...)
	matches := true
	err = s.db.Read(ctx, "lock subject", func(rows *sql.Rows) error {
		err := rows.Scan(targets...)
		matches = matches && row.matchTexts(id)
		return err
	}, text, args...)
	switch {
	case err != nil:
		return false, err
	case !matches:
		if err := s.loadSchema(ctx, row.fingerprint.String); err != nil {
			return false, err
		}
		return false, s.db.Fail(ctx, "lock subject", misspelled(s.schema, id))
	case !row.fingerprint.Valid: // the statement returned no row
		return false, nil
	}
	return present, s.loadSchema(ctx, row.fingerprint.String)
}

// preconditions holds further columns that a statement on the subject's row returns: the fingerprint, and the text
// columns of the subject's key as the table stores them.
type preconditions struct {
	elements    []int // the indexes of the id's elements that are texts
	fingerprint sql.NullString
	texts       []sql.NullString
}

func newPreconditions(l *lockStatements) *preconditions {
	return &preconditions{elements: l.textElements, texts: make([]sql.NullString, len(l.textElements))}
}

func (s *preconditions) targets() []*sql.NullString {
	targets := []*sql.NullString{&s.fingerprint}
	for i := range s.texts {
		targets = append(targets, &s.texts[i])
	}
	return targets
}

// matchTexts reports whether the table stores the texts of the id with the same bytes. matchTexts returns true if the
// subject has no row.
func (s *preconditions) matchTexts(id domain.SubjectID) bool {
	elements := id.Elements()
	for i, text := range s.texts {
		if text.Valid && text.String != elements[s.elements[i]] {
			return false
		}
	}
	return true
}

// misspelled returns the error for an id that the subject's table stores with other bytes.
func misspelled(schema *live.Schema, id domain.SubjectID) error {
	if _, err := schema.RefuseConverted(id, "subject"); err != nil {
		return err
	}
	return &domain.Error{
		Code: domain.ErrSubject, Op: "subject",
		Message: "the subject's table stores this id with other characters, such as another case: use the id as it is stored",
	}
}
