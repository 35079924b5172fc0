package cli_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	linter "github.com/habeas-data/habeas/tool/check"
)

func TestACoverageBelowItsLimitIsAFinding(t *testing.T) {
	for limit, want := range map[string]int{
		"0": 0, "66.6": 0, "66.7": 1, "100": 1, "101": 2, "-1": 2, "NaN": 2, "many": 2,
	} {
		var out, complaint bytes.Buffer
		schema := faulty()
		users, logins := &schema.Tables[0], &schema.Tables[1]
		text := datamap.CatalogColumn{Name: "theme", Type: datamap.TypeText, Declared: "text"}
		users.Columns = append(users.Columns, text)
		text.Name = "place"
		logins.Columns = append(logins.Columns, text, users.Columns[0])
		logins.PrimaryKey = []string{"id"}
		code := run(t.Context(), checked{catalog: schema}, nil, &out, &complaint, "coverage", "--fail-under", limit)
		if code != want {
			t.Errorf("%s: ends with %d:\n%s%s", limit, code, out.String(), complaint.String())
		}
		const shown = `6 columns in 2 tables: 1 annotated, 3 excluded, 2 undecided. Decided: 66.6 %.
TABLE                         ANNOTATED  EXCLUDED  UNDECIDED  UNDECIDED COLUMNS
users                         1          1         1          theme
logins (not in the data map)  0          2         1          place
`
		if code != 2 && out.String() != shown {
			t.Errorf("printed\n%s", out.String())
		}
	}
	var out bytes.Buffer
	var covered linter.Coverage
	run(t.Context(), checked{catalog: faultless()}, nil, &out, &out, "coverage", "-o", "json")
	must(t, json.Unmarshal(out.Bytes(), &covered))
	if covered.Percent != 100 || covered.Annotated != 1 || covered.Excluded != 1 || len(covered.Tables) != 1 {
		t.Errorf("got %+v", covered)
	}
}
