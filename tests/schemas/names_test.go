package schemas

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// wordy has a table and columns with names that PostgreSQL cuts at 63 bytes, within a character of the last name.
type wordy struct {
	bun.BaseModel `bun:"table:a_table_with_a_name_that_has_more_than_sixty_three_bytes_in_all_of_its_words"`
	ID            int64   `bun:"the_primary_key_with_a_name_that_has_more_than_sixty_three_bytes_in_its_words,pk" subject:"id"`
	Email         *string `bun:"the_address_with_a_name_that_has_more_than_sixty_three_bytes_in_its_words" pii:"contact,erasure:null"`
	Street        string  `bun:"the_street_with_a_name_that_has_more_than_sixty_three_bytes_in_ßßß" pii:"location,erasure:retain,reason:'x',retain:1y,since:the_start_with_a_name_that_has_more_than_sixty_three_bytes_in_its_words"`
	Since         string  `bun:"the_start_with_a_name_that_has_more_than_sixty_three_bytes_in_its_words,type:timestamp"`
}

func (wordy) create() []string {
	return []string{
		"CREATE TABLE a_table_with_a_name_that_has_more_than_sixty_three_bytes_in_all_of_its_words" +
			" (the_primary_key_with_a_name_that_has_more_than_sixty_three_bytes_in_its_words bigint PRIMARY KEY," +
			" the_address_with_a_name_that_has_more_than_sixty_three_bytes_in_its_words text," +
			" the_street_with_a_name_that_has_more_than_sixty_three_bytes_in_ßßß text," +
			" the_start_with_a_name_that_has_more_than_sixty_three_bytes_in_its_words timestamp)",
		"INSERT INTO a_table_with_a_name_that_has_more_than_sixty_three_bytes_in_all_of_its_words VALUES" +
			" (1, 'a@example.org', 'Long Street', '2001-01-01 00:00:00'), (2, 'b@example.org', 'Long Street', NULL)",
	}
}

func TestNamesThatTheDatabaseCutsAreKnown(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: []any{(*wordy)(nil)}}, wordy{}.create()...)
		checked, err := a.check(t.Context())
		must(t, err)
		for _, finding := range checked.Findings {
			if finding.Severity == datamap.SeverityError {
				t.Errorf("found %v", finding)
			}
		}
		for range 2 {
			_, err = a.erase(t.Context(), "1")
			must(t, err)
		}
		got := a.cells(t, "SELECT * FROM a_table_with_a_name_that_has_more_than_sixty_three_bytes_in_all_of_its_words"+
			" ORDER BY the_primary_key_with_a_name_that_has_more_than_sixty_three_bytes_in_its_words")
		if !strings.HasPrefix(got, "1 - anon ") || !strings.HasSuffix(got, "; 2 b@example.org Long Street -") {
			t.Errorf("the rows are %s", got)
		}
		execute(t, db, "ALTER TABLE a_table_with_a_name_that_has_more_than_sixty_three_bytes_in_all_of_its_words ADD COLUMN"+
			" note text")
		_, err = a.erase(t.Context(), "2")
		must(t, err)
	})
}

// A column that an erasure sets to NULL is NOT NULL in the database. The error names the column, although the database
// has cut its name.
func TestACutColumnThatIsNotNullIsRefused(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		statements := wordy{}.create()
		statements[0] = strings.Replace(statements[0], "bytes_in_its_words text,", "bytes_in_its_words text NOT NULL,", 1)
		a := open(t, db, app.Config{Models: []any{(*wordy)(nil)}}, statements...)
		_, err := a.erase(t.Context(), "1")
		if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), "the_address_with_a_name_that_has") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTwoNamesThatTheDatabaseDoesNotDistinguishAreRefused(t *testing.T) {
	t.Parallel()
	type twins struct {
		bun.BaseModel `bun:"table:twins"`
		ID            int64  `bun:"id,pk" subject:"id"`
		One           string `bun:"a_column_with_a_name_that_has_more_than_sixty_three_bytes_in_all_One" pii:"contact,erasure:anonymize"`
		Two           string `bun:"a_column_with_a_name_that_has_more_than_sixty_three_bytes_in_all_one"`
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		_, err := app.New(app.Config{DB: db, Models: []any{(*twins)(nil)}})
		if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), "in_all_one") {
			t.Errorf("got %v", err)
		}
	})
}

// Databases ignore the case of ASCII letters only.
func TestTwoNamesThatDifferInTheCaseOfALetterWithAnAccentAreAccepted(t *testing.T) {
	t.Parallel()
	type twins struct {
		bun.BaseModel `bun:"table:twins"`
		ID            int64  `bun:"id,pk" subject:"id"`
		One           string `bun:"état" pii:"contact,erasure:anonymize"`
		Two           string `bun:"État" pii:"contact,erasure:anonymize"`
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: []any{(*twins)(nil)}},
			`CREATE TABLE twins (id bigint PRIMARY KEY, "état" text, "État" text)`, "INSERT INTO twins VALUES (1, 'a', 'b')")
		_, err := a.erase(t.Context(), "1")
		must(t, err)
		if got := a.cells(t, `SELECT "état", "État" FROM twins`); got != "anon anon" {
			t.Errorf("the row is %s", got)
		}
	})
}

// A temporary table of a connection hides a table of the application or of habeas. Statements would read and write the
// temporary table, so they are refused.
func TestATemporaryTableInFrontIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ statement, table string }{
		"a table":         {"CREATE TEMPORARY TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)", "letters"},
		"a view":          {"CREATE TEMPORARY VIEW letters AS SELECT 1 AS id, 2 AS client_id, 'x' AS body", "letters"},
		"a table of ours": {"CREATE TEMPORARY TABLE habeas_outbox (id bigint)", "habeas_outbox"},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				db.SetMaxOpenConns(1)
				a := open(t, db, app.Config{Models: clients}, slices.Concat(clientTables("clients"), letterTables())...)
				execute(t, db, test.statement)
				_, erasing := a.erase(t.Context(), "1")
				_, exporting := a.export(t.Context(), "1")
				_, rectifying := a.rectify(t.Context(), "1", corrected)
				for what, err := range map[string]error{
					"erase": erasing, "export": exporting, "rectify": rectifying, "joined": a.joined(t, a.erasing, nil, nil),
				} {
					if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), test.table) {
						t.Errorf("%s: got %v (%v)", what, err, errors.Unwrap(err))
					}
				}
				execute(t, db, strings.Replace("DROP TABLE "+test.table, "TABLE", strings.Fields(test.statement)[2], 1))
				if _, err := a.erase(context.WithoutCancel(t.Context()), "1"); err != nil {
					t.Errorf("without the temporary table: %v", err)
				}
			})
		})
	}
}
