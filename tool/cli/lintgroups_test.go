package cli_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// The most dangerous finding is the first, and findings of a rule about a table are together.
func TestTheMostDangerousFindingsComeFirst(t *testing.T) {
	schema := faulty()
	schema.Tables[0].Rows = 5000
	schema.Tables[0].Columns = append(schema.Tables[0].Columns,
		datamap.CatalogColumn{Name: "phone", Type: datamap.TypeText, Declared: "text"},
		datamap.CatalogColumn{Name: "fax", Type: datamap.TypeText, Declared: "text"})
	code, stdout, _ := lint(t, schema)
	var heads []string
	for line := range strings.Lines(stdout) {
		if !strings.HasPrefix(line, " ") && strings.TrimSpace(line) != "" {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	want := []string{
		"5 findings in 2 tables: 1 error, 4 warnings.", "error check-violated users", "warning table-undecided logins",
		"warning personal-unannotated users", "warning index-missing users",
	}
	if code != 1 || strings.Join(heads, "\n") != strings.Join(want, "\n") {
		t.Errorf("printed\n%s", stdout)
	}
	if n := strings.Count(stdout, "pii:"); n != 1 {
		t.Errorf("the remedy of two columns is printed %d times:\n%s", n, stdout)
	}
}

// commented is an application whose data map also has the table comments of the author.
type commented struct{ checked }

func (c commented) DataMap() datamap.DataMap {
	m, err := datamap.NewDataMap(append(c.checked.DataMap().Tables(), datamap.Table{
		Name: "comments", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{{
			Columns: []string{"author_id"}, References: "users", ReferencedColumns: []string{"id"},
		}}, Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "author_id", Type: datamap.TypeBigInt}},
	})...)
	if err != nil {
		panic(err)
	}
	return m
}

func TestReferencesOfSeveralColumnsAreApart(t *testing.T) {
	comments := datamap.CatalogTable{Name: "comments", Kind: datamap.KindTable, PrimaryKey: []string{"id"}}
	for _, name := range []string{"id", "author_id", "tenant_id", "edited_by_id", "deleted_by_id"} {
		comments.Columns = append(comments.Columns, datamap.CatalogColumn{
			Name: name, Type: datamap.TypeBigInt, Declared: "bigint",
		})
	}
	for _, columns := range [][]string{{"author_id"}, {"edited_by_id", "tenant_id"}, {"deleted_by_id", "tenant_id"}} {
		comments.ForeignKeys = append(comments.ForeignKeys, datamap.CatalogForeignKey{
			Columns: columns, References: "users", Referenced: []string{"id", "tenant_id"}[:len(columns)],
		})
	}
	schema := faultless()
	schema.Tables = append(schema.Tables, comments)
	var out, complaint strings.Builder
	run(t.Context(), commented{checked{catalog: schema}}, nil, &out, &complaint, "lint")
	const want = "  (deleted_by_id, tenant_id), (edited_by_id, tenant_id): The column"
	if !strings.Contains(out.String(), want) {
		t.Errorf("printed\n%s%s", out.String(), complaint.String())
	}
}
