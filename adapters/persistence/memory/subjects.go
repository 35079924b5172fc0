package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// subjectStore implements ports.SubjectStore.
type subjectStore struct{ *session }

// Lock implements ports.SubjectStore. It takes the write lock of the session, which also locks the subject.
func (s subjectStore) Lock(ctx context.Context, id domain.SubjectID, at time.Time) (time.Time, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return time.Time{}, err
	}
	state, err := s.write(ctx)
	if err != nil {
		return time.Time{}, err
	}
	state.mark(domain.ErasureMark{
		SubjectID: id, ErasedAt: domain.ErasureInstant(at, time.Now(), state.lastErasedAt()), AddedAt: state.addedAt(id),
	})
	s.marked = append(s.marked, id)
	if state.addedAt(id).IsZero() {
		s.undated = append(s.undated, id)
	}
	return state.erasures[id].ErasedAt, nil
}

// LockToRectify implements ports.SubjectStore. It takes the write lock of the session, which also locks the subject.
func (s subjectStore) LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return domain.SubjectState{}, err
	}
	state, err := s.write(ctx)
	if err != nil {
		return domain.SubjectState{}, err
	}
	return state.subjectState(id), nil
}

// Apply implements ports.SubjectStore. Nothing is cascaded, because the store has no foreign keys and no triggers.
func (s subjectStore) Apply(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step,
) (applied domain.Applied, err error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return applied, err
	}
	state, err := s.write(ctx)
	if err != nil {
		return applied, err
	}
	if before, err := s.store.dataMap.CheckSteps(steps); err != nil {
		return domain.Applied{Rows: make([]int64, before)}, s.fail(err) // no partial commit
	}
	for _, step := range steps {
		n, err := state.apply(id, step)
		if err != nil {
			return applied, s.fail(err)
		}
		applied.Rows = append(applied.Rows, n)
	}
	return applied, nil
}

// addedAt returns the creation time of the subject's row, or zero without such a row or value.
func (s *state) addedAt(id domain.SubjectID) time.Time {
	table := s.dataMap.SubjectTable()
	column, ok := table.AddedAt()
	if !ok {
		return time.Time{}
	}
	for _, i := range s.rowsOnPath(id, table.Name, nil) {
		if added, ok := datamap.ReadAddedAt(s.rows[table.Name][i][column.Name]); ok {
			return added
		}
	}
	return time.Time{}
}

// apply executes a step of a plan.
func (s *state) apply(id domain.SubjectID, step datamap.Step) (int64, error) {
	table, _ := s.dataMap.Table(step.Target)
	own := s.rowsOfStep(id, step)
	switch step.Strategy { //nolint:exhaustive // steps have no other strategies
	case domain.StrategyDelete:
		return int64(len(own)), s.remove(table.Name, own)
	case domain.StrategyAnonymize:
		return s.anonymize(table, own, step), nil
	case domain.StrategyRetain, domain.StrategyNull:
	}
	retained := slices.DeleteFunc(own, func(i int) bool { return s.dutiesEnded(table, i, step) })
	return int64(len(retained)), nil
}

// anonymize executes an anonymize step on rows of a table, and returns the number of changed rows. It overwrites the
// columns in step.Columns, even if a cell is NULL. It overwrites the columns in step.Expired in those rows whose
// retention duties have ended. It sets the columns in step.ClearedColumns to NULL.
func (s *state) anonymize(table datamap.Table, rows []int, step datamap.Step) int64 {
	if step.OnlyExpired() {
		rows = slices.DeleteFunc(rows, func(i int) bool {
			return !slices.ContainsFunc(step.Expired, func(name string) bool { return s.overwrites(table, i, name, step) })
		})
	}
	expired := map[int][]string{}
	for _, i := range rows {
		for _, name := range step.Expired {
			if s.overwrites(table, i, name, step) {
				expired[i] = append(expired[i], name)
			}
		}
	}
	s.update(table.Name, rows, func(i int, row Row) {
		for _, name := range slices.Concat(step.Columns, expired[i]) {
			column, _ := table.Column(name)
			row[name] = surrogate(column)
		}
		for _, name := range step.ClearedColumns {
			row[name] = nil
		}
	})
	return int64(len(rows))
}

// dutiesEnded reports whether all retention duties for the cells of a row have ended.
func (s *state) dutiesEnded(table datamap.Table, row int, step datamap.Step) bool {
	return len(step.Expired) > 0 && !slices.ContainsFunc(step.Columns, func(name string) bool {
		return !slices.Contains(step.Expired, name) || !s.isExpired(table, row, name, step.At)
	})
}

// isExpired reports whether all retention duties for a cell have ended at the given time.
func (s *state) isExpired(table datamap.Table, row int, name string, at time.Time) bool {
	return !at.IsZero() && !slices.ContainsFunc(table.Duties(name), func(duty datamap.Column) bool {
		since, ok := s.rows[table.Name][row][duty.Personal.Since].(time.Time)
		return !ok || since.After(duty.Personal.Retain.Cutoff(at))
	})
}

func (s subjectStore) Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return 0, err
	}
	table, ok := s.store.dataMap.Table(step.Table)
	if !ok || len(step.Values) == 0 {
		return 0, manifestError("rectify", "a step must name annotated columns of a table")
	}
	path, ok := s.store.dataMap.PathVia(step.Table, step.Via)
	if !ok {
		return 0, manifestError("rectify", "a step must name one of the table's paths")
	}
	values := Row{}
	for _, right := range step.Values {
		column, ok := table.Column(right.Column)
		if !ok || !path.Has(column) {
			return 0, manifestError("rectify", "a step must name annotated columns of a table")
		}
		if values[column.Name], ok = storable(column, right.Value); !ok || right.Value == nil {
			return 0, s.fail(domain.Invalid("rectify", []domain.FieldError{{ // no partial commit
				Field: string(column.Personal.Category), Code: domain.FieldType, Message: "must fit the type of its column",
			}}))
		}
	}
	state, err := s.write(ctx)
	if err != nil {
		return 0, err
	}
	own := state.rowsOf(id, table.Name, path)
	if step.Row != "" {
		own = slices.DeleteFunc(own, func(i int) bool { return rowName(table, state.rows[table.Name][i]) != step.Row })
	}
	state.update(table.Name, own, func(_ int, row Row) { maps.Copy(row, values) })
	return int64(len(own)), nil
}

func manifestError(op, message string) error {
	return &domain.Error{Code: domain.ErrManifest, Op: op, Message: message}
}
