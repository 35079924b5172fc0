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
		"5 findings in 2 tables: 1 error, 4 warnings.", "error check-violated users", "warning table-unmapped logins",
		"warning personal-unannotated users", "warning index-missing users",
	}
	if code != 1 || strings.Join(heads, "\n") != strings.Join(want, "\n") {
		t.Errorf("printed\n%s", stdout)
	}
	if n := strings.Count(stdout, "pii:"); n != 1 {
		t.Errorf("the remedy of two columns is printed %d times:\n%s", n, stdout)
	}
}
