package schemas

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/tool/check"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// mailboxes is a schema in which almost all rows hang on the mail accounts of a person. Each table has the columns id,
// title, and those that follow its name. A column refers to the table after the colon.
var mailboxes = []string{
	"users",
	"teams",
	"accounts user_id:users=CASCADE",
	"mail_accounts user_id:users=CASCADE account_id:accounts=CASCADE",
	"folders mail_account_id:mail_accounts=CASCADE parent_id:folders=CASCADE",
	"rules mail_account_id:mail_accounts=CASCADE folder_id:folders=CASCADE",
	"actions rule_id:rules=CASCADE",
	"runs mail_account_id:mail_accounts=CASCADE rule_id:rules=CASCADE",
	"bookmarks user_id:users=CASCADE",
	"highlights user_id:users=CASCADE bookmark_id:bookmarks=CASCADE",
	"members mail_account_id:mail_accounts=CASCADE team_id:teams=CASCADE",
	"invitations inviter_id:mail_accounts=CASCADE team_id:teams=CASCADE",
	"boards team_id:teams=CASCADE",
	"cards user_id:users=CASCADE board_id:boards=CASCADE",
	"comments user_id:users=CASCADE card_id:cards=CASCADE",
	"products user_id:users=CASCADE",
	"prices product_id:products=CASCADE",
}

// Two people have a row in each table. The second person also has rows that refer to what both share.
func TestADraftOfNestedAccountsErasesOnlyThePerson(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		var tables []string
		for _, line := range mailboxes {
			name, references, _ := strings.Cut(line, " ")
			tables = append(tables, name)
			columns := []string{"id bigint PRIMARY KEY", "title text", "email text"}
			first, second := []string{"1", "'one'", "'1@example.org'"}, []string{"2", "'two'", "'2@example.org'"}
			for reference := range strings.FieldsSeq(references) {
				column, to, _ := strings.Cut(reference, ":")
				to, action, _ := strings.Cut(to, "=")
				null := " NOT NULL"
				if to == name {
					null = ""
				}
				columns = append(columns, column+" bigint"+null+" REFERENCES "+to+" ON DELETE "+action)
				first, second = append(first, "1"), append(second, "2")
			}
			execute(t, db, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")",
				fmt.Sprintf("INSERT INTO %s VALUES (%s), (%s)", name, strings.Join(first, ", "), strings.Join(second, ", ")))
		}
		for _, table := range []string{"comments", "cards", "members"} {
			execute(t, db, "INSERT INTO "+table+" VALUES (3, 'by two', '', 2, 1)")
		}
		schema, err := bunstore.NewSchema(db, bunstore.Options{})
		must(t, err)
		p, err := scaffold.Propose(t.Context(), schema, scaffold.Options{})
		must(t, err)
		dataMap := fixture.MustMap(t, p.Tables...)
		a := open(t, db, app.Config{DataMap: dataMap})
		checked, err := a.check(t.Context())
		must(t, err)
		must(t, check.Errors(checked.Findings))
		before := a.titles(t, tables)
		_, err = a.erase(t.Context(), "1")
		must(t, err)
		after := a.titles(t, tables)
		var gone []string
		for _, place := range slices.Sorted(maps.Keys(before)) {
			switch table, id, _ := strings.Cut(place, " "); {
			case after[place] == before[place]:
			case id != "1":
				t.Errorf("an erasure changes %s from %q to %q", place, before[place], after[place])
			case after[place] == "":
				gone = append(gone, table)
			}
		}
		if want := "prices products"; strings.Join(gone, " ") != want {
			t.Errorf("the rows are gone from %v, want %s", gone, want)
		}
	})
}

// titles returns the values of each row. The keys are the table and the id.
func (a *application) titles(t *testing.T, tables []string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, table := range tables {
		var rows []map[string]any
		must(t, a.db.NewSelect().Table(table).Scan(t.Context(), &rows))
		for _, row := range rows {
			values[fmt.Sprint(table, " ", row["id"])] = fmt.Sprint(row)
		}
	}
	return values
}
