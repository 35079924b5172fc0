package verify

import (
	"cmp"
	"context"
	"database/sql"
	"hash/maphash"
	"slices"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Kept compares the retained cells of a subject before and after an erasure, a sweep or a rectification. Triggers,
// rules and foreign keys must not change them. Kept holds only hashes of the values.
type Kept struct {
	db    *conn.Session
	op    string
	steps []*Step // a retain step for each path of each table with retained columns
}

// NewKept returns a Kept for all retained cells of the subject with the key. The parameter plan has the steps of an
// erasure or of a sweep, which may overwrite some of these cells. The parameter right is a rectification, or nil.
func NewKept(
	db *conn.Session, w *rows.Writer, live *live.Schema, op string, plan []datamap.Step, right *Step, key []any,
) *Kept {
	k, at := &Kept{db: db, op: op}, time.Time{}
	for _, step := range plan {
		if !step.At.IsZero() {
			at = step.At // the same in all steps
		}
	}
	for _, table := range w.DataMap.Tables() {
		for _, path := range w.DataMap.Paths(table.Name) {
			columns := retainedColumns(table, path)
			if len(columns) == 0 {
				continue
			}
			leading := leadingColumns(table, path)
			step := datamap.Step{Target: table.Name, Via: path.Via, Strategy: domain.StrategyRetain, At: at}
			s := NewStep(db, w, live, op, step, key)
			s.kept = &keptCells{
				columns: slices.Concat(leading, columns), leading: len(leading), plan: plan, right: right,
				detached: detaches(plan, table, path), rows: map[string][]keptRow{}, seed: maphash.MakeSeed(),
			}
			s.kept.cells = make([]any, len(s.kept.columns))
			k.steps = append(k.steps, s)
		}
	}
	return k
}

// retainedColumns returns the retained columns of the path, and the columns that hold the start of their duties.
func retainedColumns(table datamap.Table, path datamap.Path) (names []string) {
	for _, column := range path.Personal(table) {
		if column.Personal.Strategy != domain.StrategyRetain {
			continue
		}
		names = append(names, column.Name)
		if since := column.Personal.Since; since != "" {
			names = append(names, since)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// leadingColumns returns the columns of the table that lead to the subject.
func leadingColumns(table datamap.Table, path datamap.Path) []string {
	if len(path.Relations) == 0 {
		return table.SubjectKey
	}
	names := slices.Clone(path.Relations[0].Columns)
	if when := path.Relations[0].When; when != nil {
		names = append(names, when.Column)
	}
	return names
}

// detaches reports whether a step sets a reference on the path to NULL, so that the rows no longer lead to the subject.
func detaches(plan []datamap.Step, table datamap.Table, path datamap.Path) bool {
	return slices.ContainsFunc(plan, func(step datamap.Step) bool {
		return len(step.ClearedColumns) > 0 && (step.Target == table.Name ||
			slices.ContainsFunc(path.Relations, func(r datamap.Relation) bool { return r.References == step.Target }))
	})
}

// keptCells holds the retained cells of the rows that a path leads to the subject.
type keptCells struct {
	columns  []string // those that lead to the subject come first
	leading  int      // their number
	plan     []datamap.Step
	right    *Step
	detached bool // the plan removes the rows from the subject
	noting   bool // the cells are read before the first step

	seed    maphash.Seed
	rows    map[string][]keptRow // by rowKey.id; without the rows that were compared
	written int                  // the number of the compared rows that this transaction has written

	cells     []any // of the row that was read last, see dialect.digest; NULL for a cell that is left out
	isWritten bool  // this transaction has written this row
}

// keptRow is a row with hashes of its cells. A hash is 0 if the cell need not stay as it is.
type keptRow struct {
	key    rowKey
	hashes []uint64
}

func (k *keptCells) targets() (targets []any) {
	if k == nil {
		return nil
	}
	return append(conn.AddTargets(targets, k.cells), &k.isWritten)
}

// hash returns a hash of a cell of the row that was read last, or 0 if the cell is left out.
func (k *keptCells) hash(i int) uint64 {
	switch digest := k.cells[i].(type) {
	case nil:
		return 0
	case []byte:
		return maphash.Comparable(k.seed, [1]string{string(digest)}) | 1
	default:
		return maphash.Comparable(k.seed, digest) | 1
	}
}

// readingKept returns the expressions that read keptCells.cells, and whether this transaction has written the row.
func (s *Step) readingKept(sw *rows.StepWriter) (selected []string) {
	if s.kept == nil {
		return nil
	}
	for _, name := range s.kept.columns {
		digest := dialectOf(s.writer.Dialect).digest("t0." + syntax.Quote(name))
		selected = append(selected, "CASE WHEN "+s.leavesOut(sw, name)+" THEN NULL ELSE "+digest+" END")
	}
	return append(selected, s.isWritten())
}

// isWritten returns the condition that this transaction may have written a row.
func (s *Step) isWritten() string {
	if !s.live.Tells(s.table.Name) {
		return "TRUE"
	}
	return dialectOf(s.writer.Dialect).writtenInTransaction()
}

// leavesOut returns the condition that a cell need not stay as it is.
func (s *Step) leavesOut(sw *rows.StepWriter, column string) string {
	switch {
	case s.kept.right != nil:
		return s.isOfRectification(sw, column)
	case !s.kept.noting: // the cells that the plan overwrites are known
		return "FALSE"
	}
	condition := "FALSE"
	for _, step := range s.kept.plan {
		switch {
		case step.Target != s.Target || step.Strategy != domain.StrategyAnonymize:
		case slices.Contains(step.Columns, column), slices.Contains(step.ClearedColumns, column):
			return "TRUE"
		case slices.Contains(step.Expired, column):
			condition += " OR COALESCE(" + sw.IsOverwritten(column, step) + ", FALSE)"
		}
	}
	return condition
}

// isOfRectification returns the condition that a rectification writes a cell. After the rectification, the condition is
// also true for a cell that holds a corrected text of the same category, because a trigger may carry the correction on.
// In the corrected row, it is also true for a cell that is derived from a corrected text.
func (s *Step) isOfRectification(sw *rows.StepWriter, column string) string {
	right, isTarget := s.kept.right, s.kept.right.Target == s.Target
	inRow := func() string {
		if right.row == nil {
			return "TRUE"
		}
		return s.writer.HasPrimaryKey("t0", s.table, right.row, sw.AddConstant)
	}
	_, isStored := s.live.Types(s.table.Name)[column]
	described, _ := s.table.Column(column)
	switch {
	case isTarget && (slices.Contains(right.Columns, column) || !isStored):
		return inRow()
	case s.kept.noting || described.Personal == nil:
		return "FALSE"
	}
	held, conditions := "lower("+dialectOf(s.writer.Dialect).text("t0."+syntax.Quote(column))+")", []string{"FALSE"}
	for _, name := range right.Columns {
		text, isText := right.values[name].(string)
		corrected, _ := right.table.Column(name)
		written := func() string { return "lower(CAST(" + sw.AddConstant(text) + " AS text))" }
		if isText && corrected.Personal.Category == described.Personal.Category {
			conditions = append(conditions, held+" = "+written())
		}
		if isText && text != "" && isTarget {
			conditions = append(conditions, inRow()+" AND "+dialectOf(s.writer.Dialect).contains(held, written()))
		}
	}
	return syntax.Combine(conditions, "OR")
}

// ofKept returns the statement for the rows of the subject with retained cells. Before the first step, the statement
// locks the rows that the steps will write, so that another transaction cannot change them in between.
func (s *Step) ofKept() (text string, args []any) {
	text, args = s.ofSubject(false)
	if !s.kept.noting {
		return text, args
	}
	for _, step := range s.kept.plan {
		if step.Target == s.Target && step.Strategy == domain.StrategyDelete {
			text += " AND NOT COALESCE(" + s.writer.RowsOfStep("t0", s.table, step, 0) + ", FALSE)"
		}
	}
	if lock := s.writer.Dialect.ForUpdate(); lock != "" && s.live.Tells(s.table.Name) && s.isChanged() {
		text += lock + " OF t0"
	}
	return text, args
}

// isChanged reports whether a step or the rectification writes all rows of the path.
func (s *Step) isChanged() bool {
	if right := s.kept.right; right != nil {
		return right.Target == s.Target && right.Via == s.Via
	}
	return slices.ContainsFunc(s.kept.plan, func(step datamap.Step) bool {
		return step.Target == s.Target && step.Via == s.Via && len(step.Columns)+len(step.ClearedColumns) > 0 &&
			step.Strategy == domain.StrategyAnonymize
	})
}

// Note notes the retained cells. It must be called before the first step.
func (k *Kept) Note(ctx context.Context) error {
	for _, s := range k.steps {
		if err := k.db.Begin(ctx); err != nil {
			return err
		}
		kept := s.kept
		kept.noting = true
		text, args := s.ofKept()
		err := s.readCells(ctx, text, args, func(key rowKey, _ []heldCell, _ []otherCell) {
			row := keptRow{slices.Clone(key), make([]uint64, len(kept.cells))}
			for i := range kept.cells {
				row.hashes[i] = kept.hash(i)
			}
			kept.rows[key.id()] = append(kept.rows[key.id()], row)
		})
		if err != nil {
			return err
		}
		kept.noting = false
	}
	return nil
}

// Check returns domain.ErrConflict if the transaction has changed a cell that Note has noted, and the table. It must be
// called after deferred triggers have fired. Changes that other transactions have committed are no error.
func (k *Kept) Check(ctx context.Context) (table, via string, err error) {
	for _, s := range k.steps {
		if err := s.checkKept(ctx); err != nil {
			return s.Target, s.Via, k.db.Fail(ctx, k.op, err)
		}
	}
	return "", "", nil
}

func (s *Step) checkKept(ctx context.Context) error {
	changed, kept := "", s.kept
	compare := func(leads bool) func(key rowKey, _ []heldCell, _ []otherCell) {
		return func(key rowKey, _ []heldCell, _ []otherCell) { changed = cmp.Or(changed, kept.compare(key, leads)) }
	}
	text, args := s.ofKept()
	if err := s.readCells(ctx, text, args, compare(true)); err != nil {
		return err
	}
	var keys []rowKey
	for _, same := range kept.rows { // those that do not lead to the subject now
		keys = append(keys, same[0].key)
	}
	for chunk := range slices.Chunk(keys, rowsPerStatement) {
		text, args := s.withKeys(chunk)
		if err := s.readCells(ctx, text, args, compare(false)); err != nil {
			return err
		}
	}
	if changed != "" {
		return s.isChangedBesides("." + changed + ": a trigger, a rule or a foreign key would change this column in rows" +
			" that are to be kept")
	}
	lost, err := s.countLost(ctx)
	if err == nil && lost > 0 {
		err = s.isChangedBesides(": the database would delete further rows (" + strconv.Itoa(lost) +
			"), which are to be kept, or change their keys. The reason is a trigger or a rule")
	}
	return err
}

// compare returns the name of a column in which the row that was read last differs from the noted row, or "". The
// parameter leads reports whether the row still leads to the subject.
func (k *keptCells) compare(key rowKey, leads bool) (changed string) {
	same := k.rows[key.id()]
	if len(same) == 0 {
		return ""
	}
	i := max(0, slices.IndexFunc(same, func(row keptRow) bool { return k.differs(row) < 0 }))
	at := k.differs(same[i])
	if same = slices.Delete(same, i, i+1); len(same) == 0 {
		delete(k.rows, key.id())
	} else {
		k.rows[key.id()] = same
	}
	if k.isWritten {
		k.written++
	}
	switch {
	case at >= 0 && k.isWritten:
		return k.columns[at]
	case leads, k.detached, at >= 0 && at < k.leading: // or another transaction has changed the reference
		return ""
	}
	return k.columns[0] // the reference leads to a row that belongs to someone else now
}

// differs returns the index of the first cell in which the row that was read last differs from a noted row, or -1.
func (k *keptCells) differs(row keptRow) int {
	for i, before := range row.hashes {
		if hash := k.hash(i); before != 0 && hash != 0 && before != hash {
			return i
		}
	}
	return -1
}

// countLost returns the number of noted rows whose key the table no longer has, and which this transaction may have
// changed. Where the database can tell, rows with other keys that this transaction has written must then exist. Deleted
// rows are counted elsewhere.
func (s *Step) countLost(ctx context.Context) (int, error) {
	lost := 0
	for _, same := range s.kept.rows {
		lost += len(same)
	}
	if lost == 0 || s.writer.Dialect.ForUpdate() == "" || !s.live.Tells(s.table.Name) {
		return lost, nil
	}
	written := 0
	err := s.db.Read(ctx, s.Op, func(r *sql.Rows) error { return r.Scan(&written) },
		"SELECT count(*) FROM "+syntax.QuoteTable(s.table.Name)+" AS t0 WHERE "+s.isWritten())
	return min(lost, max(0, written-s.kept.written)), err
}

func (s *Step) isChangedBesides(message string) error {
	return &domain.Error{Code: domain.ErrConflict, Op: s.Op, Message: s.Target + message}
}
