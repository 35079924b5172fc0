// Package cascade finds and counts the rows that the database deletes or changes besides the steps of an erasure,
// because of foreign keys and triggers.
package cascade

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Changes are steps on the rows of a subject.
type Changes struct {
	Op       string // the operation, for errors
	Key      []any  // the subject's key
	Steps    []datamap.Step
	Corrects bool // the steps stand for a correction, which foreign keys may pass on

	// Run runs the steps. Its parameter reports whether they lead to tables with triggers, or to foreign keys that act on
	// a change. The result has the number of rows of each step, and the verified steps. If a step fails, it has the
	// numbers of the steps before it.
	Run func(acts bool) (rows []int64, checked []*verify.Step, err error)
}

// Apply runs the steps where foreign keys or triggers may delete or change further rows, and counts these rows. It
// returns domain.ErrConflict if a deleted row is in a table of the data map, and domain.ErrLeftOver if a row that was
// written besides holds an erased text. On PostgreSQL, it uses the counters of deleted and written rows. If a counter
// may mislead, Apply runs the steps a second time, and compares the rows themselves.
func (c *Store) Apply(
	ctx context.Context, db *conn.Session, schema *live.Schema, changes Changes,
) (domain.Applied, error) {
	w := &watch{Changes: changes, store: c, db: db, schema: schema, rows: make([]int64, len(changes.Steps))}
	err := w.begin(ctx)
	if err == nil {
		err = w.carryOut(ctx)
	}
	if err == nil && w.doubts() {
		if err = w.again(ctx); err == nil {
			err = w.carryOut(ctx)
		}
	}
	if err == nil {
		err = w.besides(ctx)
	}
	if err == nil {
		err = w.forget(ctx)
	}
	if err != nil {
		return domain.Applied{Rows: w.rows}, err
	}
	if table, err := w.judge(w.lost, w.rows); err != nil {
		return domain.Applied{Rows: w.upTo(table)}, db.Fail(ctx, w.Op, err)
	}
	return domain.Applied{Rows: w.rows, Cascaded: w.cascaded}, nil
}

// carryOut runs the steps, and reads how many rows the tables have lost.
func (w *watch) carryOut(ctx context.Context) (err error) {
	if w.rows, w.checked, err = w.Run(w.before.acts()); err != nil {
		return err
	}
	if w.lost, err = w.readLost(ctx); err == nil {
		w.lost, err = w.addEmptied(ctx, w.lost)
	}
	return err
}

// upTo returns a result that names the first step on a table as the failed one.
func (w *watch) upTo(table string) []int64 {
	before := slices.IndexFunc(w.Steps, func(step datamap.Step) bool { return step.Target == table })
	if before < 0 {
		before = len(w.Steps)
	}
	return make([]int64, before)
}

// watch counts the rows that the database deletes or changes because of the steps.
type watch struct {
	Changes
	store  *Store
	db     *conn.Session
	schema *live.Schema

	rows    []int64        // the result of Run
	checked []*verify.Step // the result of Run
	lost    []loss
	now     map[string][4]int64 // the counters after the steps, see stateBefore.counts
	found   []*verify.Besides   // the rows that were written besides

	before *stateBefore

	compared   []reachedTable // roots whose rows are compared instead of the counters
	fetch, end string         // see beforeDeletion
	emptied    []loss         // unmapped tables that a trigger empties, with their rows before the steps
	counts     []int64        // the rows before the steps, by table of reach; only if nothing counts deletions
	keys       []string       // the keys of these rows, for the tables into which a trigger inserts
	savepoint  bool

	cascaded map[string]int64 // see domain.Applied
}

// mayMislead reports whether the counters of deleted rows may be higher than the number of rows that are gone. A
// trigger may delete a row and insert it again, or roll its deletion back. An update that moves a row to another
// partition counts as a deletion, too. If the steps run one by one, they also delete rows that were added meanwhile.
func (w *watch) mayMislead() bool { return w.before.Triggers || w.schema.KeepsAny() }

// doubts reports whether the counters say that the erasure must fail, or that an unmapped table has lost rows, and are
// not reliable.
func (w *watch) doubts() bool {
	return w.before.counters && w.savepoint && len(w.compared) == 0 && slices.ContainsFunc(w.lost, func(l loss) bool {
		return w.isDoubtful(l, w.rows)
	}) && !slices.ContainsFunc(w.lost, func(l loss) bool { return l.emptied && len(l.table.Mapped) > 0 })
}

func (w *watch) isDoubtful(l loss, rows []int64) bool {
	if l.emptied && l.table.Readable {
		return true
	}
	if !l.table.Readable || l.rows == 0 {
		return false
	}
	if len(l.table.Mapped) == 0 {
		return w.before.Undoes
	}
	return l.rows > w.expected(l.table, rows)
}

// again rolls the steps back, and prepares the comparison of all tables that have lost rows.
func (w *watch) again(ctx context.Context) error {
	lost := w.lost
	w.compared = w.roots(func(t reachedTable) bool {
		return t.Readable && slices.ContainsFunc(lost, func(l loss) bool {
			return l.rows > 0 && !l.emptied && l.table.Root == t.Root
		})
	})
	w.emptied = slices.DeleteFunc(slices.Clone(lost), func(l loss) bool { return !l.emptied || !l.table.Readable })
	if err := w.exec(ctx, undoSteps); err != nil {
		return err
	}
	if err := w.countEmptied(ctx); err != nil {
		return err
	}
	return w.begin(ctx)
}

// expected returns the number of rows that the steps delete from a table. The parameter rows holds the numbers of rows
// of the steps.
func (w *watch) expected(table reachedTable, rows []int64) (most int64) {
	for _, name := range table.Mapped {
		most = max(most, w.before.own[name], w.deletedBySteps(name, rows))
	}
	return most
}

func (w *watch) deletedBySteps(table string, rows []int64) (n int64) {
	for i, step := range w.Steps {
		if step.Target == table && step.Strategy == domain.StrategyDelete {
			n += rows[i]
		}
	}
	return n
}

// judge returns an error if a table of the data map has lost rows that no step deletes, or if a foreign key has set a
// column that must keep its value, or a relation to rows of the same person. It also returns the table. Otherwise, it
// sets the result of Cascaded, and adds to rows what the database has deleted before the step of a table.
func (w *watch) judge(lost []loss, rows []int64) (table string, err error) {
	cascaded := map[string]int64{}
	for _, l := range lost {
		if len(l.table.Mapped) == 0 {
			cascaded[l.table.Name] += max(0, l.rows)
			continue
		}
		if l.emptied {
			return l.table.Mapped[0], w.conflict(l.table.Mapped[0] + ": a trigger would empty the table (TRUNCATE)")
		}
		if more := l.rows - w.expected(l.table, rows); more > 0 {
			return l.table.Mapped[0], w.conflict(l.table.Mapped[0] + ": the database would delete further rows (" +
				strconv.FormatInt(more, 10) + "), which belong to other people or are to be kept. The reason is a foreign key " +
				"(ON DELETE CASCADE) or a trigger")
		}
	}
	for i, setting := range w.before.Settings {
		if w.before.set[i] == 0 || w.Corrects {
			continue
		}
		if setting.OfTable {
			cascaded[setting.Key.Name] += w.before.set[i]
			continue
		}
		n := " (rows: " + strconv.FormatInt(w.before.set[i], 10) + ")"
		if table, column := w.retained(setting.Key); table != "" {
			return table, w.conflict(table + "." + column + ": a foreign key (" + setting.Key.action() + ") would change " +
				"this retained column" + n)
		}
		if table := w.separated(setting.Key); table != "" {
			return table, w.conflict(table + ": a foreign key (" + setting.Key.action() + ") would change a reference" + n +
				" in rows of other people, but the data map states that it leads to rows of the same person")
		}
	}
	for _, found := range w.found { // a foreign key may have changed some of these rows
		cascaded[found.Target] = max(cascaded[found.Target], found.Changed)
	}
	maps.DeleteFunc(cascaded, func(_ string, n int64) bool { return n == 0 })
	w.cascaded = cascaded
	w.complete(lost, rows)
	return "", nil
}

// complete adds the rows of the subject that the database has deleted before the step of their table. For example, a
// row refers to another row of the same person, and SQLite deletes both of them with the other row.
func (w *watch) complete(lost []loss, rows []int64) {
	for i, step := range slices.Backward(w.Steps) {
		missing := w.before.own[step.Target] - w.deletedBySteps(step.Target, rows)
		if step.Strategy != domain.StrategyDelete || missing <= 0 {
			continue
		}
		if slices.ContainsFunc(lost, func(l loss) bool {
			return slices.Contains(l.table.Mapped, step.Target) && l.rows >= w.before.own[step.Target]
		}) {
			rows[i] += missing
		}
	}
}

// retained returns the table and the name of a retained column that the foreign key sets, or "".
func (w *watch) retained(key reachedKey) (table, column string) {
	for _, mapped := range key.Mapped {
		table, _ := w.store.writer.DataMap.Table(mapped)
		for _, column := range table.Personal() {
			if column.Personal.Strategy == domain.StrategyRetain && containsName(w.store.writer, key.Sets, column.Name) {
				return mapped, column.Name
			}
		}
	}
	return "", ""
}

// separated returns a table whose relation to rows of the same person the foreign key sets, or "".
func (w *watch) separated(key reachedKey) string {
	if key.OnUpdate && key.Follows {
		return ""
	}
	sets := func(column string) bool { return containsName(w.store.writer, key.Sets, column) }
	for _, mapped := range key.Mapped {
		table, _ := w.store.writer.DataMap.Table(mapped)
		if slices.ContainsFunc(table.Relations, func(r datamap.Relation) bool {
			return r.SamePerson && slices.Contains(key.ParentMapped, r.References) && slices.ContainsFunc(r.Columns, sets)
		}) {
			return mapped
		}
	}
	return ""
}

func (k reachedKey) action() string {
	if k.OnUpdate {
		return "ON UPDATE"
	}
	return "ON DELETE SET NULL or SET DEFAULT"
}

func (w *watch) conflict(message string) error {
	return &domain.Error{Code: domain.ErrConflict, Op: w.Op, Message: message}
}
