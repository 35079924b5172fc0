package memory

import (
	"context"
	"maps"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// subjectStore implements ports.SubjectStore.
type subjectStore struct{ *session }

// Lock needs no lock but the one that every session takes before it writes.
func (s subjectStore) Lock(ctx context.Context, id domain.SubjectID, at time.Time) error {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return err
	}
	state, err := s.write(ctx)
	if err != nil {
		return err
	}
	marks := maps.Clone(state.erasures)
	if marks == nil {
		marks = map[domain.SubjectID]erasures{}
	}
	marks[id] = erasures{last: domain.Instant(at), times: marks[id].times + 1}
	state.erasures = marks
	return nil
}

func (s subjectStore) Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return nil, err
	}
	state, err := s.write(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]int64, 0, len(steps))
	for _, step := range steps {
		n, err := state.apply(id, step)
		if err != nil {
			return rows, s.fail(err) // so that no half of an erasure is committed
		}
		rows = append(rows, n)
	}
	return rows, nil
}

// apply carries out one step of a plan.
func (s *state) apply(id domain.SubjectID, step domain.Step) (int64, error) {
	table, ok := s.dataMap.Table(step.Target)
	if !ok || step.External {
		return 0, manifestError("erase", "a step is not about a table of the data map")
	}
	own := s.rowsOf(id, table.Name)
	switch step.Strategy {
	case domain.StrategyDelete:
		return int64(len(own)), s.remove(table.Name, own)
	case domain.StrategyAnonymize:
		return int64(len(own)), s.anonymize(table, own, step.Columns)
	case domain.StrategyRetain:
		return int64(len(own)), nil
	default:
		return 0, manifestError("erase", "a step has no known strategy")
	}
}

// anonymize overwrites columns of rows, also where they are NULL.
func (s *state) anonymize(table domain.Table, rows []int, names []string) error {
	columns := make([]domain.Column, len(names))
	for i, name := range names {
		var ok bool
		if columns[i], ok = table.Column(name); !ok {
			return manifestError("erase", "a step is not about columns of its table")
		}
	}
	s.update(table.Name, rows, func(row Row) {
		for _, column := range columns {
			row[column.Name] = surrogate(column)
		}
	})
	return nil
}

func (s subjectStore) Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return 0, err
	}
	table, ok := s.store.dataMap.Table(step.Table)
	if !ok || len(step.Values) == 0 {
		return 0, manifestError("rectify", "a step is not about annotated columns of a table")
	}
	values := Row{}
	for _, right := range step.Values {
		column, ok := table.Column(right.Column)
		if !ok || column.Personal == nil {
			return 0, manifestError("rectify", "a step is not about annotated columns of a table")
		}
		if values[column.Name], ok = storable(column, right.Value); !ok || right.Value == nil {
			return 0, s.fail(domain.Invalid("rectify", []domain.FieldError{{ // so that no half of a rectification is committed
				Field: string(column.Personal.Category), Code: domain.FieldType, Message: "does not fit its column",
			}}))
		}
	}
	state, err := s.write(ctx)
	if err != nil {
		return 0, err
	}
	own := state.rowsOf(id, table.Name)
	state.update(table.Name, own, func(row Row) { maps.Copy(row, values) })
	return int64(len(own)), nil
}

func manifestError(op, message string) error {
	return &domain.Error{Code: domain.ErrManifest, Op: op, Message: message}
}
