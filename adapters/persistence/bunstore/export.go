package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Export implements ports.SubjectStore. All tables are read by one statement, which sees one snapshot without a
// transaction around it; where the database sets a limit to what a statement may join, by several in a transaction.
func (s subjectStore) Export(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	if s.tx != nil && !s.joined {
		return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come before any write of its session"}
	}
	statements := s.store.export
	read := func() error { return s.export(ctx, statements[0], id, key, yield) }
	if done, err := s.onReplica(ctx, id, read); done {
		return err
	}
	if len(statements) == 1 {
		return read()
	}
	return s.inSnapshot(ctx, func() error {
		for _, statement := range statements {
			if err := s.export(ctx, statement, id, key, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxSights is how often an export is begun again because the catalog has changed.
const maxSights = 3

// export yields what one statement reads. The first statement has a sight of the subject before its records. If the
// catalog is another one than the store knows, nothing is yielded, and the statement is run again.
func (s subjectStore) export(
	ctx context.Context, e export, id domain.SubjectID, key []any, yield func(domain.ExportRecord) error,
) error {
	if known := s.store.catalog.Load(); e.sighted && (known == nil || known.volatile) {
		if _, err := s.look(ctx, id, key); err != nil {
			return err
		}
	}
	for range maxSights {
		stale := ""
		var refused error
		row := e.newRow()
		err := s.read(ctx, "export", func(rows *sql.Rows) error {
			if err := rows.Scan(row.targets...); err != nil {
				return err
			}
			switch {
			case stale != "":
				return nil
			case e.sighted && row.source == 0:
				stale, refused = s.checkSight(id, row.values)
			default:
				refused = e.sources[row.source].yield(s.store.dialect, row.values, yield)
			}
			return refused
		}, e.text, e.args(id, key)...)
		switch {
		case refused != nil:
			return refused // as yield gave it
		case err != nil:
			return s.explain(ctx, "export", err, s.store.needsOfExport()...)
		case stale == "":
			return nil
		}
		if err := s.learn(ctx, stale); err != nil {
			return err
		}
	}
	return s.fail(ctx, "export", &domain.Error{
		Code: domain.ErrUnavailable, Op: "export", Message: "the tables were being changed all the while",
	})
}

// checkSight returns an error if the subject must not be exported, or the fingerprint of a catalog that is not known.
func (s subjectStore) checkSight(id domain.SubjectID, values []any) (stale string, err error) {
	seen := s.store.locking.newSight()
	for i, target := range seen.targets() {
		if values[i] != nil {
			*target = sql.NullString{String: textOf(values[i]), Valid: true}
		}
	}
	if !seen.spells(id) {
		return "", misspelled()
	}
	known, fingerprint := s.store.catalog.Load(), seen.fingerprint.String
	if known.fingerprint != fingerprint {
		return fingerprint, nil
	}
	_, err = s.store.refuseHidden(known, id, "export")
	return "", err
}

// inSnapshot runs fn in a transaction that reads only, unless the session is in the host's.
func (s *session) inSnapshot(ctx context.Context, fn func() error) error {
	if s.tx != nil {
		return fn()
	}
	if err := s.store.gate.enter(ctx); err != nil {
		return s.fail(ctx, "export", err)
	}
	defer s.store.gate.leave()
	tx, err := snapshot(ctx, s.store.db)
	if err != nil {
		return s.fail(ctx, "export", err)
	}
	s.tx = tx
	defer func() {
		s.tx = nil
		_ = tx.rollback(context.WithoutCancel(ctx)) // of nothing
	}()
	return fn()
}

// export is a statement that reads what is annotated, of several tables. A row of it is the number of its source, its
// number there, and the values of the source, which has the first of the columns.
type export struct {
	sources []source
	width   int // of the source with the most values
	text    string
	sighted bool // its first source is a sight of the subject
}

// newExports makes the statements that read all that a subject's export has: the application's tables, then the
// ledgers.
func newExports(store *Store) []export {
	subject := store.dataMap.SubjectTable()
	all := []source{{
		table: subject, selected: store.locking.sight, from: store.ofSubject, keys: len(subject.SubjectKey),
	}}
	for _, table := range store.dataMap.Tables() {
		if len(table.Personal()) > 0 {
			s := newSource(store.dialect, table)
			s.keys = len(subject.SubjectKey)
			s.from = func(others int) string {
				return " FROM " + quoteTable(table.Name) + " AS t0 WHERE " + store.rowsOf(table, others)
			}
			all = append(all, s)
		}
	}
	names := []string{store.tables.consents, store.tables.restrictions}
	for i, ledger := range domain.LedgerTables() {
		s := newSource(store.dialect, ledger)
		s.from = func(others int) string {
			return " FROM " + names[i] + " AS t0 WHERE t0.subject_id = " + parameter(others+1)
		}
		all = append(all, s)
	}
	// SQLite compiles its statements each time: one per table costs less than all of them in one.
	atOnce := 1
	if store.dialect.joins() {
		atOnce = len(all)
	}
	var statements []export
	for sources := range slices.Chunk(all, atOnce) {
		statements = append(statements, newExport(sources))
	}
	statements[0].sighted = true
	return statements
}

func newExport(sources []source) export {
	e := export{sources: sources}
	for _, source := range sources {
		e.width = max(e.width, len(source.selected))
	}
	if len(sources) == 1 {
		s := sources[0]
		e.text = "SELECT 0, 0, " + strings.Join(s.selected, ", ") + s.from(0) + " ORDER BY " + list("t0", s.table.PrimaryKey)
		return e
	}
	branches, parameters := make([]string, len(sources)), 0
	for i, source := range sources {
		missing := slices.Repeat([]string{"NULL"}, e.width-len(source.selected))
		branches[i] = "SELECT " + strconv.Itoa(i) + " AS source, row_number() OVER (ORDER BY " +
			list("t0", source.table.PrimaryKey) + ") AS position, " +
			strings.Join(slices.Concat(source.selected, missing), ", ") + source.from(parameters)
		parameters += max(source.keys, 1)
	}
	// Not by name: a column of the application may have it.
	e.text = strings.Join(branches, " UNION ALL ") + " ORDER BY 1, 2"
	return e
}

// args are the parameters of the statement: for each table of the application the subject's key, for a ledger the id.
func (e export) args(id domain.SubjectID, key []any) []any {
	var args []any
	for _, source := range e.sources {
		if source.keys == 0 {
			args = append(args, id.String())
			continue
		}
		args = append(args, key...)
	}
	return args
}
