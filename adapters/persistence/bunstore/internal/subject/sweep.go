package subject

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/cascade"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// sweepStatements holds the statements that lock a subject for a sweep.
type sweepStatements struct {
	fingerprint string // reads the fingerprint of the live schema
	lockMark    string // locks the ledgers and the mark of the subject $1; returns the markColumns
	lockRow     string // locks the subject's row; returns the fingerprint and the evidence about it
	readRow     string // lockRow without the lock
	recordSweep string // records a sweep of the subject $1 at the instant $2
}

const (
	lockErasedMark = `SELECT ` + markColumns + ` FROM {erasures}
		WHERE subject_id = $1 AND erasures > 0 AND {ledgers} IS NOT NULL{lock}`
	recordSweep = `UPDATE {erasures} SET swept_at = $2 WHERE subject_id = $1`
	readTexts   = `SELECT {texts} FROM {table} AS t0 WHERE {rows}`
)

// newSweeps returns the statements for the dialect and the tables of w.
func newSweeps(w *rows.Writer) sweepStatements {
	subject, lock := w.DataMap.SubjectTable(), w.Dialect.ForUpdate()
	texts := append([]string{live.Fingerprint(w.Dialect, w.Touched, w.Tables)}, lifeOfRow(w)...)
	readRow := syntax.Fill(readTexts, "texts", strings.Join(texts, ", "), "table", syntax.QuoteTable(subject.Name),
		"rows", w.RowsOf(subject, datamap.Path{}, 0))
	if lock != "" {
		lock += " OF t0"
	}
	return sweepStatements{
		fingerprint: "SELECT " + texts[0],
		lockMark: w.Tables.Fill(lockErasedMark, "lock", w.Dialect.ForUpdate(),
			"ledgers", unsent.LockLedgers(w.Dialect, w.Tables, "subject_id")),
		lockRow:     readRow + lock,
		readRow:     readRow,
		recordSweep: w.Tables.Fill(recordSweep),
	}
}

// maxSubjects is the maximum number of subjects in one statement of Due or Lives.
const maxSubjects = 50

// dueStatement returns the statement that finds the subjects with cells that one of the steps overwrites:
//
//	SELECT 0 WHERE EXISTS (...) OR EXISTS (...) UNION ALL SELECT 1 WHERE ...
//
// The numbers are indexes in keys and scopes, which have one element for each subject. A scope restricts the cells that
// the statement considers.
func dueStatement(
	w *rows.Writer, live rows.Live, steps []datamap.Step, keys [][]any, scopes []*domain.SweepScope,
) (text string, args []any) {
	selects := make([]string, len(keys))
	for i, key := range keys {
		found := make([]string, len(steps))
		for j, step := range steps {
			step.Scope = scopes[i]
			table, _ := w.DataMap.Table(step.Target)
			path, _ := w.DataMap.PathVia(step.Target, step.Via)
			sw := w.StepWriter(table, live.Types(table.Name), len(args)+len(key))
			found[j] = "EXISTS (" + syntax.Fill(rows.SelectRows, "columns", "1", "target",
				syntax.QuoteTable(table.Name)+" AS t0",
				"rows", w.RowsOf(table, path, len(args)), "concerned", sw.CoveredRows(step)) + ")"
			args = slices.Concat(args, key, rows.ResolveConstants(sw.Constants, step.At))
		}
		selects[i] = "SELECT " + strconv.Itoa(i) + " WHERE " + strings.Join(found, " OR ")
	}
	return strings.Join(selects, " UNION ALL "), args
}

// Due implements ports.ErasedStore: it returns the subjects with retained cells whose retention has ended. Due does not
// check whether a subject was registered again after its erasure. It may therefore return a subject whose cells Sweep
// does not overwrite.
func (s *Work) Due(
	ctx context.Context, marks []domain.ErasureMark, steps []datamap.Step,
) (due []domain.SubjectID, err error) {
	if len(marks) == 0 || len(steps) == 0 {
		return nil, s.db.Usable()
	}
	if err := s.checkSweep(ctx, steps); err != nil {
		return nil, err
	}
	if err := s.loadSchemaAlone(ctx); err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(marks, maxSubjects) {
		var keys [][]any
		var scope []*domain.SweepScope
		for _, mark := range chunk {
			key, err := s.store.writer.DataMap.Key(mark.SubjectID)
			if err != nil {
				return nil, err
			}
			keys, scope = append(keys, key), append(scope, mark.SweepScope(domain.LifeEnded, steps[0].DutiesSince))
		}
		text, args := dueStatement(s.store.writer, s.schema, steps, keys, scope)
		found := make([]bool, len(chunk))
		err := s.db.Read(ctx, "sweep", func(rows *sql.Rows) error {
			var i int
			err := rows.Scan(&i)
			found[i] = true
			return err
		}, text, args...)
		if err != nil {
			return nil, s.explain(ctx, "sweep", err, toCarryOut(steps)...)
		}
		for i, mark := range chunk {
			if found[i] {
				due = append(due, mark.SubjectID)
			}
		}
	}
	return due, nil
}

// Sweep implements ports.ErasedStore: it overwrites the retained cells of a subject whose retention has ended. It locks
// the subject in the same order as Lock.
func (s *Work) Sweep(ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.checkSweep(ctx, steps); err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, nil
	}
	scope, err := s.lockToSweep(ctx, id, key, steps[0].DutiesSince)
	if err != nil {
		return nil, err
	}
	if scope == nil {
		return make([]int64, len(steps)), nil
	}
	return s.sweep(ctx, id, key, withScope(steps, scope))
}

// lockToSweep locks the subject in a READ COMMITTED transaction. It returns the scope of the sweep, or nil if the
// subject was never erased.
func (s *Work) lockToSweep(
	ctx context.Context, id domain.SubjectID, key []any, dutiesSince time.Time,
) (*domain.SweepScope, error) {
	if err := s.requireReadCommitted(ctx, "sweep", "a sweep"); err != nil {
		return nil, err
	}
	if err := s.unsent.LockOthers(ctx, id); err != nil {
		return nil, err
	}
	if err := s.db.OverwriteDeleted(ctx); err != nil {
		return nil, err
	}
	if err := s.db.Begin(ctx); err != nil {
		return nil, err
	}
	found, err := s.lockErased(ctx, id, key)
	if err != nil {
		return nil, s.explain(ctx, "sweep", err, live.NeedsOf(s.store.locks.tables, live.ToUpdate)...)
	}
	if found.mark.Erasures == 0 {
		return nil, nil //nolint:nilnil // there is nothing to sweep
	}
	return found.mark.SweepScope(found.state().Life, dutiesSince), nil
}

// sweep runs the steps for a locked subject. If a step changed rows, it records the time of the sweep in the mark of
// the subject.
func (s *Work) sweep(
	ctx context.Context, id domain.SubjectID, key []any, steps []datamap.Step,
) (rows []int64, err error) {
	if before, err := refuse(s.schema, id, steps); err != nil {
		return make([]int64, before), s.db.Fail(ctx, "sweep", err)
	}
	applied, err := s.watched(ctx, cascade.Changes{Op: "sweep", Key: key, Steps: steps}, func() ([]int64, error) {
		verified, err := s.mustVerify(ctx, "sweep: deferred triggers", steps)
		switch {
		case err != nil:
			return make([]int64, len(steps)), err
		case verified:
			rows, err := s.applyVerified(ctx, key, steps, func() error { return nil })
			return rows, s.explainStep(ctx, steps, len(rows), err)
		default:
			return s.applyEach(ctx, key, steps)
		}
	})
	rows = applied.Rows
	if err == nil && len(rows) > 0 && slices.Max(rows) > 0 {
		_, err = s.db.Write(ctx, "sweep", s.store.sweeps.recordSweep, id.String(), s.store.dialect.Instant(steps[0].At))
	}
	return rows, err
}

// lockErased locks the subject. It returns its mark with the evidence about its row, and no mark if the subject was
// never erased.
func (s *Work) lockErased(ctx context.Context, id domain.SubjectID, key []any) (found life, err error) {
	row := newLifeRow(s.store.lives)
	err = s.db.WriteRows(ctx, "sweep", func(rows *sql.Rows) error { return rows.Scan(row.mark.targets()...) },
		s.store.sweeps.lockMark, id.String())
	if err != nil || row.mark.erasures.Int64 == 0 {
		return life{}, err
	}
	found.mark = row.mark.mark()
	text := s.store.sweeps.lockRow
	lockable, err := s.locksSubject(ctx, key)
	switch {
	case err != nil:
		return life{}, err
	case !lockable:
		text = s.store.sweeps.readRow
	}
	var fingerprint sql.NullString
	targets := append([]any{&fingerprint}, row.rowTargets()...)
	err = s.db.WriteRows(ctx, "sweep", func(rows *sql.Rows) error { return rows.Scan(targets...) },
		text, key...)
	if err != nil {
		return life{}, err
	}
	if fingerprint.Valid {
		found.evidence = row.evidence(s.store.writer.DataMap)
		err = s.loadSchema(ctx, fingerprint.String)
	} else { // the subject has no row
		err = s.loadSchemaAlone(ctx)
	}
	if err == nil {
		err = s.lockLevels(ctx, "sweep", key)
	}
	if err != nil {
		return life{}, err
	}
	return found, nil
}

// loadSchemaAlone loads the schema into the session, if it has none, without reading a subject.
func (s *Work) loadSchemaAlone(ctx context.Context) error {
	if s.schema != nil {
		return nil
	}
	var fingerprint string
	scan := func(rows *sql.Rows) error { return rows.Scan(&fingerprint) }
	if err := s.db.Read(ctx, "sweep", scan, s.store.sweeps.fingerprint); err != nil {
		return err
	}
	return s.loadSchema(ctx, fingerprint)
}

// checkSweep returns an error if a step does more than overwrite retained cells, for example if it deletes rows.
func (s *Work) checkSweep(ctx context.Context, steps []datamap.Step) error {
	if err := s.db.Usable(); err != nil {
		return err
	}
	_, err := plan.CheckSteps(s.store.writer.DataMap, withScope(steps, &domain.SweepScope{}))
	return s.db.Fail(ctx, "sweep", err)
}

// withScope returns a copy of the steps, each with the given scope. The scope selects the cells that a sweep
// overwrites.
func withScope(steps []datamap.Step, scope *domain.SweepScope) []datamap.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].Scope = scope
	}
	return steps
}

func toCarryOut(steps []datamap.Step) (needs []live.Need) {
	for _, step := range steps {
		needs = append(needs, live.ToCarryOut(step))
	}
	return needs
}
