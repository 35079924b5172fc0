package memory

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// Apply implements ports.SubjectStore. Nothing is cascaded, because the store has no foreign keys and no triggers.
func (s subjectStore) Apply(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step,
) (applied domain.Applied, err error) {
	state, err := s.writeOf(ctx, id)
	if err != nil {
		return applied, err
	}
	if before, err := plan.CheckSteps(s.store.dataMap, steps); err != nil {
		return domain.Applied{Rows: make([]int64, before)}, s.fail(err) // no partial commit
	}
	applied.Latest = map[int]map[string]time.Time{}
	for i, step := range steps {
		n, err := state.apply(id, step)
		if err != nil {
			return applied, s.fail(err)
		}
		applied.Rows = append(applied.Rows, n)
		if step.Strategy == domain.StrategyRetain {
			applied.Latest[i] = state.ends(step, state.retained(id, step)).Latest(n)
		}
	}
	state.distinguish(id, steps)
	return applied, nil
}

// distinguish writes one distinctive surrogate into the subject's row if a step has overwritten the row, but all
// columns for such a surrogate are NULL, and the creation time of the row does not tell whose row it is (see
// domain.Life).
func (s *state) distinguish(id domain.SubjectID, steps []datamap.Step) {
	evidence, table := s.evidence(id), s.dataMap.SubjectTable()
	if !evidence.Blank || evidence.Tells() {
		return
	}
	column := plan.Identifying(table)[0]
	for _, step := range steps {
		if step.Target == table.Name && slices.Contains(step.Columns, column.Name) {
			s.update(table.Name, s.rowsOnPath(id, table.Name, nil), func(_ int, row Row) {
				row[column.Name] = surrogate(column)
			})
		}
	}
}

// addedAt returns the creation time of the subject's row, or zero without such a row or value.
func (s *state) addedAt(id domain.SubjectID) time.Time {
	table := s.dataMap.SubjectTable()
	column, ok := plan.AddedAt(table)
	if !ok {
		return time.Time{}
	}
	for _, i := range s.rowsOnPath(id, table.Name, nil) {
		if added, ok := plan.ReadAddedAt(s.rows[table.Name][i][column.Name]); ok {
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
	return int64(len(s.retained(id, step))), nil
}

// retained returns the indexes of the rows in which a retain step keeps values.
func (s *state) retained(id domain.SubjectID, step datamap.Step) []int {
	table, _ := s.dataMap.Table(step.Target)
	return slices.DeleteFunc(s.rowsOfStep(id, step), func(i int) bool { return !s.concerns(table, i, step) })
}

// ends returns the ends of the duties that retain the columns of a step, in rows of its table.
func (s *state) ends(step datamap.Step, rows []int) *plan.Ends {
	ends := plan.NewEnds(s.dataMap, step)
	for _, row := range pick(s.rows[step.Target], rows) {
		since := make([]any, len(ends.Since))
		for i, name := range ends.Since {
			since[i] = row[name]
		}
		ends.Add(since)
	}
	return ends
}

// concerns reports whether a step affects a row that its path leads to. It leaves out rows in which an anonymize step
// overwrites no cell, and rows of a retain step whose duties have all ended.
func (s *state) concerns(table datamap.Table, row int, step datamap.Step) bool {
	if plan.OnlyExpired(step) {
		return slices.ContainsFunc(step.Expired, func(name string) bool { return s.overwrites(table, row, name, step) })
	}
	return step.Strategy != domain.StrategyRetain || !s.dutiesEnded(table, row, step)
}

// anonymize executes an anonymize step on rows of a table, and returns their number. It overwrites the columns in
// step.Columns, and the columns in step.Expired in those rows whose retention duties have ended. A cell that is NULL
// stays NULL, unless the column has Always. It sets the columns in step.ClearedColumns to NULL.
func (s *state) anonymize(table datamap.Table, rows []int, step datamap.Step) int64 {
	rows = slices.DeleteFunc(rows, func(i int) bool { return !s.concerns(table, i, step) })
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
			if column, _ := table.Column(name); row[name] != nil || column.Always {
				row[name] = surrogate(column)
			}
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
	return !at.IsZero() && !slices.ContainsFunc(plan.Duties(table, name), func(duty datamap.Column) bool {
		start, ok := plan.ReadStart(s.rows[table.Name][row][duty.Personal.Since])
		return !ok || !s.dataMap.Duty(*duty.Personal).Ended(start, at)
	})
}

func manifestError(op, message string) error {
	return &domain.Error{Code: domain.ErrManifest, Op: op, Message: message}
}
