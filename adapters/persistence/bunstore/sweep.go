package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// maxDueSubjects is the maximum number of subjects in one statement of Due.
const maxDueSubjects = 50

// Due implements ports.ErasedStore: it returns the subjects with retained cells whose retention has ended. Due does not
// check whether a subject was registered again after its erasure. It may therefore return a subject whose cells Sweep
// does not overwrite.
func (s erasedStore) Due(
	ctx context.Context, marks []domain.ErasureMark, steps []datamap.Step,
) (due []domain.SubjectID, err error) {
	if len(marks) == 0 || len(steps) == 0 {
		return nil, s.usable()
	}
	if err := s.checkSweep(ctx, steps); err != nil {
		return nil, err
	}
	if err := s.loadCatalogForSweep(ctx, s.store.sweeps.Fingerprint); err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(marks, maxDueSubjects) {
		var keys [][]any
		var scope []*domain.SweepScope
		for _, mark := range chunk {
			key, err := s.store.text.DataMap.Key(mark.SubjectID)
			if err != nil {
				return nil, err
			}
			keys, scope = append(keys, key), append(scope, mark.SweepScope(domain.LifeEnded, steps[0].DutiesSince))
		}
		text, args := s.store.text.DueSubjects(s.catalog, steps, keys, scope)
		found := make([]bool, len(chunk))
		err := s.read(ctx, "sweep", func(rows *sql.Rows) error {
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
func (s erasedStore) Sweep(ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
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

// lockToSweep locks the subject in a READ COMMITTED transaction. It returns the scope of the sweep (which of the
// retained cells to overwrite), or nil if the subject was never erased.
func (s erasedStore) lockToSweep(
	ctx context.Context, id domain.SubjectID, key []any, dutiesSince time.Time,
) (*domain.SweepScope, error) {
	if err := s.requireReadCommitted(ctx, "sweep", "a sweep"); err != nil {
		return nil, err
	}
	if err := s.overwriteDeleted(ctx); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	found, err := s.lockErased(ctx, id, key)
	if err != nil {
		return nil, s.explain(ctx, "sweep", err, catalog.ToLock(s.store.locks.Tables)...)
	}
	if found.mark.Erasures == 0 {
		return nil, nil //nolint:nilnil // there is nothing to sweep
	}
	return found.mark.SweepScope(found.state().Life, dutiesSince), nil
}

// sweep runs the steps for a locked subject. If a step changed rows, it records the time of the sweep in the mark of
// the subject.
func (s erasedStore) sweep(
	ctx context.Context, id domain.SubjectID, key []any, steps []datamap.Step,
) (rows []int64, err error) {
	if before, err := refuse(s.catalog, id, steps); err != nil {
		return make([]int64, before), s.fail(ctx, "sweep", err)
	}
	verified, err := s.mustVerify(ctx, "sweep: deferred triggers")
	if err != nil {
		return make([]int64, len(steps)), err
	}
	if verified {
		rows, err = subjectStore(s).applyVerified(ctx, key, steps)
		err = subjectStore(s).explainStep(ctx, steps, len(rows), err)
	} else {
		rows, err = subjectStore(s).applyEach(ctx, key, steps)
	}
	if err == nil && len(rows) > 0 && slices.Max(rows) > 0 {
		_, err = s.write(ctx, "sweep", s.store.sweeps.RecordSweep, id.String(), s.store.dialect.Instant(steps[0].At))
	}
	return rows, err
}

// lockErased locks the subject. It returns its mark with the evidence about its row, and no mark if the subject was
// never erased.
func (s erasedStore) lockErased(ctx context.Context, id domain.SubjectID, key []any) (found life, err error) {
	row := newLifeRow(s.store.lives)
	err = s.writeRows(ctx, "sweep", func(rows *sql.Rows) error { return rows.Scan(row.mark.targets()...) },
		s.store.sweeps.LockMark, id.String())
	if err != nil || row.mark.erasures.Int64 == 0 {
		return life{}, err
	}
	found.mark = row.mark.mark()
	var fingerprint sql.NullString
	targets := append([]any{&fingerprint}, row.rowTargets()...)
	err = s.writeRows(ctx, "sweep", func(rows *sql.Rows) error { return rows.Scan(targets...) },
		s.store.sweeps.LockRow, key...)
	if err != nil {
		return life{}, err
	}
	if fingerprint.Valid {
		found.evidence = row.evidence(s.store.text.DataMap)
		err = s.loadCatalog(ctx, fingerprint.String)
	} else { // the subject has no row
		err = s.loadCatalogForSweep(ctx, s.store.sweeps.Fingerprint)
	}
	if err != nil {
		return life{}, err
	}
	if err := s.catalog.RefuseUnlocked(s.store.locks.Tables); err != nil {
		return life{}, s.fail(ctx, "sweep", err)
	}
	for _, level := range s.store.locks.Levels {
		if err := s.writeRows(ctx, "sweep", conn.Ignore, level.Text, slices.Repeat(key, level.Tables)...); err != nil {
			return life{}, err
		}
	}
	return found, nil
}

// loadCatalogForSweep loads the catalog into the session, if it has none. The parameter text is a statement that
// returns the fingerprint without reading a subject.
func (s erasedStore) loadCatalogForSweep(ctx context.Context, text string) error {
	if s.catalog != nil {
		return nil
	}
	var fingerprint string
	err := s.read(ctx, "sweep", func(rows *sql.Rows) error { return rows.Scan(&fingerprint) }, text)
	if err != nil {
		return err
	}
	return s.loadCatalog(ctx, fingerprint)
}

// checkSweep returns an error if a step does more than overwrite retained cells, for example if it deletes rows.
func (s erasedStore) checkSweep(ctx context.Context, steps []datamap.Step) error {
	if err := s.usable(); err != nil {
		return err
	}
	_, err := s.store.text.DataMap.CheckSteps(withScope(steps, &domain.SweepScope{}))
	return s.fail(ctx, "sweep", err)
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

func toCarryOut(steps []datamap.Step) (needs []catalog.Need) {
	for _, step := range steps {
		needs = append(needs, catalog.ToCarryOut(step))
	}
	return needs
}
