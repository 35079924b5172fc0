package cascade

import (
	"context"
	"strconv"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
)

// besides looks for erased texts in the rows of the data map's tables that triggers have written besides the steps. If
// it finds one, it undoes the steps, returns an error if the text was not there before, and runs the steps again.
func (w *watch) besides(ctx context.Context) error {
	if !w.before.Triggers || len(w.checked) == 0 {
		return nil
	}
	suspicious := false
	for i, table := range w.written() {
		found, err := verify.NewBesides(ctx, w.db, w.store.writer, w.schema, table.Direct[0], w.checked)
		if err == nil {
			err = w.find(ctx, i, table, found)
		}
		if err != nil {
			return err
		}
		w.found, suspicious = append(w.found, found), suspicious || found.Suspicious()
	}
	if !suspicious {
		return nil
	}
	if err := w.exec(ctx, undoSteps); err != nil {
		return err
	}
	for _, found := range w.found {
		if err := found.Judge(ctx); err != nil {
			w.rows = w.upTo(found.Target)
			return w.db.Fail(ctx, found.Op, err)
		}
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	return w.carryOut(ctx)
}

// find reads the rows of a table that were written since the steps began. It has the index i in written.
func (w *watch) find(ctx context.Context, i int, table reachedTable, found *verify.Besides) error {
	if condition := verify.WrittenSince(w.store.writer.Dialect); condition != "" {
		err := found.Find(ctx, condition, true)
		found.Changed = w.changed(table, found.Changed)
		return err
	}
	keys := "[]" // before the steps; REPLACE inserts a row in place of the one with the same key
	for j, t := range w.before.Tables {
		if t.Table == table.Table && t.Inserted {
			keys = w.keys[j]
		}
	}
	inserted, updated := noted(i, table, "'INSERT'"), noted(i, table, "'UPDATE'")
	replaced := noted(i, table, "'INSERT' AND habeas_key IN (SELECT value FROM json_each($1)) AND habeas_key NOT IN"+
		" (SELECT habeas_key FROM habeas_written_"+strconv.Itoa(i)+" WHERE habeas_event = 'DELETE')")
	err := found.Find(ctx, "("+updated+" AND NOT "+inserted+" OR "+replaced+")", true, keys)
	if err != nil {
		return err
	}
	return found.Find(ctx, inserted+" AND NOT "+replaced, false, keys)
}

// written returns the tables of the data map to search for rows that triggers have written: those with more writes than
// the steps account for, or all if the database does not count writes.
func (w *watch) written() (tables []reachedTable) {
	if w.store.own.deleted() == "" {
		return w.before.Noted
	}
	return w.roots(func(t reachedTable) bool {
		_, inserted, updated := w.writes(t)
		return len(t.Direct) > 0 && (!w.before.counters ||
			inserted+updated > verify.Writes(w.checked, domain.StrategyAnonymize, t.Mapped))
	})
}

// writes returns the numbers of rows of a table that this transaction has deleted, inserted and updated since the steps
// began.
func (w *watch) writes(of reachedTable) (deleted, inserted, updated int64) {
	for _, table := range w.before.Tables {
		if table.Root == of.Root {
			before, now := w.before.deleted[table.ID], w.now[table.ID]
			deleted += now[0] - before[0]
			inserted, updated = inserted+now[2]-before[2], updated+now[3]-before[3]
		}
	}
	return deleted, inserted, updated
}

// changed returns the number of rows that were changed, and not inserted, of a number of written rows. The database
// counts an update that moves a row to another partition as a deletion and an insertion.
func (w *watch) changed(table reachedTable, read int64) int64 {
	if !w.before.counters {
		return 0
	}
	deleted, inserted, updated := w.writes(table)
	moved := int64(0)
	if table.Split {
		moved = max(0, min(inserted, deleted-verify.Writes(w.checked, domain.StrategyDelete, table.Mapped)))
	}
	return max(0, min(read-(inserted-moved), moved+updated))
}

var notedEvents = []string{"INSERT", "UPDATE", "DELETE"}

// note creates the triggers that note the written rows of Reach.Noted, on SQLite. A note has the rowKey and the rowID.
func (w *watch) note(ctx context.Context) error {
	for i, table := range w.before.Noted {
		n := strconv.Itoa(i)
		texts := []string{"CREATE TEMP TABLE habeas_written_" + n + " AS SELECT '' AS habeas_event, '' AS habeas_key, " +
			syntax.Join(table.rowID, ", ", func(name string) string { return syntax.Quote(name) + " AS " + noteOf(name) }) +
			" FROM " + table.Table + " WHERE FALSE"}
		for _, event := range notedEvents {
			row := "NEW"
			if event == "DELETE" {
				row = "OLD"
			}
			texts = append(texts, syntax.Fill(`CREATE TEMP TRIGGER habeas_{event}_{n} AFTER {event} ON {table}
				BEGIN INSERT INTO habeas_written_{n} VALUES ('{event}', {key}, {row}); END`, "event", event, "n", n,
				"table", table.Table, "key", rowKey(w.store.writer, table, row), "row", rows.List(row, table.rowID)))
		}
		for _, text := range texts {
			if err := w.exec(ctx, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func noteOf(column string) string { return syntax.Quote("habeas_" + column) }

// noted returns the condition that the row t0 was noted with an event, which a further condition may follow.
func noted(i int, table reachedTable, event string) string {
	return syntax.Fill(`({row}) IN (SELECT {columns} FROM habeas_written_{i} WHERE habeas_event = {event})`,
		"row", rows.List("t0", table.rowID), "columns", syntax.Join(table.rowID, ", ", noteOf), "i", strconv.Itoa(i),
		"event", event)
}

// forget drops what note has created.
func (w *watch) forget(ctx context.Context) error {
	for i := range w.before.Noted {
		for _, event := range notedEvents {
			if err := w.exec(ctx, "DROP TRIGGER habeas_"+event+"_"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		if err := w.exec(ctx, "DROP TABLE habeas_written_"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}
