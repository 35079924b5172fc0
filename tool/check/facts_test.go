package check_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/tool/check"
)

// counted is a ports.RowCounter with one answer.
type counted datamap.RowCount

func (c counted) CountRows(context.Context, datamap.RowQuestion) (datamap.RowCount, error) {
	return datamap.RowCount(c), nil
}

// published adds a publication that refuses all changes of a table.
func published(table string, refuses ...string) func(*world) {
	return func(w *world) {
		w.live(table).Publications = []datamap.CatalogPublication{{Name: "copies", Refuses: refuses}}
	}
}

// partitioned makes a column the partition key of a table. Nothing evaluates the condition.
func partitioned(table, column string, number int) func(*world) {
	return func(w *world) {
		check := datamap.CatalogCheck{Columns: []string{column}}
		w.live(table).Partitions = &datamap.CatalogPartitions{CatalogCheck: check, Number: number}
	}
}

func conflicting(column string, notNull bool) func(*world) {
	return func(w *world) {
		w.live("users").Conflicts = []datamap.CatalogConflict{{
			Columns: []string{column}, Action: "REPLACE",
			NotNull: notNull,
		}}
	}
}

// byText makes the orders of people refer to their names, without a foreign key.
func byText(rows int64, found int64) func(*world) {
	return func(w *world) {
		w.addToBoth("users", datamap.Column{Name: "handle", Type: datamap.TypeText})
		w.addToBoth("orders", datamap.Column{Name: "author", Type: datamap.TypeText})
		w.table("orders").Relations = []datamap.Relation{
			{Columns: []string{"author"}, References: "users", ReferencedColumns: []string{"handle"}},
		}
		w.live("orders").ForeignKeys = []datamap.CatalogForeignKey{{
			Columns: []string{"author"}, References: "users", Referenced: []string{"handle"}, OnDelete: datamap.ActionSetNull,
		}}
		w.live("users").Uniques = []datamap.CatalogUnique{{Name: "handles", Columns: []string{"handle"}}}
		w.live("orders").Indexes = append(w.live("orders").Indexes, datamap.CatalogIndex{Columns: []string{"author"}})
		w.rows = counted{true, rows, found}
	}
}

func unreadable(t datamap.ColumnType, rows, found int64) func(*world) {
	return func(w *world) {
		w.column("orders", "issued_at").Type = t
		w.rows = counted{true, rows, found}
	}
}

var factCases = cases{
	"replica-identity-missing": {
		published("users", "UPDATE", "DELETE"), []string{"replica-identity-missing users copies"},
	},
	"replica-identity-missing not for another statement": {published("users", "DELETE"), nil},
	"replica-identity-missing of a deletion": {
		published("sessions", "DELETE"), []string{"replica-identity-missing sessions copies"},
	},
	"replica-identity-missing of a table whose rows a foreign key deletes": {
		func(w *world) {
			w.addTable("pages")
			w.add("pages", "session_id", datamap.TypeBigInt)
			w.live("pages").ForeignKeys = []datamap.CatalogForeignKey{
				foreignKey("session_id", "sessions", datamap.ActionCascade),
			}
			w.live("pages").Indexes = append(w.live("pages").Indexes, datamap.CatalogIndex{Columns: []string{"session_id"}})
			published("pages", "UPDATE", "DELETE")(w)
		},
		[]string{"delete-cascades pages.session_id session_id_fkey", "replica-identity-missing pages copies"},
	},
	"replica-identity-missing of a table that a foreign key changes": {
		func(w *world) {
			w.deleteUsers()
			w.addTable("pages")
			w.refer("pages", "author_id", datamap.ActionSetNull)
			published("pages", "UPDATE")(w)
		},
		[]string{"replica-identity-missing pages copies"},
	},
	"partition-missing, perhaps": {
		partitioned("users", "email", 2), []string{"partition-missing users.email", "partition-moved users.email"},
	},
	"partition-missing not of another column": {partitioned("users", "theme", 2), nil},
	"partition-moved not with one partition": {
		partitioned("users", "email", 1),
		[]string{"partition-missing users.email"},
	},
	"conflict-clause": {
		conflicting("email", false),
		[]string{"conflict-clause users.email ON CONFLICT REPLACE"},
	},
	"conflict-clause for NULL": {
		conflicting("nick", true),
		[]string{"conflict-clause users.nick ON CONFLICT REPLACE"},
	},
	"conflict-clause not of another column":            {conflicting("theme", false), nil},
	"conflict-clause not if an erasure writes no NULL": {conflicting("email", true), nil},
	"view-unlockable": {
		func(w *world) { w.view("users", datamap.KindView).Unlockable = true }, []string{"view-unlockable users users"},
	},
	"view-unlockable in SQLite": {
		func(w *world) { w.view("users", datamap.KindView).FoldsCase = true }, []string{"view-unlockable users users"},
	},
	"view-unlockable not if a trigger changes the rows": {
		func(w *world) {
			w.view("users", datamap.KindView).FoldsCase = true
			w.live("users").Triggers = []datamap.CatalogTrigger{{Name: "act", Events: []string{"UPDATE"}, Instead: true}}
		},
		[]string{"trigger-fires users act#fired"},
	},
	"encoding-other": {
		func(w *world) { w.catalog.Encoding = "SQL_ASCII" },
		[]string{"encoding-other users SQL_ASCII"},
	},
	"encoding-other as a notice": {
		func(w *world) { w.catalog.Encoding = "LATIN1" },
		[]string{"encoding-other users LATIN1"},
	},
	"encoding-other not of UTF-8": {func(w *world) { w.catalog.Encoding = "UTF8" }, nil},
	"relation-loose": {
		func(w *world) { byText(9, 2)(w); w.live("orders").ForeignKeys = nil },
		[]string{"foreign-key-missing orders.author", "relation-loose orders.author"},
	},
	"relation-loose not with a foreign key": {byText(9, 2), nil},
	"since-unreadable": {
		unreadable(datamap.TypeText, 9, 2),
		[]string{"since-unreadable orders.issued_at"},
	},
	"since-unreadable not of a time": {unreadable(datamap.TypeTime, 9, 2), nil},
}

func TestRowsThatAreNotCountedAreNamed(t *testing.T) {
	for name, rows := range map[string]counted{"of an empty table": {true, 0, 0}, "too slowly": {}} {
		w := newWorld()
		byText(0, 0)(w)
		unreadable(datamap.TypeText, 0, 0)(w)
		w.live("orders").ForeignKeys, w.rows = nil, rows
		result, err := w.check(t.Context(), t)
		must(t, err)
		if len(result.Uncounted) != 2 || result.Uncounted[0] != (check.Uncounted{"relation-loose", "orders", "author"}) ||
			result.Uncounted[1] != (check.Uncounted{"since-unreadable", "orders", "issued_at"}) {
			t.Errorf("%s: got %v", name, result.Uncounted)
		}
	}
}

type unreachable struct{ memory.Schema }

func (unreachable) CountRows(context.Context, datamap.RowQuestion) (datamap.RowCount, error) {
	return datamap.RowCount{}, domain.ErrUnavailable
}

func TestACounterThatCannotBeReachedIsAnError(t *testing.T) {
	w := newWorld()
	unreadable(datamap.TypeText, 0, 0)(w)
	dataMap, err := datamap.NewDataMap(w.tables...)
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	_, err = check.Run(t.Context(), memory.NewSchema(w.catalog), dataMap, plan, check.Options{Rows: unreachable{}})
	if !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// A statement that the database refuses or does not finish in time counts nothing, and is no error.
func TestRowsAreCountedWithinTheTimeLimit(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		execute(t, db, "CREATE TABLE notes (author text)")
		schema, err := bunstore.NewSchema(db, bunstore.Options{})
		must(t, err)
		question := datamap.RowQuestion{Table: "notes", Start: "author"}
		count, err := schema.CountRows(t.Context(), question)
		if must(t, err); !count.Counted || count.Rows != 0 {
			t.Errorf("an empty table: %+v", count)
		}
		late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancel()
		if count, err = schema.CountRows(late, question); err != nil || count.Counted {
			t.Errorf("too late: %+v, %v", count, err)
		}
		question.Table = "elsewhere"
		if count, err = schema.CountRows(t.Context(), question); err != nil || count.Counted {
			t.Errorf("without the table: %+v, %v", count, err)
		}
	})
}
