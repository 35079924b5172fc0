package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Apply implements ports.SubjectStore. Where the database can join them, all steps are one statement. Nobody can tell
// which step such a statement failed at, so the session is then run once more, step by step.
func (s subjectStore) Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return nil, err
	}
	for i, step := range steps {
		if err := s.store.checkStep(step); err != nil {
			return make([]int64, i), err
		}
	}
	rows := make([]int64, 0, len(steps))
	for group := range slices.Chunk(steps, s.atOnce(steps)) {
		counts, err := s.applyGroup(ctx, group, key)
		if err != nil {
			if len(group) > 1 && s.failed != nil {
				s.stepwise, s.failed = true, failedGroup{s.failed}
				return make([]int64, len(steps)), err // nobody can tell which step it was
			}
			return rows, err
		}
		rows = append(rows, counts...)
	}
	return rows, nil
}

func (s *Store) checkStep(step domain.Step) error {
	switch _, ok := s.dataMap.Table(step.Target); {
	case !ok || step.External:
		return &domain.Error{Code: domain.ErrManifest, Op: "erase", Message: "a step is not about a table of the data map"}
	case !step.Strategy.Valid():
		return &domain.Error{Code: domain.ErrManifest, Op: "erase", Message: "a step has no known strategy"}
	default:
		return nil
	}
}

// atOnce is how many of the steps go into one statement.
func (s subjectStore) atOnce(steps []domain.Step) int {
	if !s.store.dialect.joins() || s.stepwise || s.joined || s.store.entangled.Load() { // a host's transaction is not run again
		return 1
	}
	return max(1, len(steps))
}

// failedGroup is the error of several steps in one statement. The session is run again, see retryable.
type failedGroup struct{ error }

func (f failedGroup) Unwrap() error { return f.error }

// applyGroup carries out steps in one statement, and returns how many rows each of them was about.
func (s subjectStore) applyGroup(ctx context.Context, steps []domain.Step, key []any) ([]int64, error) {
	op := "erase"
	if len(steps) == 1 {
		op += ": " + string(steps[0].Strategy) + " " + steps[0].Target
	}
	if !s.store.dialect.joins() && steps[0].Strategy != domain.StrategyRetain {
		text, args := s.store.eraseStatement(steps[0], key, nil)
		n, err := s.write(ctx, op, text, args...)
		return []int64{n}, err
	}
	var text strings.Builder
	var args []any
	counts, counted := make([]any, len(steps)), make([]int64, len(steps))
	selects := make([]string, len(steps))
	for i, step := range steps {
		var body string
		body, args = s.store.eraseStatement(step, key, args)
		if step.Strategy != domain.StrategyRetain {
			body += " RETURNING 1"
		}
		name := "s" + strconv.Itoa(i)
		text.WriteString([]string{"WITH ", ", "}[min(i, 1)] + name + " AS (" + body + ")")
		selects[i], counts[i] = "(SELECT count(*) FROM "+name+")", &counted[i]
	}
	independent := true
	if len(steps) > 1 {
		selects, counts = append(selects, independentTables(steps)), append(counts, &independent)
	}
	text.WriteString(" SELECT " + strings.Join(selects, ", "))
	err := s.returning(ctx, op, func(r *sql.Rows) error { return r.Scan(counts...) }, text.String(), args...)
	if err == nil && !independent {
		s.store.entangled.Store(true)
		err = s.fail(ctx, op, &domain.Error{Op: op, Message: "the steps depend on each other"})
	}
	return counted, err
}

// independentTables is the condition under which steps may be one statement. It sees the rows as they were before any
// of them, and changes a row once: what a trigger of the application adds for one step is not there for the next, and of
// two changes to a row, through a view for one, the second is lost without an error.
func independentTables(steps []domain.Step) string {
	var names []string
	for _, step := range steps {
		if name := "CAST('" + strings.ReplaceAll(quoteTable(step.Target), "'", "''") + "' AS regclass)"; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return "(SELECT count(*) = " + strconv.Itoa(len(names)) + " FROM pg_catalog.pg_class AS c WHERE c.oid IN (" +
		strings.Join(names, ", ") + ") AND c.relkind = 'r' AND NOT c.relispartition AND NOT c.relhassubclass AND NOT EXISTS (" +
		"SELECT 1 FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal))"
}

// eraseStatement is the statement of one step, and the parameters with its own added.
func (s *Store) eraseStatement(step domain.Step, key, args []any) (string, []any) {
	table, _ := s.dataMap.Table(step.Target)
	from, where := quoteTable(table.Name)+" AS t0", " WHERE "+s.rowsOf(table, len(args))
	args = append(args, key...)
	switch step.Strategy {
	case domain.StrategyDelete:
		return "DELETE FROM " + from + where, args
	case domain.StrategyAnonymize:
		assignments, args := s.surrogates(table, step.Columns, args)
		return "UPDATE " + from + " SET " + assignments + where, args
	case domain.StrategyRetain:
	}
	return "SELECT 1 FROM " + from + where, args
}

// surrogates is the SET list that anonymizes columns, and the parameters with those of its constants added: in the
// text of a statement, quotes and question marks would be at the mercy of the driver and of bun.
func (s *Store) surrogates(table domain.Table, names []string, args []any) (string, []any) {
	assignments := make([]string, len(names))
	for i, name := range names {
		column, _ := table.Column(name)
		surrogate := s.dialect.surrogate(column)
		if column.Surrogate != "" {
			args = append(args, column.Surrogate)
			surrogate = "$" + strconv.Itoa(len(args))
		}
		assignments[i] = quote(name) + " = " + surrogate
	}
	return strings.Join(assignments, ", "), args
}
