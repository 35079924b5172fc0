package subject

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/register"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// Export implements ports.SubjectStore. On PostgreSQL, one statement reads all tables. A single statement sees one
// snapshot, so it needs no transaction. On SQLite, one statement for each table runs in a read-only transaction, or in
// the transaction of the application that the session has joined.
func (s *Work) Export(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	if err := s.db.Usable(); err != nil {
		return err
	}
	if s.db.Tx != nil && !s.db.Joined {
		return &domain.Error{
			Code: domain.ErrSession, Op: "export", Message: "must come before the first write of its session",
		}
	}
	show := func(e *exportStatement, row *exportRow, holdsErased bool) error {
		return e.yield(row, holdsErased, yield)
	}
	read := func() error { return s.export(ctx, id, key, reading{"export", &s.store.lastExports, newExports, show}) }
	if done, err := s.onReplica(ctx, id, read); done {
		s.unsent.Standing = nil // the replica may lag behind
		return err
	}
	if s.store.dialect.CombinesChanges() {
		return read()
	}
	return s.db.InSnapshot(ctx, "export", read)
}

// exportStatement is a statement that reads the exported columns of one or more tables (its sources). A result row has
// the index of its source, the position of the row in this source, and the values of the row. If another source has
// more values, NULL fills the remaining columns.
type exportStatement struct {
	own                dialect
	dataMap            datamap.DataMap
	sources            []source
	width              int // the number of values of the widest source
	text               string
	readsPreconditions bool // the first source is the row of preconditions, see lockStatements
	preconditions      int  // the number of its values before those of a lifeRow
}

// cachedExports holds the statements of an export, and the schema for which they were built.
type cachedExports struct {
	statements []exportStatement
	schema     *live.Schema
}

// reading is an operation that runs export statements. The store caches those of the most recent call.
type reading struct {
	op    string
	cache *atomic.Pointer[cachedExports]
	build func(*Store, rows.Live) []exportStatement
	show  func(e *exportStatement, row *exportRow, holdsErased bool) error // gets each row after the first
}

func (r *reading) statements(s *Store, schema *live.Schema) []exportStatement {
	last := r.cache.Load()
	if last == nil || last.schema != schema {
		last = &cachedExports{r.build(s, schema), schema}
		r.cache.Store(last)
	}
	return last.statements
}

// newExports returns the statements that read the data of a subject for an export. The tables of the application come
// first, then the ledgers, and then the register if it is read. The first source of the first statement is the row of
// preconditions (the values that the caller must check before it continues, see lockStatements), with the evidence
// about the life of the subject's id.
func newExports(s *Store, live rows.Live) []exportStatement {
	w, all := s.writer, []source{preconditionsOf(s.writer, s.locks)}
	for _, table := range w.DataMap.Tables() {
		if columns := w.DataMap.ExportedColumns(table); len(columns) > 0 {
			s := newSource(w, table, columns, live.Types(table.Name))
			s.keyParameters = all[0].keyParameters
			s.fromClause = func(offset int) string { return w.FromAllRowsOf(table, offset) }
			s.restrictByPath(w)
			all = append(all, s)
		}
	}
	kinds := []unsent.Kind{unsent.Consents, unsent.Restrictions}
	for i, table := range plan.LedgerTables() {
		s := newSource(w, table, table.Exported(), ledgerTypes)
		s.fromClause = func(offset int) string {
			subject := syntax.Placeholder(offset + 1)
			return syntax.Fill(fromLedger, "table", unsent.TableOf(w.Tables, kinds[i]), "subject", subject,
				"until", ledger.EarlierUntil(w.Tables, kinds[i], subject))
		}
		all = append(all, s)
	}
	if s.readsRegister {
		all = append(all, source{
			position: "0", selected: []string{"register.value"}, isRegister: true, pathValues: func(int) []string { return nil },
			fromClause: func(offset int) string {
				return "FROM (" + register.StandingValue(w.Tables, syntax.Placeholder(offset+1)) + ") AS register"
			},
		})
	}
	// SQLite would sort the rows of a statement for all tables before it returns the first row. A statement for one table
	// returns its rows in the order of an index.
	tablesPerStatement := 1
	if w.Dialect.CombinesChanges() {
		tablesPerStatement = len(all)
	}
	var statements []exportStatement
	for sources := range slices.Chunk(all, tablesPerStatement) {
		statements = append(statements, newExport(w, sources, len(statements) == 0))
	}
	return statements
}

// preconditionsOf returns the row of preconditions.
func preconditionsOf(w *rows.Writer, locks *lockStatements) source {
	subject := w.DataMap.SubjectTable()
	keys := len(subject.SubjectKey)
	return source{
		table: subject, position: "0", selected: slices.Concat(locks.preconditions, exportedLife(w)),
		fromClause: func(offset int) string {
			return w.Tables.Fill(fromSubjectAndMark, "subject", w.FromSubject(offset), "id", syntax.Placeholder(offset+keys+1))
		},
		keyParameters: keys, pathValues: func(int) []string { return nil },
	}
}

// ledgerTypes has the types of the primary keys of the ledgers.
var ledgerTypes = map[string]string{"seq": "bigint"}

const (
	exportOne = `SELECT 0, 0, {values} {from} ORDER BY {key}`

	exportBranch = `
		SELECT {number} AS source, {position} AS position, {values}
		{from}`

	fromSubjectAndMark = `{subject} LEFT JOIN {erasures} AS m ON m.subject_id = {id}`

	fromLedger = `FROM {table} AS t0 WHERE t0.subject_id = {subject} AND t0.seq > COALESCE({until}, 0)`
)

func newExport(w *rows.Writer, sources []source, readsPreconditions bool) exportStatement {
	e := exportStatement{
		own: dialectOf(w.Dialect), dataMap: w.DataMap, sources: sources, readsPreconditions: readsPreconditions,
		preconditions: len(sources[0].selected) - len(exportedLife(w)),
	}
	for _, source := range sources {
		e.width = max(e.width, len(source.selected)+len(source.paths))
	}
	statement := exportOne
	if len(sources) > 1 {
		statement = exportBranch
	}
	branches, parameters := make([]string, len(sources)), 0
	for i, source := range sources {
		missing := slices.Repeat([]string{"NULL"}, e.width-len(source.selected)-len(source.paths))
		values := slices.Concat(source.selected, source.pathValues(parameters), missing)
		branches[i] = syntax.Fill(statement, "number", strconv.Itoa(i), "key", rows.List("t0", source.table.PrimaryKey),
			"position", source.position, "values", strings.Join(values, ", "), "from", source.fromClause(parameters))
		parameters += max(source.keyParameters, 1)
		if readsPreconditions && i == 0 {
			parameters++ // the subject's id
		}
	}
	e.text = strings.Join(branches, " UNION ALL ")
	if len(sources) > 1 {
		e.text += " ORDER BY 1, 2" // not by name, because a column of the application may have the same name
	}
	return e
}

// args returns the parameters of the statement. A table of the application needs the subject's key, and a ledger needs
// the subject's id. The row of preconditions needs both.
func (e *exportStatement) args(id domain.SubjectID, key []any) []any {
	var args []any
	for i, source := range e.sources {
		args = append(args, key[:source.keyParameters]...)
		if source.keyParameters == 0 || e.readsPreconditions && i == 0 {
			args = append(args, id.String())
		}
	}
	return args
}

// maxExportStarts is the maximum number of times that an export runs its first statement. The export repeats the
// statement if the definitions of the tables have changed since the store read the schema.
const maxExportStarts = 3

// export runs the statements of an operation and shows their rows. If the cached schema is not that of the database,
// the first statement shows nothing: export then loads the schema and begins again.
func (s *Work) export(ctx context.Context, id domain.SubjectID, key []any, of reading) error {
	known := s.store.schemas.Last()
	for range maxExportStarts {
		if known == nil {
			if err := s.readSubjectRow(ctx, id, key); err != nil {
				return err
			}
			known = s.schema
		}
		stale, holdsErased := "", false // see domain.Life.HoldsErased; set by the first statement
		var err error
		statements := of.statements(s.store, known)
		for i := 0; i < len(statements) && err == nil && stale == ""; i++ {
			stale, err = s.exportOne(ctx, &statements[i], known, id, key, &holdsErased, of)
		}
		if conn.IsMistyped(err) { // the type of a column has changed, and the statement cannot read the fingerprint
			s.store.schemas.Forget()
			if known = nil; s.db.Tx == nil {
				s.db.Failed = nil
				continue
			}
		}
		if err != nil || stale == "" {
			return err
		}
		if err := s.loadSchema(ctx, stale); err != nil {
			return err
		}
		known = s.schema
	}
	return s.db.Fail(ctx, of.op, &domain.Error{
		Code: domain.ErrUnavailable, Op: of.op,
		Message: "the definitions of the application's tables changed repeatedly: try again",
	})
}

// exportOne runs one statement and shows its rows. If the statement is the first one, exportOne does not show its first
// row. This row holds the fingerprint, the subject's key as the table stores it, and the evidence about the life of the
// id. If the known schema has another fingerprint, exportOne shows nothing and returns this fingerprint.
func (s *Work) exportOne(
	ctx context.Context, e *exportStatement, known *live.Schema, id domain.SubjectID, key []any, holdsErased *bool,
	of reading,
) (stale string, err error) {
	var refused error
	row := e.newRow()
	err = s.db.Read(ctx, of.op, func(rows *sql.Rows) error {
		if err := rows.Scan(row.targets...); err != nil {
			return err
		}
		switch {
		case stale != "":
			return nil
		case e.readsPreconditions && row.source == 0:
			stale, refused = s.checkPreconditions(known, id, row.values)
			*holdsErased = e.life(row).HoldsErased()
		case e.sources[row.source].isRegister:
			s.unsent.Standing = &unsent.Standing{SubjectID: id, JSON: []byte(syntax.Text(row.values[0]))}
		default:
			refused = of.show(e, row, *holdsErased)
		}
		return refused
	}, e.text, e.args(id, key)...)
	switch {
	case refused != nil:
		return "", refused // unchanged, as yield returned it
	case err != nil:
		return "", s.explain(ctx, of.op, err, s.store.schemas.ToExport()...)
	}
	return stale, nil
}

// checkPreconditions checks the values in the first row of an export. It returns an error if the subject must not be
// exported. The row contains a fingerprint. If the cached schema has another fingerprint, checkPreconditions returns
// the fingerprint of the row, and "" otherwise.
func (s *Work) checkPreconditions(
	cached *live.Schema, id domain.SubjectID, values []any,
) (stale string, err error) {
	seen := newPreconditions(s.store.locks)
	for i, target := range seen.targets() {
		if values[i] != nil {
			*target = sql.NullString{String: syntax.Text(values[i]), Valid: true}
		}
	}
	if !seen.matchTexts(id) {
		return "", misspelled(cached, id)
	}
	if fingerprint := seen.fingerprint.String; cached.Fingerprint != fingerprint {
		return fingerprint, nil
	}
	_, err = cached.RefuseSubject(id, "export")
	return "", err
}

// onReplica calls fn while the session reads from one snapshot of the replica. If the store has no replica, if it is
// unreachable or lacks an erasure of the subject, or if the session has a transaction, onReplica returns false. The
// caller must then read from the primary.
func (s *Work) onReplica(ctx context.Context, id domain.SubjectID, fn func() error) (done bool, err error) {
	if s.store.readDB == nil || s.db.Tx != nil {
		return false, nil
	}
	var current, known int64
	if err := s.db.Read(ctx, "export", scanCount(&current), s.store.locks.erasures, id.String()); err != nil {
		return true, err
	}
	return s.db.InReplica(ctx, s.store.readDB, func(query conn.Query) bool {
		err := query(ctx, scanCount(&known), s.store.locks.erasures, id.String())
		return err == nil && known == current
	}, fn)
}

func scanCount(count *int64) func(*sql.Rows) error {
	return func(rows *sql.Rows) error { return rows.Scan(count) }
}
