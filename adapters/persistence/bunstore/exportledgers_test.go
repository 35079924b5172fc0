package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

type visitor struct {
	bun.BaseModel `bun:"table:visitors"`
	ID            int64 `bun:"id,pk" subject:"id"`
}

// An export contains the ledgers of a subject (consents and restrictions) even if no column of the application is
// personal data.
func TestTheLedgersAreExportedWithoutAnnotatedColumns(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*visitor)(nil))
		if records := a.export(t, "1"); len(records) > 0 {
			t.Errorf("got %+v", records)
		}
		must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			for _, id := range []string{"2", "1", "1"} {
				record := domain.ConsentRecord{SubjectID: subjectID(t, id), Purpose: "p" + id, PolicyVersion: "v", Source: "api"}
				if err := s.Consents().Append(ctx, record); err != nil {
					return err
				}
			}
			return nil
		}))
		records := a.export(t, "1")
		if len(records) != 10 || records[0].Source != "habeas_consent_records" || records[0].Row != "2" ||
			records[5].Row != "3" ||
			records[0].Value != "p1" || records[2].Value != false {
			t.Errorf("got %+v", records)
		}
	})
}

// manyTables returns a store for an application with so many tables that one SQLite statement cannot join all of them.
func manyTables(t testing.TB, db *bun.DB, tables int) *bunstore.Store {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	note := datamap.Column{
		Name: "note", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact},
	}
	all := []datamap.Table{{
		Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, note},
	}}
	script := []string{
		"CREATE TABLE people (id bigint PRIMARY KEY, note text)", "INSERT INTO people VALUES (1, 'n'), (2, 'n')",
	}
	for i := range tables - 1 {
		name := fmt.Sprintf("notes_%d", i)
		all = append(all, datamap.Table{
			Name: name, PrimaryKey: []string{"id"}, Columns: []datamap.Column{{Name: "id"}, {Name: "person_id"}, note},
			Relations: []datamap.Relation{
				{Columns: []string{"person_id"}, References: "people", ReferencedColumns: []string{"id"}},
			},
		})
		script = append(script, "CREATE TABLE "+name+" (id bigint PRIMARY KEY, person_id bigint, note text)",
			fmt.Sprintf("INSERT INTO %s VALUES (1, 1, '%d'), (2, 2, 'x')", name, i))
	}
	execute(t, db, strings.Join(script, ";"))
	dataMap := fixture.MustMap(t, all...)
	store := storeOf(t, db, dataMap, bunstore.Options{})
	return store
}

func TestAnyNumberOfTablesIsExported(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		const tables = 510
		store := manyTables(t, db, tables)
		refused := errors.New("refused")
		for _, stopAt := range []int{0, 1, 400, tables} {
			read := 0
			err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				return s.Subjects().Export(ctx, subjectID(t, "1"), func(record domain.ExportRecord) error {
					if want := fmt.Sprint(read - 1); read > 0 && record.Value != want {
						t.Errorf("record %d is %v of %s", read, record.Value, record.Source)
					}
					if read++; read == stopAt {
						return refused
					}
					return nil
				})
			})
			if want := (stopAt+tables-1)%tables + 1; read != want || (stopAt > 0) != errors.Is(err, refused) {
				t.Errorf("%d of %d tables, %v", read, want, err)
			}
		}
		must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error { // the lock has been released
			return errOf(s.Subjects().Lock(ctx, subjectID(t, "1"), noon))
		}))
	})
}

// Another session adds a row while an export runs. No statement of the export sees the row.
func TestSeveralStatementsOfAnExportSeeOneSnapshot(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		const tables = 5
		store := manyTables(t, db, tables)
		export := func(sessions ports.SessionFactory, during func()) (read int) {
			must(t, sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				return s.Subjects().Export(ctx, subjectID(t, "1"), func(domain.ExportRecord) error {
					if read++; read == 1 {
						during()
					}
					return nil
				})
			}))
			return read
		}
		last := fmt.Sprintf("INSERT INTO notes_%d VALUES (3, 1, 'late')", tables-2)
		if read := export(store, func() { execute(t, db, last) }); read != tables {
			t.Errorf("%d records of %d tables", read, tables)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		defer func() { _ = tx.Rollback() }()
		joined, err := store.Join(tx)
		must(t, err)
		if read := export(joined, func() {}); read != tables+1 {
			t.Errorf("%d records of %d tables", read, tables)
		}
	})
}
