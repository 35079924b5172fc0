package bunstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// maxRounds is how often steps are carried out until nothing is left of what they are about. A trigger may write old
// values into a table whose step came before; and a short random surrogate may be the old value by chance.
const maxRounds = 5

// applyVerified carries out steps one by one in a database that may keep what it is told to delete or to overwrite, and
// looks for what is left: after each step that deletes rows, while the rows through which they are found are still there,
// and once more after all of them.
func (s subjectStore) applyVerified(ctx context.Context, key []any, steps []domain.Step) ([]int64, error) {
	verified := make([]*verifiedStep, len(steps))
	counts := make([]int64, len(steps))
	for i, step := range steps {
		v := &verifiedStep{subjectStore: s, Step: step, key: key}
		n, err := v.begin(ctx)
		if err != nil {
			return counts[:i], err
		}
		verified[i], counts[i] = v, n
		if err := v.deleteAll(ctx); err != nil {
			return counts[:i], err
		}
	}
	if text := s.store.dialect.checkDeferred(); text != "" && !s.joined { // a host decides when its own are checked
		if _, err := s.write(ctx, "erase", text); err != nil {
			return counts, err
		}
	}
	for round := 1; ; round++ {
		first := len(steps)
		for i, v := range verified {
			left, err := v.isLeft(ctx)
			switch {
			case err != nil:
				return counts[:i], err
			case left && round == maxRounds:
				return counts[:i], s.fail(ctx, "erase", leftOver(v.Step))
			case left:
				first = min(first, i)
				if err := v.carryOut(ctx); err != nil {
					return counts[:i], err
				}
			}
		}
		if first == len(steps) {
			return counts, nil
		}
	}
}

func leftOver(step domain.Step) error {
	return &domain.Error{
		Code: domain.ErrLeftOver, Op: opOf(step), Message: step.Target +
			": the database kept what it was told to erase; a trigger, a rule or a view does that",
	}
}

// verifiedStep is a step on the rows of a subject.
type verifiedStep struct {
	subjectStore
	domain.Step
	key    []any
	before map[[sha256.Size]byte]bool // cells of unrecognizable columns as they were, see cells
}

// begin counts the rows that the step is about, and carries it out.
func (v *verifiedStep) begin(ctx context.Context) (rows int64, err error) {
	table, _ := v.store.dataMap.Table(v.Target)
	w := v.store.writer(table, 0)
	text := "SELECT count(*) FROM " + quoteTable(table.Name) + " AS t0 WHERE " + v.store.rowsOf(table, 0) + w.concerned(v.Step)
	if err := v.query(ctx, func(r *sql.Rows) error { return r.Scan(&rows) }, text, w.constants); err != nil {
		return 0, err
	}
	if v.before, err = v.cells(ctx); err != nil {
		return 0, err
	}
	return rows, v.carryOut(ctx)
}

func (v *verifiedStep) carryOut(ctx context.Context) error {
	if v.Strategy == domain.StrategyRetain {
		return nil
	}
	text, constants := v.store.stepText(v.Step, 0)
	_, err := v.write(ctx, opOf(v.Step), text, append(append([]any{}, v.key...), constants...)...)
	return err
}

// deleteAll repeats a step that deletes rows until none is left. Later steps may delete the rows by which these are found.
func (v *verifiedStep) deleteAll(ctx context.Context) error {
	for round := 1; v.Strategy == domain.StrategyDelete; round++ {
		left, err := v.isLeft(ctx)
		switch {
		case err != nil || !left:
			return err
		case round == maxRounds:
			return v.fail(ctx, "erase", leftOver(v.Step))
		}
		if err := v.carryOut(ctx); err != nil {
			return err
		}
	}
	return nil
}

// isLeft reports whether a row or a cell is left that the step was to erase.
func (v *verifiedStep) isLeft(ctx context.Context) (left bool, err error) {
	if v.Strategy == domain.StrategyRetain {
		return false, nil
	}
	table, _ := v.store.dataMap.Table(v.Target)
	w := v.store.writer(table, 0)
	if condition := w.left(v.Step); condition != "FALSE" {
		text := "SELECT EXISTS (SELECT 1 FROM " + quoteTable(table.Name) + " AS t0 WHERE " + v.store.rowsOf(table, 0) +
			" AND (" + condition + "))"
		err = v.query(ctx, func(r *sql.Rows) error { return r.Scan(&left) }, text, w.constants)
	}
	if err != nil || left || len(v.before) == 0 {
		return left, err
	}
	after, err := v.cells(ctx)
	for cell := range v.before {
		if !after[cell] {
			delete(v.before, cell) // changed, if only for the moment
		}
	}
	return len(v.before) > 0, err
}

// left is the condition that a row of the step holds what it was to erase, as far as surrogates can be recognized.
func (w *stepWriter) left(step domain.Step) string {
	if step.Strategy == domain.StrategyDelete {
		return "TRUE"
	}
	conditions := []string{"FALSE"}
	for _, name := range step.Columns {
		if column, _ := w.table.Column(name); recognizable(column) {
			conditions = append(conditions, w.isOther(column))
		}
	}
	for _, name := range step.Expired {
		if column, _ := w.table.Column(name); recognizable(column) {
			conditions = append(conditions, "COALESCE("+w.expired(name, step.At)+", FALSE) AND "+w.isOther(column))
		}
	}
	if len(conditions) == 1 {
		return conditions[0]
	}
	return strings.Join(conditions[1:], " OR ")
}

// recognizable reports whether a surrogate of the column can be told from other values. A UUID and a text too short for
// "anon-" cannot, and constants in JSON may be written in another form.
func recognizable(column domain.Column) bool {
	switch column.Type { //nolint:exhaustive // the others have a constant, and can be compared
	case domain.TypeUUID, domain.TypeJSON, domain.TypeArray:
		return false
	case domain.TypeText:
		return column.Surrogate != "" || column.Length == 0 || column.Length >= shortest
	default:
		return true
	}
}

// isOther is the condition that a cell holds another value than a surrogate.
func (w *stepWriter) isOther(column domain.Column) string {
	name := "t0." + quote(column.Name)
	if column.Type == domain.TypeText && column.Surrogate == "" {
		return name + " NOT LIKE 'anon-%'"
	}
	return name + " <> " + w.surrogate(column.Name)
}

// isOtherText is the same condition for a column whose surrogates cannot be recognized: it is TRUE for all texts but the
// surrogate that its type has.
func (w *stepWriter) isOtherText(column domain.Column) string {
	name := "t0." + quote(column.Name)
	switch {
	case column.Surrogate != "":
		return w.store.dialect.otherJSON(name, "CAST("+w.constant(column.Surrogate)+" AS text)")
	case column.Type == domain.TypeJSON, column.Type == domain.TypeArray:
		return "CAST(" + name + " AS text) <> " + w.store.dialect.surrogate(column)
	default:
		return name + " IS NOT NULL"
	}
}

// cells returns a digest for each cell that is not NULL, nor the surrogate that its type has, in the columns of the step
// whose surrogates cannot be recognized.
func (v *verifiedStep) cells(ctx context.Context) (map[[sha256.Size]byte]bool, error) {
	table, _ := v.store.dataMap.Table(v.Target)
	w := v.store.writer(table, 0)
	var selected []string
	for _, name := range table.PrimaryKey {
		selected = append(selected, "CAST(t0."+quote(name)+" AS text)")
	}
	keys := len(selected)
	cell := func(name, condition string) {
		if column, _ := table.Column(name); v.Strategy == domain.StrategyAnonymize && !recognizable(column) {
			text := "CAST(t0." + quote(name) + " AS text)"
			selected = append(selected, "CASE WHEN "+condition+w.isOtherText(column)+" THEN "+text+" END")
		}
	}
	for _, name := range v.Columns {
		cell(name, "")
	}
	for _, name := range v.Expired {
		cell(name, "COALESCE("+w.expired(name, v.At)+", FALSE) AND ")
	}
	if len(selected) == keys {
		return nil, nil
	}
	found := map[[sha256.Size]byte]bool{}
	values, targets := make([]sql.NullString, len(selected)), make([]any, len(selected))
	for i := range values {
		targets[i] = &values[i]
	}
	text := "SELECT " + strings.Join(selected, ", ") + " FROM " + quoteTable(table.Name) + " AS t0 WHERE " +
		v.store.rowsOf(table, 0)
	err := v.query(ctx, func(r *sql.Rows) error {
		if err := r.Scan(targets...); err != nil {
			return err
		}
		tuple := make([]string, keys+1)
		for i := range keys {
			tuple[i] = values[i].String
		}
		for i, value := range values[keys:] {
			if tuple[keys] = value.String + string(rune(i)); value.Valid {
				found[sha256.Sum256([]byte(domain.CanonicalTuple(tuple)))] = true
			}
		}
		return nil
	}, text, w.constants)
	return found, err
}

// query reads in the transaction, with the subject's key and other parameters.
func (v *verifiedStep) query(ctx context.Context, each func(*sql.Rows) error, text string, constants []any) error {
	return v.read(ctx, opOf(v.Step), each, text, append(append([]any{}, v.key...), constants...)...)
}
