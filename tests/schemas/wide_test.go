package schemas

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// wide is a table with as many annotated columns as data maps have at most.
const wide = 1000

// wideTable returns the table members with annotated columns, their definitions and their values in two rows.
func wideTable(db *bun.DB, annotate func(i int, column *datamap.Column)) (table datamap.Table, statements []string) {
	table = fixture.Users()
	table.Name, table.Columns = "members", table.Columns[:1]
	definitions, values := []string{"id bigint PRIMARY KEY"}, [2][]string{{"1"}, {"2"}}
	for i := range wide {
		column := fixture.Contact(fmt.Sprintf("c%d", i), domain.StrategyAnonymize)
		annotate(i, &column)
		declared, format := "varchar(4)", "'v%d'" // a row of PostgreSQL has at most 8 kB
		if column.Length = 4; i%20 == 19 || !isPostgres(db) {
			declared, format, column.Length = "text", "'value %d'", 0
		}
		table.Columns = append(table.Columns, column)
		definitions = append(definitions, column.Name+" "+declared)
		for row := range values {
			values[row] = append(values[row], fmt.Sprintf(format, i))
		}
	}
	table.Columns = append(table.Columns, fixture.Column("left_at", datamap.TypeTime), fixture.Column("version",
		datamap.TypeBigInt))
	return table, []string{
		"CREATE TABLE members (" + strings.Join(definitions, ", ") + ", left_at timestamp, version bigint)",
		"INSERT INTO members VALUES (" + strings.Join(values[0], ", ") + ", '2010-05-06 00:00:00', 0)," +
			" (" + strings.Join(values[1], ", ") + ", '2010-05-06 00:00:00', 0)",
	}
}

// versionTrigger counts the changes of a row.
func versionTrigger(db *bun.DB) []string {
	if isPostgres(db) {
		return function("BEFORE UPDATE", "members", "NEW.version = OLD.version + 1; RETURN NEW;")
	}
	return []string{"CREATE TRIGGER guard AFTER UPDATE OF c0 ON members BEGIN UPDATE members SET version = version + 1" +
		" WHERE id = NEW.id; END"}
}

// A table may have more columns than a statement of PostgreSQL returns values, a function takes arguments, or an
// expression of SQLite may be nested deep.
func TestATableWithManyAnnotatedColumnsAndATriggerHasAllRights(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		annotate func(i int, column *datamap.Column)
		last     string // the last cell after the erasure and the sweep
	}{
		"anonymized": {func(int, *datamap.Column) {}, "anon"},
		"retained": {func(_ int, c *datamap.Column) {
			c.Personal.Strategy, c.Personal.Reason = domain.StrategyRetain, "law"
		}, "value"},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				table, statements := wideTable(db, c.annotate)
				clock := fixture.NewClock(time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC))
				a := open(t, db, app.Config{DataMap: fixture.MustMap(t, table), Clock: clock}, append(statements,
					versionTrigger(db)...)...)
				if _, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "new"}); err != nil {
					t.Fatalf("the correction: %v", err)
				}
				bundle, err := a.export(t.Context(), "1")
				if err != nil || len(bundle.Records) != wide || bundle.Records[wide-1].Value != "new" {
					t.Fatalf("the export: %d records, %v", len(bundle.Records), err)
				}
				execute(t, db, "UPDATE members SET c999 = 'value 999' WHERE id = 1")
				if _, err := a.erase(t.Context(), "1"); err != nil {
					t.Fatalf("the erasure: %v", err)
				}
				if got := a.text(t, "SELECT c999 FROM members WHERE id = 1"); !strings.HasPrefix(got, c.last) {
					t.Errorf("the erasure left %q", got)
				}
				verified, err := a.Operator().Verify(t.Context(), fixture.MustID(t, "1"))
				if err != nil || len(verified.LeftOver) > 0 {
					t.Errorf("the verification: %+v, %v", verified, err)
				}
				clock.Set(time.Date(2090, 3, 1, 12, 0, 0, 0, time.UTC))
				report, err := a.Operator().Sweep(t.Context(), nil)
				if err != nil || report.Failed > 0 {
					t.Errorf("the sweep: %+v, %v", report, err)
				}
				if got := a.text(t, "SELECT c999 FROM members WHERE id = 1"); !strings.HasPrefix(got, c.last) {
					t.Errorf("the sweep left %q", got)
				}
				if got := a.text(t, "SELECT c999 FROM members WHERE id = 2"); got != "value 999" {
					t.Errorf("another person has %q", got)
				}
			})
		})
	}
}
