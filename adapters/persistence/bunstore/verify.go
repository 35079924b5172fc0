package bunstore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// maxRounds is how often steps are carried out until nothing is left of what they are about. A trigger may write old
// values into a table whose step came before; and a short random surrogate may be the old value by chance.
const maxRounds = 5

// applyVerified carries out steps one by one in a database that may keep values despite a deletion or an overwrite. It
// looks for remaining values after each step that deletes rows, while the rows that lead to them still exist, and once
// more after all steps. The error is ErrUnavailable if a deadline passes meanwhile: rows may arrive faster than they
// are deleted.
func (s subjectStore) applyVerified(ctx context.Context, key []any, steps []domain.Step) ([]int64, error) {
	rows, err := s.applyChecked(ctx, key, steps)
	if errors.Is(err, context.DeadlineExceeded) {
		err = &domain.Error{Code: domain.ErrUnavailable, Op: "erase", Message: "took longer than its deadline", Err: err}
	}
	return rows, err
}

func (s subjectStore) applyChecked(ctx context.Context, key []any, steps []domain.Step) ([]int64, error) {
	verified := make([]*verifiedStep, len(steps))
	counts := make([]int64, len(steps))
	for i, step := range steps {
		v := s.verifiedStep(step, key)
		n, err := v.begin(ctx)
		if err != nil {
			return counts[:i], err
		}
		verified[i], counts[i] = v, n
		if step.Strategy != domain.StrategyDelete {
			continue
		}
		if failing, err := s.repeat(ctx, verified[i:i+1]); err != nil {
			return counts[:i+failing], err
		}
	}
	if err := s.fireDeferred(ctx, "erase: deferred triggers"); err != nil {
		return counts, err
	}
	if failing, err := s.repeat(ctx, verified); err != nil {
		return counts[:failing], err
	}
	return counts, s.deferAgain(ctx, "erase: deferred triggers")
}

// repeat carries steps out again until nothing is left of any of them. On an error it returns the index of the step.
func (s subjectStore) repeat(ctx context.Context, steps []*verifiedStep) (failing int, err error) {
	for round := 1; ; round++ {
		clean := true
		for i, v := range steps {
			found, err := v.look(ctx)
			switch {
			case err != nil:
				return i, err
			case found == nothingLeft:
				continue
			case round == maxRounds:
				return i, s.fail(ctx, v.op, found.failure(v))
			}
			clean = false
			if err := v.carryOut(ctx); err != nil {
				return i, err
			}
		}
		if clean {
			return 0, nil
		}
	}
}

// remains are what a step finds after it was carried out.
type remains int

const (
	nothingLeft remains = iota
	rowsArrived         // rows that were not there before; of a view, others may have added them
	rowsKept            // rows or cells that the step was to erase or to correct
)

func (r remains) failure(v *verifiedStep) error {
	switch {
	case v.values != nil:
		return &domain.Error{
			Code: domain.ErrLeftOver, Op: v.op, Message: v.Target +
				": the database does not hold what it was told to write; a trigger, a rule or a view does that",
		}
	case r == rowsArrived && !v.tellsRows():
		return &domain.Error{
			Code: domain.ErrUnavailable, Op: v.op, Message: v.Target + ": rows were added while they were erased",
		}
	}
	return &domain.Error{
		Code: domain.ErrLeftOver, Op: v.op, Message: v.Target +
			": the database kept what it was told to erase; a trigger, a rule or a view does that",
	}
}

// verifiedStep is a step on the rows of a subject: of an erasure, or of a rectification.
type verifiedStep struct {
	subjectStore
	domain.Step
	op     string
	table  domain.Table
	key    []any
	rows   map[string][]string // primary keys of the rows that were seen, by their canonical form
	cells  map[cell]string     // what they held, unless it was written already
	values map[string]any      // of a rectification, by column; nil for an erasure
	text   string              // the statement of a rectification
	args   []any
}

// cell is a column of a row.
type cell struct{ row, column string }

func (s subjectStore) verifiedStep(step domain.Step, key []any) *verifiedStep {
	table, _ := s.store.dataMap.Table(step.Target)
	return &verifiedStep{
		subjectStore: s, Step: step, op: opOf(step), table: table, key: key,
		rows: map[string][]string{}, cells: map[cell]string{},
	}
}

// tellsRows reports whether the database says of a row which transaction has written it.
func (v *verifiedStep) tellsRows() bool { return !v.catalog.tables[v.table.Name].remote }

// begin notes the rows that the step is about, carries it out, and returns how many rows there were.
func (v *verifiedStep) begin(ctx context.Context) (rows int64, err error) {
	if v.Strategy == domain.StrategyRetain {
		w := v.store.writer(v.table, 0)
		text := "SELECT count(*) FROM " + quoteTable(v.table.Name) +
			" AS t0 WHERE " + v.store.rowsOf(v.table, 0) + w.concerned(v.Step)
		err = v.read(ctx, v.op, func(r *sql.Rows) error { return r.Scan(&rows) }, text, slices.Concat(v.key, w.constants)...)
		return rows, err
	}
	if _, err := v.note(ctx, true); err != nil {
		return 0, err
	}
	return int64(len(v.rows)), v.carryOut(ctx)
}

func (v *verifiedStep) carryOut(ctx context.Context) error {
	if v.Strategy == domain.StrategyRetain {
		return nil
	}
	text, args := v.text, v.args
	if v.values == nil {
		var constants []any
		text, constants = v.store.stepText(v.Step, 0)
		args = slices.Concat(v.key, constants)
	}
	_, err := v.write(ctx, v.op, text, args...)
	return err
}

// look finds what is left of the step.
func (v *verifiedStep) look(ctx context.Context) (remains, error) {
	if v.Strategy == domain.StrategyRetain {
		return nothingLeft, nil
	}
	kept, err := v.kept(ctx)
	if err != nil || kept {
		return rowsKept, err
	}
	added, err := v.note(ctx, false)
	if err != nil || added == 0 {
		return nothingLeft, err
	}
	return rowsArrived, nil
}

// note adds the rows that lead to the subject now, with their cells, and returns how many were not known. Later than at
// first, rows that other transactions have added do not count, where the database tells them: they are as late as rows
// that are added after the erasure.
func (v *verifiedStep) note(ctx context.Context, first bool) (added int, err error) {
	w := v.store.writer(v.table, 0)
	condition := v.store.rowsOf(v.table, 0) + w.concerned(v.Step)
	if !first && v.tellsRows() {
		condition += " AND " + v.store.dialect.writtenHere()
	}
	return added, v.each(ctx, w, condition, v.key, func(key []string, held []held) {
		row := domain.CanonicalTuple(key)
		if _, known := v.rows[row]; known {
			return
		}
		if v.values != nil && !first && v.holdsNothingOld(held) {
			return
		}
		added++
		v.rows[row] = slices.Clone(key)
		for _, h := range held {
			if h.text.Valid && h.text.String != "" && !h.written && !v.correctedBefore(h, held) {
				v.cells[cell{row, h.column}] = h.text.String
			}
		}
	})
}

// lookedUp is how many rows are looked up by their primary keys in one statement.
const lookedUp = 100

// kept reports whether a row that was to be deleted still exists, or whether a cell still holds its old value, also if
// the row now leads elsewhere. A row that was to be corrected must exist and must hold the written values.
func (v *verifiedStep) kept(ctx context.Context) (kept bool, err error) {
	changed, found := v.cells, 0
	v.cells = map[cell]string{}
	for chunk := range slices.Chunk(slices.Collect(maps.Values(v.rows)), lookedUp) {
		w := &stepWriter{store: v.store, table: v.table}
		alternatives := make([]string, len(chunk))
		for i, key := range chunk {
			comparisons := make([]string, len(key))
			for j, name := range v.table.PrimaryKey {
				comparisons[j] = "t0." + quote(name) + " = " + w.constant(key[j])
			}
			alternatives[i] = "(" + strings.Join(comparisons, " AND ") + ")"
		}
		err := v.each(ctx, w, "("+strings.Join(alternatives, " OR ")+")", nil, func(key []string, held []held) {
			found++
			if v.Strategy == domain.StrategyDelete || v.values != nil && !v.corrected(held) {
				kept = true
			}
			row := domain.CanonicalTuple(key)
			for _, h := range held {
				old, had := changed[cell{row, h.column}]
				stays := h.text.Valid && !h.written && v.holds(h.text.String, old)
				if had && (stays || v.values != nil) { // a trigger of another table may take a correction back later
					v.cells[cell{row, h.column}] = old
				}
				kept = kept || had && stays
			}
		})
		if err != nil {
			return false, err
		}
	}
	return kept || v.values != nil && found < len(v.rows), nil
}

// holds reports whether a text is an old one, or has it inside. What is very short stands in a random surrogate by
// chance, and the old text may be a part of the right one.
func (v *verifiedStep) holds(text, old string) bool {
	const telling = 6
	return text == old || v.values == nil && len(old) >= telling && strings.Contains(text, old)
}

// held is what a row has in a column that the step overwrites.
type held struct {
	column  string
	text    sql.NullString
	written bool // it is the constant that the step writes
}

// each reads the rows for which a condition holds, with what they have in the columns of the step.
func (v *verifiedStep) each(
	ctx context.Context, w *stepWriter, condition string, args []any, visit func(key []string, held []held),
) error {
	var selected []string
	var targets []any
	key, cells := make([]string, len(v.table.PrimaryKey)), []held(nil)
	for i, name := range v.table.PrimaryKey {
		selected, targets = append(selected, "CAST(t0."+quote(name)+" AS text)"), append(targets, &key[i])
	}
	if v.Strategy == domain.StrategyAnonymize {
		cells = make([]held, len(v.Columns)+len(v.Expired))
	}
	types := v.catalog.tables[v.table.Name].types
	for i := range cells {
		name, text := "", ""
		if i < len(v.Columns) {
			name = v.Columns[i]
			text = "CAST(t0." + quote(name) + " AS text)"
		} else {
			name = v.Expired[i-len(v.Columns)]
			text = "CASE WHEN " + w.expired(name, v.At) + " THEN CAST(t0." + quote(name) + " AS text) END"
		}
		cells[i].column = name
		selected = append(selected, text, "COALESCE("+v.isWritten(w, name, types[name])+", FALSE)")
		targets = append(targets, &cells[i].text, &cells[i].written)
	}
	text := "SELECT " + strings.Join(selected, ", ") + " FROM " + quoteTable(v.table.Name) + " AS t0 WHERE " + condition
	return v.read(ctx, v.op, func(r *sql.Rows) error {
		err := r.Scan(targets...)
		visit(key, cells)
		return err
	}, text, slices.Concat(args, w.constants)...)
}

// isWritten is the condition that a column holds the constant that the step writes, if it is one.
func (v *verifiedStep) isWritten(w *stepWriter, name, sqlType string) string {
	if value, corrected := v.values[name]; corrected {
		return w.store.dialect.isConstant("t0."+quote(name), w.constant(w.store.parameter(value)), sqlType)
	}
	column, _ := w.table.Column(name)
	if isText(column) && column.Surrogate == "" {
		return "FALSE"
	}
	return w.store.dialect.isConstant("t0."+quote(name), w.surrogate(name), sqlType)
}
