// Package verify executes steps of erasures and rectifications, and checks that no old values remain. It is for
// databases whose triggers, rules or views may keep or restore old values despite a deletion or an update.
package verify

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// Step is a step of an erasure or of a rectification, on the rows of a subject.
type Step struct {
	datamap.Step
	Op string

	db      *conn.Session
	writer  *rows.Writer
	table   datamap.Table
	key     []any
	live    *live.Schema
	copies  copies
	kept    *keptCells        // the retained cells that Kept compares; nil for other steps
	rows    map[string]rowKey // the primary keys of the rows that record has found, by rowKey.id
	times   map[string]int    // the numbers of these rows, which may have the same key
	found   int               // the number of these rows
	skipped bool              // the database has changed fewer rows
	cells   map[cell][]string // the old values of the cells of these rows, except values that the step has written

	writes int64 // the number of rows that its statements have written

	left   map[cell]string // the values in these cells after the step that are no surrogates of it, see noteLeft
	others bool            // another step or its triggers have written such a value, see check

	similar  map[cell]string // the old texts that only case or punctuation distinguishes from the corrected text
	doubtful map[cell]rowKey // the cells that hold such an old text after the step, with the key of the row
	undone   *bool           // the result of isUndone

	values    map[string]any // the values that a rectification writes, by column; nil for an erasure
	row       []string       // the rows.Writer.KeyNames of the only row; nil for all rows of the subject
	statement string         // the statement of a rectification
	args      []any

	addedUntil time.Time // skip rows added later, and rows that belong to the subject through them; zero: all rows
}

// NewStep returns a step of an erasure on the rows of the subject with the key.
func NewStep(db *conn.Session, w *rows.Writer, live *live.Schema, op string, step datamap.Step, key []any) *Step {
	table, _ := w.DataMap.Table(step.Target)
	return &Step{
		Step: step, Op: op, db: db, writer: w, table: table, key: key, live: live,
		rows: map[string]rowKey{}, times: map[string]int{}, cells: map[cell][]string{}, copies: newCopies(),
		similar: map[cell]string{}, left: map[cell]string{},
	}
}

// Rectify turns the step into a rectification, which writes the values to all rows of the subject. If the parameter row
// is not nil, it writes them only to the row with this primary key. The parameter statement is the SQL statement that
// writes, and args are its parameters.
func (s *Step) Rectify(values []domain.ColumnValue, row []string, statement string, args []any) {
	s.statement, s.args, s.row, s.values = statement, args, row, map[string]any{}
	for _, value := range values {
		s.Columns, s.values[value.Column] = append(s.Columns, value.Column), value.Value
	}
}

// Overwrites reports whether the step may write to a cell that an earlier rectification (the parameter) has written. If
// so, that rectification need not be verified again.
func (s *Step) Overwrites(earlier *Step) bool {
	return s.Target == earlier.Target &&
		(s.row == nil || earlier.row == nil || slices.Equal(s.row, earlier.row)) &&
		slices.ContainsFunc(s.Columns, func(name string) bool { return slices.Contains(earlier.Columns, name) })
}

// maxRounds is the maximum number of times that Repeat checks a step. After each check except the last one, Repeat
// executes the step again if old values remain. A repetition can remove such values. For example, a trigger may write
// old values to a table whose step came earlier, and a short random surrogate may by chance equal the old value.
const maxRounds = 5

// maxOtherRounds is the number of checks after which Repeat executes a step again because of othersWritten. The later
// rounds remove what these repetitions have caused, such as rows of a history.
const maxOtherRounds = 2

// Repeat checks each step for old values that remain, and executes the step again if there are any. Repeat ends when no
// step has remaining values. It returns an error if values remain at the last of maxRounds checks. On error, failing is
// the index of the step that failed. Repeat does not fail because of a value that is neither old nor a surrogate, such
// as a surrogate that a trigger has changed. A later verification reports such a value.
func Repeat(ctx context.Context, steps []*Step) (failing int, err error) {
	for round := 1; ; round++ {
		clean := true
		for i, s := range steps {
			found, err := s.check(ctx)
			switch {
			case err != nil:
				return i, err
			case found == nothingLeft, found == othersWritten && round > maxOtherRounds:
				continue
			case round == maxRounds, found == rowsSkipped:
				return i, found.failure(s)
			}
			clean = false
			if _, err := s.carryOut(ctx); err != nil {
				return i, err
			}
		}
		if clean {
			return 0, nil
		}
	}
}

// checkResult is the result of a check for old data after a step.
type checkResult int

const (
	nothingLeft   checkResult = iota
	othersWritten             // cells into which another step has written, possibly old values of another table
	rowsSkipped               // rows that the step covers, and that the database has not changed
	rowsArrived               // only rows that did not exist before; in a view, other transactions may have added them
	rowsKept                  // rows or cells that the step should have erased or corrected
)

func (r checkResult) failure(s *Step) error {
	switch {
	case r == rowsSkipped:
		return &domain.Error{
			Code: domain.ErrConflict, Op: s.Op, Message: s.Target +
				": the database left out rows: a constraint with a conflict clause, or a trigger, ignores the change",
		}
	case s.values != nil:
		return &domain.Error{
			Code: domain.ErrLeftOver, Op: s.Op, Message: s.Target +
				": the database does not hold the written values: a trigger, a rule or a view changes them",
		}
	case r == rowsArrived && !s.live.Tells(s.table.Name):
		return &domain.Error{
			Code: domain.ErrUnavailable, Op: s.Op, Message: s.Target + ": rows were added during the erasure: retry it",
		}
	}
	return &domain.Error{
		Code: domain.ErrLeftOver, Op: s.Op, Message: s.Target +
			": the database kept data that it was to erase: a trigger, a rule or a view restores it",
	}
}

// cell identifies a column of a row.
type cell struct{ row, column string }

// Begin records the rows of the step and their old values, executes the step, and returns the number of rows.
func (s *Step) Begin(ctx context.Context) (rows int64, err error) {
	if _, err := s.record(ctx, true); err != nil {
		return 0, err
	}
	changed, err := s.carryOut(ctx)
	s.skipped = changed < int64(s.found) && s.Strategy == domain.StrategyAnonymize && s.countsChanges()
	return int64(s.found), err
}

// countsChanges reports whether the database counts exactly the rows that a step has changed. SQLite does, except in a
// view. On PostgreSQL, other transactions may delete rows meanwhile.
func (s *Step) countsChanges() bool {
	return s.writer.Dialect == syntax.SQLite && s.live.Tells(s.table.Name)
}

// carryOut executes the step, and returns the number of rows that the database has changed.
func (s *Step) carryOut(ctx context.Context) (changed int64, err error) {
	if s.Strategy == domain.StrategyRetain {
		return 0, nil
	}
	text, args := s.statement, s.args
	if s.values == nil {
		text, args = s.writer.Step(s.live, s.Step, s.key)
	}
	changed, err = s.db.Write(ctx, s.Op, text, args...)
	s.writes += changed
	if err != nil {
		return 0, err
	}
	return changed, s.noteLeft(ctx)
}

// noteLeft notes the values that a step of an erasure has left in its cells, except surrogates. A trigger that the step
// has fired may have changed a surrogate, so that a repetition of the step would not help.
func (s *Step) noteLeft(ctx context.Context) error {
	if s.values != nil || s.Strategy != domain.StrategyAnonymize {
		return nil
	}
	s.left = map[cell]string{}
	for chunk := range slices.Chunk(slices.Collect(maps.Values(s.rows)), rowsPerStatement) {
		text, args := s.withKeys(chunk)
		err := s.readCells(ctx, text, args, func(key rowKey, content []heldCell, _ []otherCell) {
			for _, h := range content {
				if s.isLeftOver(h) {
					s.left[cell{key.id(), h.column}] = h.text.String
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// check reports whether rows or old values of the step remain.
func (s *Step) check(ctx context.Context) (checkResult, error) {
	if s.Strategy == domain.StrategyRetain {
		return nothingLeft, nil
	}
	s.others = false
	kept, err := s.findKept(ctx)
	if err != nil || kept {
		return rowsKept, err
	}
	added, err := s.record(ctx, false)
	switch {
	case err != nil:
		return nothingLeft, err
	case s.skipped:
		return rowsSkipped, nil
	case added > 0:
		return rowsArrived, nil
	case s.others:
		return othersWritten, nil
	}
	return nothingLeft, nil
}

// record adds the current rows of the subject, with the old values of their cells, to s.rows and s.cells, and returns
// the number of new rows. After the first call, record ignores rows that other transactions have added, if the database
// can identify these rows. Such rows count as added after the erasure.
func (s *Step) record(ctx context.Context, first bool) (added int, err error) {
	text, args := s.ofSubject(!first && s.live.Tells(s.table.Name))
	err = s.readCells(ctx, text, args, func(key rowKey, content []heldCell, others []otherCell) {
		row := key.id()
		if _, known := s.rows[row]; known && (!first || key.isUnique()) {
			return
		}
		if s.values != nil && !first && s.holdsNothingOld(content) {
			return
		}
		added++
		s.times[row]++
		s.rows[row] = slices.Clone(key)
		s.noteErased(key, content, others)
		corrected := s.corrected(content)
		for _, h := range content {
			if h.text.Valid && h.text.String != "" && !h.written && !s.correctedIn(corrected, h) {
				s.cells[cell{row, h.column}] = append(s.cells[cell{row, h.column}], h.text.String)
			}
			if first && s.values != nil && !h.written && s.isCorrected(h) {
				s.similar[cell{row, h.column}] = h.text.String
			}
		}
	})
	s.found += added
	if err == nil {
		err = s.compareLarge(ctx, s.noteBefore)
	}
	return added, err
}

// rowsPerStatement is the number of rows that one statement looks up by their primary keys.
const rowsPerStatement = 100

// findKept reads the recorded rows again by their primary keys, even if they no longer belong to the subject. It
// returns true in each of these cases:
//
//   - The step deletes rows, and a recorded row still exists.
//   - A cell still holds its old value.
//   - In a rectification, a recorded row no longer exists or does not hold the new values.
func (s *Step) findKept(ctx context.Context) (kept bool, err error) {
	changed, found := s.cells, 0
	s.cells, s.copies.found, s.doubtful = map[cell][]string{}, "", map[cell]rowKey{}
	for chunk := range slices.Chunk(slices.Collect(maps.Values(s.rows)), rowsPerStatement) {
		text, args := s.withKeys(chunk)
		err := s.readCells(ctx, text, args, func(key rowKey, content []heldCell, others []otherCell) {
			found++
			s.findCopies(key, others)
			if s.Strategy == domain.StrategyDelete || s.values != nil && !s.holdsCorrections(content) {
				kept = true
			}
			row := key.id()
			for _, h := range content {
				at := cell{row, h.column}
				if old, ok := s.similar[at]; ok && !h.written && h.text.String == old {
					s.doubtful[at] = slices.Clone(key)
				}
				old, had := changed[at]
				stays := h.text.Valid && !h.written && s.containsOld(h.text.String, old)
				if had && (stays || s.values != nil) { // a trigger of another table may revert a correction later
					s.cells[at] = old
				}
				kept = kept || had && stays || h.text.Valid && !h.written && s.holdsErased(row, h.text.String)
				s.others = s.others || s.values == nil && s.isLeftOver(h) && s.left[at] != h.text.String
			}
		})
		if err == nil {
			err = s.compareLarge(ctx, s.noteFound)
		}
		if err != nil {
			return false, err
		}
	}
	if kept || s.values != nil && found < s.found || len(s.doubtful) == 0 {
		return kept || s.values != nil && found < s.found, nil
	}
	return s.isUndone(ctx)
}

// containsOld reports whether a text equals one of the old texts or, in an erasure, contains it. A contained text must
// have at least six bytes, because a random surrogate may contain a shorter text by chance. In a rectification, only
// equality counts, because a new text may contain the old text.
func (s *Step) containsOld(text string, old []string) bool {
	return slices.ContainsFunc(old, func(old string) bool {
		return text == old || s.values == nil && len(old) >= shortestCopy && strings.Contains(text, old)
	})
}

// heldCell is the content of a cell in a column that the step overwrites.
type heldCell struct {
	column  string
	text    sql.NullString
	written bool // the cell holds the constant surrogate of the step, or the new value of the rectification
}

// Scan implements sql.Scanner. The value is w for a written cell and o for another one, and then = and the text of the
// cell, unless it is NULL.
func (h *heldCell) Scan(value any) error {
	var read sql.NullString
	if err := read.Scan(value); err != nil || read.String == "" {
		return err
	}
	h.written, h.text.Valid = read.String[0] == 'w', len(read.String) > 1
	h.text.String = strings.TrimPrefix(read.String[1:], "=")
	return nil
}

// readCells runs a statement that reads cells. It calls visit for each row, with the primary key, the cells that the
// step overwrites, and the other cells of the row.
func (s *Step) readCells(
	ctx context.Context, text string, args []any, visit func(key rowKey, content []heldCell, others []otherCell),
) error {
	columns, others := s.overwritten(), make([]otherCell, len(s.copies.columns))
	key, row := make(rowKey, len(s.table.PrimaryKey)), make([]heldCell, len(columns))
	targets := conn.AddTargets(nil, key)
	for i, name := range columns {
		row[i].column = name
		targets = append(targets, &row[i])
	}
	for i, name := range s.copies.columns {
		others[i].column = name
		targets = append(targets, &others[i])
	}
	targets = append(targets, s.kept.targets()...)
	return s.db.Read(ctx, s.Op, func(r *sql.Rows) error {
		err := r.Scan(targets...)
		for i, value := range key {
			key[i] = s.writer.KeyValue(value)
		}
		for i, h := range row {
			column, _ := s.table.Column(h.column)
			row[i].written = h.written || s.values == nil && plan.IsFilled(column, h.text.String)
		}
		visit(key, row, others)
		return err
	}, text, args...)
}
