package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// shelves are tables of which many have the same columns. Only their author leads to people; a position is a number.
var shelves = map[string]string{
	"users": "email", "books": "created_by_id title position", "films": "created_by_id title position note email",
	"games": "created_by_id title", "loans": "created_by_id user_id note", "rules": "text", "themes": "text",
}

func shelvesCatalog() (catalog datamap.Catalog) {
	for _, name := range []string{"books", "films", "games", "loans", "rules", "themes", "users"} {
		t := datamap.CatalogTable{Name: name, Kind: datamap.KindTable, PrimaryKey: []string{"id"}}
		for _, column := range strings.Fields("id " + shelves[name]) {
			c := datamap.CatalogColumn{Name: column, Type: datamap.TypeText, Declared: "text", Nullable: column != "id"}
			if strings.HasSuffix(column, "id") || column == "position" {
				c.Type, c.Declared = datamap.TypeBigInt, "bigint"
			}
			t.Columns = append(t.Columns, c)
		}
		catalog.Tables = append(catalog.Tables, t)
	}
	return catalog
}

// drafted returns a file with the draft for shelves. A former file is updated.
func drafted(t *testing.T, former string) (file string) {
	t.Helper()
	var p scaffold.Proposal
	var err error
	if former == "" {
		p, err = scaffold.Propose(t.Context(), memory.NewSchema(shelvesCatalog()), scaffold.Options{})
	} else {
		p, err = scaffold.Update(t.Context(), memory.NewSchema(shelvesCatalog()), read(t, former), scaffold.Options{})
	}
	must(t, err)
	m, err := p.DataMap()
	must(t, err)
	var text bytes.Buffer
	must(t, manifest.Write(&text, m))
	file = filepath.Join(t.TempDir(), "datamap.json")
	must(t, os.WriteFile(file, text.Bytes(), 0o600))
	return file
}

func optionsOf(d datamap.Decision) string {
	var names []string
	for _, option := range d.Options {
		names = append(names, option.Name)
	}
	return strings.Join(names, " ")
}

func TestAColumnThatIsNoKeyIsDecidedOnceForAllTables(t *testing.T) {
	file := drafted(t, "")
	if got := optionsOf(answerTo(read(t, file), "books")); !strings.Contains(got, "delete:position") {
		t.Fatalf("the options are %s", got)
	}
	code, stdout, stderr := deciding(t, file, nil, "", "--columns", "pos*=not-personal")
	if code != 0 || !strings.Contains(stdout, "Answered: films.position, books.position") {
		t.Errorf("ends with %d: %s%s", code, stdout, stderr)
	}
	for _, at := range []string{file, drafted(t, file)} { // an update keeps the answer
		m := read(t, at)
		if got := optionsOf(answerTo(m, "books")); strings.Contains(got, "position") || !strings.Contains(got, "delete") {
			t.Errorf("the options are %s", got)
		}
		if d := answerTo(m, "books", "position"); d.Answer != "not-personal" || d.By != "dpo" {
			t.Errorf("the answer is %+v", d)
		}
	}
	code, _, stderr = deciding(t, file, nil, "", "--columns", "created_by_id=not-personal")
	if code != 2 || !strings.Contains(stderr, "why these are no keys: created_by_id") {
		t.Errorf("ends with %d: %s", code, stderr)
	}
	code, _, stderr = deciding(t, file, nil, "", "--columns", "cre*=not-personal", "--because", "x")
	if code != 2 || !strings.Contains(stderr, "no open question is about such a column") {
		t.Errorf("a pattern answers for keys, with %d: %s", code, stderr)
	}
}

// The command asks for the reason that lint wants: for a reference, and for a column that is named like a key.
func TestATableThatLeadsToPeopleIsLeftOutWithAReason(t *testing.T) {
	for columns, needsReason := range map[string]bool{
		"id reader reader -> users": true, "id work_id": true, "id attempts": false,
	} {
		column := strings.Fields(columns)[1]
		file := drafted(t, "")
		m := read(t, file)
		works := datamap.Table{
			Name: "works", PrimaryKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: column, Type: datamap.TypeBigInt}},
			Relations: []datamap.Relation{{
				Columns: []string{column}, References: "users", ReferencedColumns: []string{"id"}, Path: true,
			}},
		}
		seen := []string{"id", column}
		if _, reference, ok := strings.Cut(columns, column+" "); ok {
			seen = append(seen, reference)
		}
		m = m.WithDecisions(datamap.Decision{Object: "works", Question: "Whose?", Seen: seen, Options: []datamap.Option{
			{Name: "delete", Edit: datamap.Edit{Tables: []datamap.Table{works}}}, {Name: "not-about-people"},
		}})
		var text bytes.Buffer
		must(t, manifest.Write(&text, m))
		must(t, os.WriteFile(file, text.Bytes(), 0o600))
		code, _, stderr := deciding(t, file, nil, "", "works=not-about-people")
		if (code == 2) != needsReason {
			t.Errorf("%s: ends with %d: %s", columns, code, stderr)
		}
	}
}

// One answer counts for all tables of the same kind if the person says so.
func TestADialogueAsksOnceAboutWhatIsAlike(t *testing.T) {
	file := drafted(t, "")
	typed := strings.Join([]string{
		"*",     // no position is a key
		"",      // the person's row: as in the draft
		"1",     // films: overwrite, which leaves nothing that looks personal
		"books", // the same for one that is alike
		"s",     // loans, later
		"1", "", // games, and not the same for loans
		"", "y", // rules: not about people, which Enter takes, and themes
	}, "\n") + "\nq\n"
	_, _, screen := deciding(t, file, nil, typed)
	m := read(t, file)
	for object, want := range map[string]string{
		"users": "keep", "films": "overwrite", "books": "overwrite", "games": "overwrite", "loans": "",
		"rules": "not-about-people", "themes": "not-about-people",
	} {
		if got := answerTo(m, object).Answer; got != want {
			t.Errorf("the answer about %s is %q, want %q", object, got, want)
		}
	}
	for _, says := range []string{
		"position (2 tables). Which", "[keep] > ", "[not-about-people] > ", "The same for 3 similar tables?",
		"1 loans  overwritten: note (not by user_id)",
	} {
		if !strings.Contains(screen, says) {
			t.Errorf("%q is not in %s", says, screen)
		}
	}
}
